"""Renderings of rewrites for people: a diff, an explanation for the terminal, an HTML page.

All of them show the same marks: which words were kept, left out, inflected or inserted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from parataxis.rewrite.align import align
from parataxis.rewrite.record import Finding, Origin, Rewrite
from parataxis.text.tokens import has_word, tokenize

if TYPE_CHECKING:
    from parataxis.syntax.patterns import Occurrence


class Mark(StrEnum):
    """What happened to a piece of the source, or the origin of a piece of a simple sentence."""

    KEPT = "kept"
    LEFT_OUT = "left-out"
    INFLECTED = "inflected"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A word or the space between two words; the texts of all pieces make up the sentence.

    ``source`` is the place of the source word that it is, or was copied or inflected from.
    """

    text: str
    mark: Mark = Mark.KEPT
    source: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MarkedRewrite:
    """The pieces of the source and of each simple sentence."""

    source: Sequence[MarkedPiece]
    simple: Sequence[Sequence[MarkedPiece]]


_MARKS = {
    Origin.COPIED: Mark.KEPT,
    Origin.INFLECTED: Mark.INFLECTED,
    Origin.INSERTED: Mark.INSERTED,
}


def mark(rewrite: Rewrite) -> MarkedRewrite:
    """Mark every word of a rewrite; a rewrite without provenance is aligned first."""
    provenance = rewrite.provenance
    if provenance is None:
        provenance = align(rewrite.source, rewrite.simple)
    used = {token.source for tokens in provenance for token in tokens if token.source}
    return MarkedRewrite(
        source=_with_spaces(rewrite.source, _source_pieces(rewrite.source, used)),
        simple=[
            _with_spaces(
                sentence,
                [(t.start, MarkedPiece(t.text, _MARKS[t.origin], t.source)) for t in tokens],
            )
            for sentence, tokens in zip(rewrite.simple, provenance, strict=True)
        ],
    )


def _source_pieces(source: str, used: Iterable[tuple[int, int]]) -> list[tuple[int, MarkedPiece]]:
    spans = sorted(used)
    pieces = []
    for token in tokenize(source):
        # A span may cover several of our tokens: other splitters tokenize differently.
        kept = any(start < token.end and token.start < end for start, end in spans)
        place = (token.start, token.end)
        pieces.append(
            (token.start, MarkedPiece(token.text, Mark.KEPT if kept else Mark.LEFT_OUT, place))
        )
    return pieces


def _with_spaces(text: str, placed: Iterable[tuple[int, MarkedPiece]]) -> list[MarkedPiece]:
    pieces, end = [], 0
    for start, piece in sorted(placed, key=itemgetter(0)):
        if start < end:
            continue  # overlapping tokens can only come from other systems; show the text once
        if start > end:
            pieces.append(MarkedPiece(text[end:start]))
        pieces.append(piece)
        end = start + len(piece.text)
    if end < len(text):
        pieces.append(MarkedPiece(text[end:]))
    return pieces


LIKELY = 0.5
"""The probability from which a further split is suggested."""

_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_RED, _GREEN, _CYAN = "\x1b[31m", "\x1b[32m", "\x1b[36m"
_COLOURS = {
    Mark.LEFT_OUT: "\x1b[31;9m",  # red, struck through
    Mark.INSERTED: "\x1b[32;1m",
    Mark.INFLECTED: "\x1b[33;1m",
}
# Without colour, the marks of wdiff and git --word-diff.
_BRACKETS = {
    Mark.LEFT_OUT: ("[-", "-]"),
    Mark.INSERTED: ("{+", "+}"),
    Mark.INFLECTED: ("{~", "~}"),
}


def render_diff(
    rewrite: Rewrite,
    patterns: "Sequence[Occurrence] | None" = None,
    *,
    header: bool = False,
    colour: bool = False,
) -> str:
    """A diff of the source and its simple sentences that marks left out, inserted and inflected
    words.

    A sentence left whole is shown as context, like an unchanged line of a diff. With ``header``,
    the id precedes each rewrite; with ``patterns`` (of the source, possibly none), the patterns and
    the findings of the checks follow it.

    >>> rewrite = Rewrite(
    ...     source="Ann, serving as host, spoke.",
    ...     simple=["Ann spoke.", "Ann was serving as host."],
    ...     splitter="rules",
    ... )
    >>> print(render_diff(rewrite), end="")
    - Ann, serving as host, spoke.
    + Ann spoke.
    + Ann {+was+} serving as host.
    """
    lines = []
    if header and rewrite.id and rewrite.is_split:
        lines.append(_paint(f"@@ {rewrite.id} @@", _CYAN, colour=colour))
    if rewrite.is_split:
        marked = mark(rewrite)
        lines.append(_paint("- ", _RED, colour=colour) + _pieces(marked.source, colour=colour))
        lines += [
            _paint("+ ", _GREEN, colour=colour) + _pieces(sentence, colour=colour)
            for sentence in marked.simple
        ]
    else:
        lines.append(f"  {one_line(rewrite.source)}")
    if patterns is not None:
        lines += [*_patterns(rewrite, patterns), *_remarks(rewrite)]
    return "".join(f"{line}\n" for line in lines)


def render_explanation(
    rewrite: Rewrite, patterns: "Sequence[Occurrence]" = (), *, colour: bool = False
) -> str:
    """A rewrite with its patterns, the origin of its words, and the findings of the checks."""
    lines = [
        _paint(rewrite.id or "source", _DIM, colour=colour),
        f"  {_paint(one_line(rewrite.source), _BOLD, colour=colour)}",
        *_patterns(rewrite, patterns),
    ]
    if rewrite.is_split:
        lines += [f"  → {one_line(sentence)}" for sentence in rewrite.simple]
        lines += [f"    {line}" for line in _origins(rewrite)]
    else:
        lines.append("  = left whole")
    lines += _remarks(rewrite)
    return "".join(f"{line}\n" for line in lines)


def describe(finding: Finding) -> str:
    """A finding on one line: its kind, its message, the number of its sentence, and its probability
    if it is an estimate."""
    notes = [] if finding.sentence is None else [f"sentence {finding.sentence + 1}"]
    if finding.probability is not None:
        notes.append(f"an estimate, {finding.probability:.1%}")
    where = f" ({'; '.join(notes)})" if notes else ""
    return f"{finding.kind.value}: {finding.message.rstrip('.')}{where}"


def _patterns(rewrite: Rewrite, patterns: "Sequence[Occurrence]") -> Iterator[str]:
    for span in patterns:
        words = one_line(rewrite.source[span.start : span.end])
        yield f"    {span.pattern:<6}{span.pattern.plain_name}: {words}"


def _remarks(rewrite: Rewrite) -> Iterator[str]:
    if rewrite.confidence is not None:
        yield f"    confidence: {rewrite.confidence:.0%}"
    if (rewrite.further or 0.0) >= LIKELY:
        yield f"    a sentence should perhaps be split further: {rewrite.further:.0%}"
    if rewrite.note:
        yield f"    note: {rewrite.note}"
    for finding in rewrite.findings or ():
        yield f"  ! {describe(finding)}"


def _origins(rewrite: Rewrite) -> Iterator[str]:
    """One line for each way in which words changed from the source to the simple sentences."""
    marked = mark(rewrite)
    simple = [piece for sentence in marked.simple for piece in sentence]
    by_mark = {
        Mark.LEFT_OUT: list(_phrases(marked.source, Mark.LEFT_OUT)),
        Mark.INSERTED: [p for s in marked.simple for p in _phrases(s, Mark.INSERTED)],
        Mark.INFLECTED: [
            f"{piece.text} (from {rewrite.source[slice(*piece.source)]})"
            for piece in simple
            if piece.mark is Mark.INFLECTED and piece.source
        ],
    }
    for kind, words in by_mark.items():
        if words:
            yield f"{kind.value.replace('-', ' ')}: {', '.join(words)}"


def _phrases(pieces: Iterable[MarkedPiece], wanted: Mark) -> Iterator[str]:
    """Neighbouring words with the wanted mark, as phrases; lone punctuation is left out."""
    for chosen, group in groupby(
        pieces, key=lambda piece: piece.mark is wanted or not piece.text.strip()
    ):
        phrase = "".join(piece.text for piece in group).strip(" ,;") if chosen else ""
        if has_word(phrase):
            yield one_line(phrase)


def _pieces(pieces: Iterable[MarkedPiece], *, colour: bool) -> str:
    shown = []
    for kind, group in groupby(_joined(pieces), key=lambda piece: piece.mark):
        text = "".join(piece.text for piece in group)
        if kind is Mark.KEPT or not has_word(text):  # marks on a lone comma only distract
            shown.append(text)
        elif colour:
            shown.append(f"{_COLOURS[kind]}{text}{_RESET}")
        else:
            shown.append(text.join(_BRACKETS[kind]))
    return one_line("".join(shown))


def _joined(pieces: Iterable[MarkedPiece]) -> list[MarkedPiece]:
    """Mark the space between two pieces with the same mark as well: {+It is+}."""
    joined = list(pieces)
    for i in range(1, len(joined) - 1):
        if not joined[i].text.strip() and joined[i - 1].mark is joined[i + 1].mark:
            joined[i] = MarkedPiece(joined[i].text, joined[i - 1].mark)
    return joined


def _paint(text: str, style: str, *, colour: bool) -> str:
    return f"{style}{text}{_RESET}" if colour else text


def one_line(text: str) -> str:
    """A text on one line; a source may be hard-wrapped."""
    return " ".join(text.split())


# The HTML page is self-contained: it needs no other file and no network, and this forbids both.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page_start(title: str) -> str:
    """The page up to its first rewrite: title, style and legend."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title>
<style>
{_asset("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>Each source, then its simple sentences. Point at a word, a sentence or a pattern to see the
source words behind it.</p>
<p class="legend"><ins>inserted word</ins> <span class="inflected">changed inflection</span>
<s>left out</s></p>
</header>
<main>
"""


def page_entry(rewrite: Rewrite, patterns: "Sequence[Occurrence]" = ()) -> str:
    """One rewrite as an article."""
    marked = mark(rewrite)
    kind = "split" if rewrite.is_split else "unsplit"
    parts = [f'<article class="{kind}">']
    if rewrite.id:
        parts.append(f'<h2 class="id">{escape(rewrite.id)}</h2>')
    parts.append(f'<p class="source">{_words(marked.source, rewrite.source)}</p>')
    if rewrite.is_split:
        items = (_words(sentence, rewrite.source) for sentence in marked.simple)
        parts.append("<ol>")
        parts += [f'<li tabindex="0">{words}</li>' for words in items]
        parts.append("</ol>")
    parts += [*_patterns_page(patterns, rewrite.source), *_notes(rewrite), "</article>"]
    return "\n".join(parts) + "\n"


_NOTEBOOK_STYLE = """
.parataxis article { margin: 0.6em 0; } .parataxis p, .parataxis ol { margin: 0.2em 0; }
.parataxis .source, .parataxis .note { opacity: 0.75; } .parataxis .id { font-size: 1em; }
.parataxis ins { text-decoration: underline dotted; } .parataxis rt { font-size: 0.65em; }
"""
NOTEBOOK_ENTRIES = 200
"""Rewrites that a notebook shows of a document."""


def notebook_view(rewrites: Sequence[Rewrite]) -> str:
    """Rewrites as HTML for a notebook, which gives it its colours; of many only the first."""
    entries = "".join(page_entry(each) for each in rewrites[:NOTEBOOK_ENTRIES])
    rest = len(rewrites) - NOTEBOOK_ENTRIES
    more = f'<p class="note">{rest:,} more sentences are not shown.</p>' if rest > 0 else ""
    return f'<div class="parataxis"><style>{_NOTEBOOK_STYLE}</style>{entries}{more}</div>'


def page_end() -> str:
    """The rest of the page after its last rewrite."""
    return f"""</main>
<footer><p>Made with Parataxis.</p></footer>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""


@cache
def _asset(name: str) -> str:
    return (files("parataxis.rewrite") / "assets" / name).read_text(encoding="utf-8")


def _words(pieces: Iterable[MarkedPiece], source: str) -> str:
    return "".join(_word(piece, source) for piece in pieces)


def _word(piece: MarkedPiece, source: str) -> str:
    text = escape(piece.text)
    if piece.mark is Mark.INSERTED:
        return f"<ins>{text}</ins>"
    if piece.source is None:
        return text
    place = f'data-s="{piece.source[0]}"'
    if piece.mark is Mark.LEFT_OUT:
        return f"<s {place}>{text}</s>"
    if piece.mark is Mark.INFLECTED:
        origin = escape(source[slice(*piece.source)])
        return f'<ruby class="inflected" {place}>{text}<rt>{origin}</rt></ruby>'
    return f"<span {place}>{text}</span>"


def _patterns_page(patterns: "Sequence[Occurrence]", source: str) -> list[str]:
    if not patterns:
        return []
    items = []
    for span in patterns:
        words = escape(one_line(source[span.start : span.end]))
        items.append(
            f'<li tabindex="0" data-span="{span.start} {span.end}">'
            f"<b>{escape(span.pattern.plain_name)}</b> {words}</li>"
        )
    return ['<ul class="patterns" aria-label="Patterns">', *items, "</ul>"]


def _notes(rewrite: Rewrite) -> list[str]:
    remarks = [] if rewrite.confidence is None else [f"Confidence: {rewrite.confidence:.0%}."]
    remarks += [rewrite.note] if rewrite.note else []
    notes = [f'<p class="note">{escape(remark)}</p>' for remark in remarks]
    if not rewrite.findings:
        return notes
    items = [f"<li>{escape(describe(finding))}</li>" for finding in rewrite.findings]
    return [*notes, '<ul class="findings" aria-label="Findings">', *items, "</ul>"]
