"""Markdown: what is rewritten keeps its markup, and nothing else changes."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentReport, markdown
from parataxis.run.documents.markdown import MarkdownDocument

Cut = Callable[[str], Rewrite]
Split = Callable[[str], tuple[str, DocumentReport]]
Shown = Callable[..., str]


@pytest.fixture
def split(cut: Cut) -> Split:
    def split_text(text: str) -> tuple[str, DocumentReport]:
        document = MarkdownDocument(text)
        data, report = document.rewritten([cut(sentence) for sentence in document.sentences])
        return data.decode(), report

    return split_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ann came; Bob left.", "Ann came. Bob left."),
        ("- Ann came; Bob left.\n- It rained.", "- Ann came. Bob left.\n- It rained."),
        ("3) Ann came; Bob left.\n\n   Tom; Eve.", "3) Ann came. Bob left.\n\n   Tom. Eve."),
        ("- [x] Ann came; Bob left.", "- [x] Ann came. Bob left."),
        ("> [!NOTE]\n> Ann came; Bob left.", "> [!NOTE]\n> Ann came. Bob left."),
        ("> > Ann came; Bob\n> > left.", "> > Ann came. Bob\n> > left."),
        ("Ann *came*; **Bob** left.", "Ann *came*. **Bob** left."),
        ("**Ann came; Bob left.** It rained.", "**Ann came. Bob left.** It rained."),
        ("~~Ann~~ came; Bob left.\r\n", "~~Ann~~ came. Bob left.\r\n"),
        ("**Ann**, who *sang*, left.", "**Ann** left. **Ann** *sang*."),
        ("The [old man](x.md), who sang, left.", "The [old man](x.md) left. The old man sang."),
        (
            'Ann, who saw [a (b)](<x y> "t; u"), left.',
            'Ann left. Ann saw [a (b)](<x y> "t; u").',
        ),
        ("Ann, who saw [it][1], left.\n\n[1]: x", "Ann left. Ann saw [it][1].\n\n[1]: x"),
        ("Ann, who saw [it], left.\n\n[it]: x", "Ann left. Ann saw [it].\n\n[it]: x"),
        ("**Ann came; Bob** left.", "**Ann came. Bob** left."),
        ("Run `a; b`, who sang, now.", "Run `a; b` now. Run `a; b` sang."),
        ("Use ``x`y``; see <https://a.b/?c;d>.", "Use ``x`y``. See <https://a.b/?c;d>."),
        ("Ann[^1] came; Bob[^note] left.[^3]", "Ann[^1] came. Bob[^note] left.[^3]"),
        ("Ann came [@lee; @roe]; Bob left.", "Ann came [@lee; @roe]. Bob left."),
        ("2 \\* 3; R&amp;D is x\\_y.", "2 \\* 3. R&amp;D is x\\_y."),
        ("Ann<!-- a; b --> came; Bob left.", "Ann<!-- a; b --> came. Bob left."),
        ("Ann costs $5; Bob costs $6.", "Ann costs $5. Bob costs $6."),
        ("a_b_c came; it left.", "A_b_c came. It left."),
    ],
)  # fmt: skip
def test_markdown_rewrites(split: Split, before: str, after: str) -> None:
    done, report = split(before)
    assert done == after
    assert not report.left_alone.total()


@pytest.mark.parametrize(
    "text",
    [
        "# Ann came; Bob left.",
        "Ann came; Bob left.\n===",
        "```\nAnn came; Bob left.\n```",
        "    Ann came; Bob left.",
        "| a |\n|---|\n| Ann came; Bob left. |",
        "---\ntitle: Ann came; Bob left.\n---\n\nText.",
        "<div>\nAnn came; Bob left.\n</div>",
        "[^1]: Ann came; Bob left.",
        "[a]: b 'Ann came; Bob left.'",
        "<!-- Ann came; Bob left. -->",
        "![Ann came; Bob left.](x.png)",
    ],
)
def test_markdown_leaves_what_is_no_running_text(split: Split, text: str) -> None:
    assert split(text) == (
        text,
        DocumentReport(sentences=text.endswith("Text.") + text.startswith("!")),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ann came; Bob  \nleft.", "a line break"),
        ("Ann came; Bob\\\nleft.", "a line break"),
        ("Ann ![x](y) came; Bob left.", "a picture"),
        ("Ann <kbd>x</kbd> came; Bob left.", "a tag"),
        ("If $x_1 = 2$ then a; b.", "a formula"),
        ("Ann {{ came }}; Bob left.", "a template"),
        ("**It rained. Ann** came; Bob left.", "markup that begins or ends elsewhere"),
        (
            "[Ann came; Bob](x) left.",
            "a link, a note, a field or the like that would have to move",
        ),
    ],
)
def test_markdown_left_alone_and_counted(split: Split, text: str, reason: str) -> None:
    done, report = split(text)
    assert done == text
    assert dict(report.left_alone) == {reason: 1}


def test_markdown_fills_the_lines_of_a_sentence_again(split: Split) -> None:
    text = (
        "> The **old man**, who sang `all day` in the\n"
        "> garden of his house, left for\n"
        "> the city. It rained.\n"
    )
    assert split(text)[0] == (
        "> The **old man** left for the city. The **old\n"
        "> man** sang `all day` in the garden of his\n"
        "> house. It rained.\n"
    )


def test_markdown_markup_that_would_read_otherwise_is_left_alone() -> None:
    # Without its letter before it, the star would open emphasis elsewhere.
    document = MarkdownDocument("Ann came*; Bob left*.")
    made = Rewrite(source=document.sentences[0], simple=["*Ann came.", "Bob left*."], splitter="x")
    data, report = document.rewritten([made])
    assert data.decode() == "Ann came*; Bob left*."
    assert report.left_alone.total() == 1


def test_markdown_has_no_tracked_changes() -> None:
    with pytest.raises(InputError, match="Only a Word document"):
        MarkdownDocument("It rained.").rewritten([], tracked=True)


PIECES = st.sampled_from(
    ["Ann", "came", "; ", " ", "\n", "**", "*", "_", "`a b`", "[x](y)", "[^1]", ". ", "\n\n", "- ",
     "> ", "# ", "\\*", "&amp;", "<b>", "![a](b)", "~~", "    ", "|", "```\n", ", who ", ", "]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_markdown_any_text_that_is_not_split_comes_back(text: str) -> None:
    document = MarkdownDocument(text)
    same = [Rewrite(source=s, simple=[s], splitter="mine") for s in document.sentences]
    assert document.rewritten(same)[0].decode() == text


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_markdown_any_text_reads_as_its_rewrites(cut: Cut, shown: Shown, text: str) -> None:
    document = MarkdownDocument(text)
    made = [cut(sentence) for sentence in document.sentences]
    data, report = document.rewritten(made)
    if not report.left_alone.total():
        assert shown(MarkdownDocument(data.decode())) == shown(document, made)


@pytest.mark.parametrize("sign", ["[", "![", "[](", "*a ", "**_", "`a ", "<", "&a"])
def test_markdown_a_paragraph_of_signs_is_left_alone(sign: str) -> None:
    """Reading it would take a minute."""
    document = MarkdownDocument(f"{sign * 50_000}\n\nAnn came.")
    assert document.sentences == ["Ann came."]


def test_markdown_obstacles_are_found_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    found = markdown.bisect_right
    monkeypatch.setattr(markdown, "bisect_right", lambda *a: looked.append(0) or found(*a))
    text = "Ann " + "{{a}} " * 500 + "came."
    assert [each.obstacle for p in MarkdownDocument(text).paragraphs for each in p.sentences] == [
        "a template"
    ]
    assert len(looked) <= 2 * len(text)
