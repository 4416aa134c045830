"""Sentences are found in real layouts; the tough cases stand in segmentation_cases.txt."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.text.segments import sentence_ends, sentence_spans

CASES_FILE = Path(__file__).with_name("segmentation_cases.txt")


def read_cases() -> dict[str, str]:
    text = CASES_FILE.read_text(encoding="utf-8").replace("␍", "\r")
    cases = [case.partition("\n") for case in text.split("\n=== ")[1:]]
    return {title.strip(): body for title, _, body in cases}


def marked(body: str) -> tuple[str, list[tuple[int, int]]]:
    """The text of a case without its marks, and the spans that they mark."""
    text = ""
    edges: list[int] = []
    for part in re.split("([⟦⟧])", body):
        if part in ("⟦", "⟧"):
            edges.append(len(text))
        else:
            text += part
    return text, list(zip(edges[::2], edges[1::2], strict=True))


@pytest.mark.parametrize("body", read_cases().values(), ids=read_cases().keys())
def test_segments_tough_case(body: str) -> None:
    text, expected = marked(body)
    found = [text[span.start : span.end] for span in sentence_spans(text)]
    assert found == [text[start:end] for start, end in expected]


@pytest.mark.parametrize("body", read_cases().values(), ids=read_cases().keys())
def test_segments_do_not_depend_on_line_ends(body: str) -> None:
    text, _ = marked(body)
    unix = [span.text for span in sentence_spans(text.replace("\r\n", "\n"))]
    for line_end in ("\r\n", "\r"):
        other = text.replace("\r\n", "\n").replace("\n", line_end)
        assert [span.text for span in sentence_spans(other)] == unix


def test_segments_text_is_on_one_line() -> None:
    text = (
        "> The committee met on the first  Monday of the month, and\r\n> Peter\ttook the chair.\r\n"
    )
    (span,) = sentence_spans(text)
    assert span.text == (
        "The committee met on the first Monday of the month, and Peter took the chair."
    )
    assert (span.start, text[span.end :]) == (2, "\r\n")


def test_segments_text_keeps_spaces_set_on_purpose() -> None:
    text = "Under §\u00a05 the\u00a0\r\n fee \t is 10\u202f000\u2009€ or  5\u2007000. It\u00a0rose."
    assert [span.text for span in sentence_spans(text)] == [
        "Under §\u00a05 the fee is 10\u202f000\u2009€ or 5\u2007000.",
        "It\u00a0rose.",
    ]


def test_segments_number_inside_a_line_is_no_sentence() -> None:
    text = "The fee is due. 2. Term. A. The term is a year. (b) It may be renewed."
    assert [span.text for span in sentence_spans(text)] == [
        "The fee is due.",
        "Term.",
        "The term is a year.",
        "It may be renewed.",
    ]


def test_segments_sentence_may_start_small_in_careless_writing() -> None:
    assert sentence_ends("i love it. it works! does it? yes") == [10, 20, 29]


def test_segments_unknown_abbreviation_before_small_word() -> None:
    assert sentence_ends("Keep it refrig. at all times, or the Natl. team and dept. heads") == []


def test_segments_of_nothing() -> None:
    assert sentence_spans("") == []
    assert sentence_spans(" \r\n\t\n") == []
    assert sentence_spans("```\nOnly code. Here.\n```\n") == []


PIECES = r"""
    Mr. He went . ! ? … " ” ) [1] 😀 U.S. p.m. é ` ``` | |---| - 1. (a) # >
"""
ANY_TEXT = st.text(max_size=120) | st.lists(
    st.sampled_from([*PIECES.split(), " ", "\n", "\n\n", "\r\n", "\u2028"]), max_size=30
).map("".join)


@given(ANY_TEXT)
@settings(max_examples=300)
def test_segments_are_in_order_and_trimmed(text: str) -> None:
    end = 0
    for span in sentence_spans(text):
        assert end <= span.start < span.end
        assert text[span.start : span.end] == text[span.start : span.end].strip() != ""
        assert span.text == span.text.strip() != ""
        assert "  " not in span.text
        assert re.search(r"[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]", span.text) is None
        end = span.end


@given(st.text(alphabet="abAB .!?,\"'()\n😀…", max_size=100).filter(lambda text: "  " not in text))
@settings(max_examples=200)
def test_segments_hold_every_letter_of_plain_text(text: str) -> None:
    found = "".join(text[span.start : span.end] for span in sentence_spans(text))
    kept = sum(character.isalpha() for character in found)
    labels = sum(c.isalpha() for c in "".join(re.findall(r"(?:\(\w+\)|\b\w+[.)])(?=\s)", text)))
    assert kept >= sum(character.isalpha() for character in text) - labels


# Long runs that tempt a rule to look back or ahead each time; quadratic work would take minutes.
# Stops alone are no sentence, and what only repeats a list marker is one label after the other.
WHOLE, LAST_UNIT, NOTHING = "whole", "last unit", "nothing"
RUNS = {
    "a": WHOLE,
    "`a": WHOLE,
    "](": WHOLE,
    "😀": WHOLE,
    ":(": WHOLE,
    "[1]": WHOLE,
    "a. ": LAST_UNIT,
    "1. ": LAST_UNIT,
    ".": NOTHING,
    ". ": NOTHING,
    "a\u00a0": WHOLE,
    "> ": NOTHING,
    "- ": NOTHING,
}


@pytest.mark.parametrize(("unit", "expected"), RUNS.items())
def test_segments_of_a_long_run(unit: str, expected: str) -> None:
    text = unit * (200_000 // len(unit))
    sentences = {WHOLE: [text.strip()], LAST_UNIT: [unit.strip()], NOTHING: []}
    assert [span.text for span in sentence_spans(text)] == sentences[expected]
