"""Renderings of rewrites: marks, diff, explanation and page."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from parataxis import split
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken, Rewrite
from parataxis.rewrite.render import (
    Mark,
    mark,
    page_end,
    page_entry,
    page_start,
    render_diff,
    render_explanation,
)
from parataxis.syntax.patterns import Occurrence, Pattern

SOURCE = "Jeddah, serving as the gateway\nto Mecca, is the city that pilgrims visit."
JEDDAH = Rewrite(
    source=SOURCE,
    simple=("Jeddah serves as the gateway to Mecca.", "It is also the city that pilgrims visit."),
    splitter="rules",
    id="cities.txt:3:1",
)
WHOLE = Rewrite(source="It rained.", simple=("It rained.",), splitter="rules", id="a.txt:1:1")
PARTICIPLE = Occurrence(Pattern.PART, 2, 7, 2, 8, 39)
LOST = Finding(
    kind=FindingKind.LOST,
    words="Mecca",
    sentence=None,
    start=34,
    end=39,
    message="'Mecca' is missing.",
)
NEW = Finding(
    kind=FindingKind.NEW,
    words="also",
    sentence=1,
    start=6,
    end=10,
    message="'also' is not in the source.",
)

words = st.text(st.sampled_from("ab ,.'<\n"), min_size=1, max_size=30).filter(str.strip)


@settings(deadline=None)  # the dictionary of inflections is opened on first use
@given(source=words, simple=st.lists(words, min_size=1, max_size=3))
def test_marks_lose_no_character(source: str, simple: list[str]) -> None:
    marked = mark(Rewrite(source=source, simple=simple, splitter="x"))
    assert "".join(piece.text for piece in marked.source) == source
    texts = ["".join(piece.text for piece in pieces) for pieces in marked.simple]
    assert texts == simple


def test_marks_use_the_provenance_that_is_there() -> None:
    tokens = (
        OutputToken(text="Rain", start=0, end=4, origin=Origin.INFLECTED, source=(3, 9)),
        OutputToken(text="fell", start=5, end=9, origin=Origin.INSERTED),
    )
    rewrite = Rewrite(
        source="It rained.", simple=("Rain fell.",), splitter="x", provenance=(tokens,)
    )
    marked = mark(rewrite)
    assert [(piece.text, piece.mark) for piece in marked.source] == [
        ("It", Mark.LEFT_OUT),
        (" ", Mark.KEPT),
        ("rained", Mark.KEPT),
        (".", Mark.LEFT_OUT),
    ]
    assert [(piece.text, piece.mark) for piece in marked.simple[0]] == [
        ("Rain", Mark.INFLECTED),
        (" ", Mark.KEPT),
        ("fell", Mark.INSERTED),
        (".", Mark.KEPT),
    ]


def test_marks_show_overlapping_tokens_once() -> None:
    tokens = tuple(
        OutputToken(text=text, start=0, end=len(text), origin=Origin.INSERTED)
        for text in ("Rain", "Rai")
    )
    rewrite = Rewrite(source="Rain.", simple=("Rain.",), splitter="x", provenance=(tokens,))
    assert "".join(piece.text for piece in mark(rewrite).simple[0]) == "Rain."


def test_diff_marks_words_like_wdiff() -> None:
    assert render_diff(JEDDAH, header=True) == (
        "@@ cities.txt:3:1 @@\n"
        "- Jeddah, serving as the gateway to Mecca, is the city that pilgrims visit.\n"
        "+ Jeddah {~serves~} as the gateway to Mecca.\n"
        "+ {+It+} is {+also+} the city that pilgrims visit.\n"
    )


def test_diff_marks_what_is_left_out() -> None:
    rewrite = Rewrite(
        source="Ann, who sang, left.", simple=("Ann left.", "Ann sang."), splitter="x"
    )
    assert render_diff(rewrite).startswith("- Ann[-, who-] sang, left.\n")


def test_diff_in_colour_has_no_brackets() -> None:
    coloured = render_diff(JEDDAH, colour=True)
    assert "\x1b[32;1mIt\x1b[0m is" in coloured
    assert "{+" not in coloured


def test_diff_shows_a_whole_sentence_as_context() -> None:
    assert render_diff(WHOLE, header=True) == "  It rained.\n"


def test_diff_joins_inserted_words() -> None:
    rewrite = Rewrite(source="Ann left.", simple=("Ann left.", "It was so."), splitter="x")
    assert "+ {+It was so+}." in render_diff(rewrite)


def test_diff_explains_when_asked() -> None:
    faulty = JEDDAH.model_copy(update={"findings": (LOST,), "note": "A note."})
    explained = render_diff(faulty, [PARTICIPLE]).splitlines()[3:]
    assert explained == [
        "    part  participle phrase: serving as the gateway to Mecca",
        "    note: A note.",
        "  ! lost: 'Mecca' is missing",
    ]
    assert render_diff(faulty) == render_diff(JEDDAH)


def test_explanation_names_patterns_origins_and_findings() -> None:
    faulty = JEDDAH.model_copy(update={"findings": (LOST, NEW)})
    assert render_explanation(faulty, [PARTICIPLE]) == (
        "cities.txt:3:1\n"
        "  Jeddah, serving as the gateway to Mecca, is the city that pilgrims visit.\n"
        "    part  participle phrase: serving as the gateway to Mecca\n"
        "  → Jeddah serves as the gateway to Mecca.\n"
        "  → It is also the city that pilgrims visit.\n"
        "    inserted: It, also\n"
        "    inflected: serves (from serving)\n"
        "  ! lost: 'Mecca' is missing\n"
        "  ! new: 'also' is not in the source (sentence 2)\n"
    )


def test_explanation_says_why_a_sentence_is_whole() -> None:
    noted = WHOLE.model_copy(update={"note": "None of the rules applies."})
    assert render_explanation(noted).splitlines()[1:] == [
        "  It rained.",
        "  = left whole",
        "    note: None of the rules applies.",
    ]


class Outline(HTMLParser):
    """Collects tags and text, and fails on a tag that is closed out of order."""

    VOID = frozenset(["meta", "br"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def test_page_shows_where_words_come_from() -> None:
    html = page_entry(JEDDAH.model_copy(update={"findings": (LOST,)}), [PARTICIPLE])
    found = outline(html)
    assert '<ruby class="inflected" data-s="8">serves<rt>serving</rt></ruby>' in html
    assert "<ins>also</ins>" in html
    assert '<s data-s="6">,</s>' in html
    assert '<li tabindex="0" data-span="8 39"><b>participle phrase</b>' in html
    assert "lost: 'Mecca' is missing" in found.text


def test_page_escapes_what_users_wrote() -> None:
    nasty = "<script>alert(\"&\")</script> 'x'"
    rewrite = Rewrite(source=nasty, simple=(nasty, "<i>"), splitter="x", id=nasty, note=nasty)
    html = page_start(nasty) + page_entry(rewrite) + page_end()
    assert [tag for tag, _ in outline(html).tags].count("script") == 1
    assert "alert(" in outline(html).text
    assert "<i>" not in html


def test_page_needs_nothing_from_outside() -> None:
    html = page_start("A page") + page_entry(JEDDAH, [PARTICIPLE]) + page_end()
    found = outline(html)
    assert not [attrs for _, attrs in found.tags if "src" in attrs or "href" in attrs]
    assert "url(" not in html
    assert "@import" not in html
    assert "prefers-color-scheme: dark" in html
    policies = [attrs["content"] for tag, attrs in found.tags if "http-equiv" in attrs]
    assert policies[0] is not None
    assert policies[0].startswith("default-src 'none'")


@pytest.mark.parametrize("rewrite", [JEDDAH, WHOLE])
def test_page_shows_every_word(rewrite: Rewrite) -> None:
    text = outline(page_entry(rewrite)).text
    shown = rewrite.simple if rewrite.is_split else (rewrite.source,)
    for sentence in shown:
        for word in sentence.split():
            assert word in text.replace("serving", "", 2) or word == "serves"


def test_render_for_a_notebook() -> None:
    rewrite = Rewrite(
        source="Ann, who <sings>, left.", simple=["Ann left.", "Ann <sings>."], splitter="mine"
    )
    shown = rewrite._repr_html_()
    root = html.fromstring(shown)
    assert [each.text_content() for each in root.iter("li")] == ["Ann left.", "Ann <sings>."]
    assert "who" in [each.text_content() for each in root.iter("s")]
    assert "<script" not in shown


def test_render_of_a_long_document_for_a_notebook() -> None:
    shown = split("Ann came. " * 203, splitter="source")._repr_html_()
    assert shown.count("<article") == 200
    assert "3 more sentences are not shown." in shown
