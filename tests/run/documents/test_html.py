"""HTML: tags stay around their words, and all that is no running text comes back as it was."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentReport
from parataxis.run.documents.html import HtmlDocument

Cut = Callable[[str], Rewrite]
Split = Callable[[str], tuple[str, DocumentReport]]
Shown = Callable[..., str]


@pytest.fixture
def split(cut: Cut) -> Split:
    def split_text(text: str) -> tuple[str, DocumentReport]:
        document = HtmlDocument(text)
        data, report = document.rewritten([cut(sentence) for sentence in document.sentences])
        return data.decode(), report

    return split_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>Ann came; Bob left.</p>", "<p>Ann came. Bob left.</p>"),
        ("Ann came; Bob left.", "Ann came. Bob left."),
        ("<ul><li>Ann came; Bob left.<li>A.</ul>", "<ul><li>Ann came. Bob left.<li>A.</ul>"),
        ("<td>\n Ann\n came; Bob left. </td>", "<td>\n Ann\n came. Bob left. </td>"),
        ("<b>Ann</b>, who <I>sang</I>, left.", "<b>Ann</b> left. <b>Ann</b> <I>sang</I>."),
        ("<b>Ann came; Bob left. It is.</b>", "<b>Ann came. Bob left. It is.</b>"),
        (
            "<p>The <a href='x;y' id=k>old man</a>, who sang, left.",
            "<p>The <a href='x;y' id=k>old man</a> left. The old man sang.",
        ),
        (
            '<p>The <span class="x">old</span> <span id="y">man</span>, who sang, left.',
            '<p>The <span class="x">old</span> <span id="y">man</span> left. '
            'The <span class="x">old</span> man sang.',
        ),
        (
            "<a href=x>The <b>man</b>, who sang, left.</a>",
            "<a href=x>The <b>man</b> left. The <b>man</b> sang.</a>",
        ),
        (
            "<p>Run <code>a; <b>b</b></code>, who sang, now.",
            "<p>Run <code>a; <b>b</b></code> now. Run <code>a; <b>b</b></code> sang.",
        ),
        (
            "<p>Ann<sup><a href=#n>1</a></sup> came; Bob<sup>2</sup> left.<sup>3</sup> A.",
            "<p>Ann<sup><a href=#n>1</a></sup> came. Bob<sup>2</sup> left.<sup>3</sup> A.",
        ),
        ("R&amp;D&nbsp;came; &eacute;t&#233; left.", "R&amp;D&nbsp;came. Été left."),
        ("AT&T came; 1 &lt; 2.", "AT&T came. 1 &lt; 2."),
        ("Ann<!-- a; b --> came; Bob<wbr> left.", "Ann<!-- a; b --> came. Bob<wbr> left."),
        ("Ann<a name=x></a> came; Bob left.", "Ann<a name=x></a> came. Bob left."),
        (
            "<p>Ann saw <span translate=no>a; b</span>; Bob left.",
            "<p>Ann saw <span translate=no>a; b</span>. Bob left.",
        ),
    ],
)
def test_html_rewrites(split: Split, before: str, after: str) -> None:
    done, report = split(before)
    assert done == after
    assert not report.left_alone.total()


@pytest.mark.parametrize(
    "text",
    [
        "<h2>Ann came; Bob left.</h2>",
        "<title>Ann came; Bob left.</title>",
        "<script>Ann('came; Bob left.')</script>",
        "<style>a { b: c; d: e }</style>",
        "<pre>Ann came; Bob left.</pre>",
        "<textarea>Ann came; Bob left.</textarea>",
        "<svg><text>Ann came; Bob left.</text></svg>",
        "<!-- Ann came; Bob left. -->",
        "<div translate=no>Ann came; Bob left.</div>",
        "<p title='Ann came; Bob left.'>",
        "<b>Ann came; <i>Bob</b> left.</i>",
        "<p><b>Ann came; Bob left.",
    ],
)
def test_html_leaves_what_is_no_running_text_or_not_nested(split: Split, text: str) -> None:
    assert split(text) == (text, DocumentReport())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<p>Ann came; Bob<br>left.", "a line break"),
        ("<p>Ann <img src=x> came; Bob left.", "a picture"),
        ("<p><b>It rained. Ann</b> came; Bob left.", "markup that begins or ends elsewhere"),
        (
            "<p><a href=x>Ann came; Bob</a> left.",
            "a link, a note, a field or the like that would have to move",
        ),
    ],
)
def test_html_left_alone_and_counted(split: Split, text: str, reason: str) -> None:
    done, report = split(text)
    assert done == text
    assert dict(report.left_alone) == {reason: 1}


PIECES = st.sampled_from(
    ["Ann", "came", "; ", " ", "\n", "<b>", "</b>", "<i class=x>", "</i>", "<a href=y>", "</a>",
     "<p>", "</p>", "<br>", "&amp;", "&", "<", "<!-- x -->", "<code>a b</code>", ". ", ", who ",
     "<sup>1</sup>", "<li>", "<script>x</script>", "<h1>", "</h1>", "<!", "&#233;", "\r\n"]
)  # fmt: skip


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_html_any_text_that_is_not_split_comes_back(text: str) -> None:
    document = HtmlDocument(text)
    same = [Rewrite(source=s, simple=[s], splitter="mine") for s in document.sentences]
    assert document.rewritten(same)[0].decode() == text


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_html_any_text_reads_as_its_rewrites(cut: Cut, shown: Shown, text: str) -> None:
    document = HtmlDocument(text)
    made = [cut(sentence) for sentence in document.sentences]
    data, report = document.rewritten(made)
    if not report.left_alone.total():
        assert shown(HtmlDocument(data.decode())) == shown(document, made)


@pytest.mark.parametrize(
    "text", ["who<!<!&#233;.", "Ann sings <b", "Ann </ sings.", "Ann; <!<b>x<!-- x -->"]
)
def test_html_text_with_a_tag_that_does_not_end_is_left_alone(text: str) -> None:
    assert HtmlDocument(f"<p>Bob sings.</p><p>{text}").sentences == ["Bob sings."]


@pytest.mark.parametrize(("depth", "sentences"), [(100, 2), (101, 1), (20_000, 1)])
def test_html_blocks_that_are_nested_too_deeply_are_left_alone(depth: int, sentences: int) -> None:
    nested = "<b>" * depth + "Ann sings." + "</b>" * depth
    document = HtmlDocument(f"<p>{nested}<p>Bob sings.")
    assert document.sentences[-sentences:] == ["Ann sings.", "Bob sings."][-sentences:]
    assert len(document.sentences) == sentences


@pytest.mark.parametrize(
    "text", ["<!--" * 500, "<p>a</p><!-- >" * 500, "<a " * 500, "<?" * 500, "</" * 500, "<![" * 9]
)
def test_html_tags_that_never_end_are_refused(text: str) -> None:
    """For each of them the parser would search the rest of the text, or fail."""
    with pytest.raises(InputError, match="damaged"):
        HtmlDocument(text)
