"""Runs of text are found in plain text and Markdown, without margins and markers."""

import pytest

from parataxis.text.layout import find_runs, next_fence


def runs(text: str) -> list[list[str]]:
    return [[text[start:end] for start, end in run] for run in find_runs(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("one\n\ntwo", [["one"], ["two"]]),
        ("  one  \n", [["one"]]),
        ("it goes\r\non here", [["it goes", "on here"]]),
        ("## Head ##\ntext", [["Head"], ["text"]]),
        ("Head\n====\ntext", [["Head"], ["text"]]),
        ("> one\n> two\n>> three", [["one", "two"], ["three"]]),
        ("- one\n  two\n- three", [["one", "two"], ["three"]]),
        ("one\n```\ncode\n\n```\ntwo", [["one"], ["two"]]),
        ("~~~\n```\n~~~\ntext", [["text"]]),
        ("```\nnever closed", []),
        ("a | b\n--|--\nc | d\n\ntext", [["text"]]),
        ("+---+\n| a |\n+---+", []),
        ("this | that", [["this | that"]]),
        ("text\n\n    x = f(1);\n    y = 2;", [["text"]]),
        ("    Indented prose", [["Indented prose"]]),
        ('    parataxis split "It rained, and we left."\n', []),
        ("![A](b.png)\n<br>\n[a]: http://b", []),
        ("one\n* * *\ntwo", [["one"], ["two"]]),
    ],
)
def test_layout_runs(text: str, expected: list[list[str]]) -> None:
    assert runs(text) == expected


def test_layout_prose_is_joined_and_lists_are_not() -> None:
    prose = "we walked along the old road to\nPetersburg, and there we met\nAnn again."
    assert len(runs(prose)) == 1
    names = "Ann Lee, the doctor's daughter\nBob Ray, who lives in the north\nCy\nDee Fox, of Rome"
    assert len(runs(names)) == 4


def test_layout_starts_inside_code() -> None:
    text = "code. More.\n```\nA text."
    assert [text[s:e] for run in find_runs(text, fence="```") for s, e in run] == ["A text."]


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("```python\n", "", "```"),
        ("  > ~~~~\n", "", "~~~~"),
        ("``` code ```\n", "", ""),
        ("text ```\n", "", ""),
        ("```\n", "```", ""),
        ("`````\n", "```", ""),
        ("```\n", "````", "````"),
        ("``` x\n", "```", "```"),
        ("~~~\n", "```", "```"),
    ],
)
def test_layout_fence(line: str, before: str, after: str) -> None:
    assert next_fence(line, before) == after
