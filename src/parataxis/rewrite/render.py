"""Rewrites for people to read in a terminal: as a diff, or explained word by word.

The HTML rendering is :mod:`parataxis.rewrite.page`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from parataxis.rewrite.marks import Mark, Piece, mark
from parataxis.rewrite.record import Finding, Rewrite
from parataxis.syntax.patterns import Occurrence
from parataxis.text.tokens import has_word

__all__ = ["complaints", "describe", "render_diff", "render_explanation"]

_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_RED, _GREEN, _CYAN = "\x1b[31m", "\x1b[32m", "\x1b[36m"
_COLOURS = {
    Mark.LEFT_OUT: "\x1b[31;9m",  # red, struck through
    Mark.INSERTED: "\x1b[32;1m",
    Mark.INFLECTED: "\x1b[33;1m",
}
# Without colour the marks are those of wdiff and git's --word-diff.
_BRACKETS = {
    Mark.LEFT_OUT: ("[-", "-]"),
    Mark.INSERTED: ("{+", "+}"),
    Mark.INFLECTED: ("{~", "~}"),
}


def render_diff(
    rewrite: Rewrite,
    patterns: Sequence[Occurrence] | None = None,
    *,
    header: bool = False,
    colour: bool = False,
) -> str:
    """The source against its simple sentences, with what was left out, inserted or inflected.

    A sentence left whole is shown as context, like an unchanged line of a diff. With ``header``,
    the id stands above each rewrite; with ``patterns`` (of the source; there may be none), they
    and what the checks found stand below it.

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
        lines.append(f"  {_one_line(rewrite.source)}")
    if patterns is not None:
        lines += [*_patterns(rewrite, patterns), *_remarks(rewrite)]
    return "".join(f"{line}\n" for line in lines)


def render_explanation(
    rewrite: Rewrite, patterns: Sequence[Occurrence] = (), *, colour: bool = False
) -> str:
    """A rewrite with its patterns, the origin of its words, and what the checks found."""
    lines = [
        _paint(rewrite.id or "source", _DIM, colour=colour),
        f"  {_paint(_one_line(rewrite.source), _BOLD, colour=colour)}",
        *_patterns(rewrite, patterns),
    ]
    if rewrite.is_split:
        lines += [f"  → {_one_line(sentence)}" for sentence in rewrite.simple]
        lines += [f"    {line}" for line in _origins(rewrite)]
    else:
        lines.append("  = left whole")
    lines += _remarks(rewrite)
    return "".join(f"{line}\n" for line in lines)


def describe(finding: Finding) -> str:
    """A finding in a few words: its kind, what the check says, and which sentence it is in."""
    where = "" if finding.sentence is None else f" (sentence {finding.sentence + 1})"
    return f"{finding.kind.value}: {finding.message.rstrip('.')}{where}"


def complaints(findings: Iterable[Finding]) -> str:
    """What findings say, as the rest of a sentence: "the number '5' is missing; 'He' says ..."."""
    messages = (finding.message.rstrip(".") for finding in findings)
    return "; ".join(text[:1].lower() + text[1:] for text in messages)


def _patterns(rewrite: Rewrite, patterns: Sequence[Occurrence]) -> Iterator[str]:
    for span in patterns:
        words = _one_line(rewrite.source[span.start : span.end])
        yield f"    {span.pattern:<6}{span.pattern.plain_name}: {words}"


def _remarks(rewrite: Rewrite) -> Iterator[str]:
    if rewrite.confidence is not None:
        yield f"    confidence: {rewrite.confidence:.0%}"
    if rewrite.note:
        yield f"    note: {rewrite.note}"
    for finding in rewrite.findings or ():
        yield f"  ! {describe(finding)}"


def _origins(rewrite: Rewrite) -> Iterator[str]:
    """One line for each way in which words changed between source and simple sentences."""
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


def _phrases(pieces: Iterable[Piece], wanted: Mark) -> Iterator[str]:
    """Neighbouring words with the wanted mark as one phrase; lone punctuation is not worth it."""
    for chosen, group in groupby(
        pieces, key=lambda piece: piece.mark is wanted or not piece.text.strip()
    ):
        phrase = "".join(piece.text for piece in group).strip(" ,;") if chosen else ""
        if has_word(phrase):
            yield _one_line(phrase)


def _pieces(pieces: Iterable[Piece], *, colour: bool) -> str:
    shown = []
    for kind, group in groupby(_joined(pieces), key=lambda piece: piece.mark):
        text = "".join(piece.text for piece in group)
        if kind is Mark.KEPT or not has_word(text):  # marks on a lone comma only distract
            shown.append(text)
        elif colour:
            shown.append(f"{_COLOURS[kind]}{text}{_RESET}")
        else:
            shown.append(text.join(_BRACKETS[kind]))
    return _one_line("".join(shown))


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Give the space between two pieces with the same mark that mark too: {+It is+}."""
    joined = list(pieces)
    for i in range(1, len(joined) - 1):
        if not joined[i].text.strip() and joined[i - 1].mark is joined[i + 1].mark:
            joined[i] = Piece(joined[i].text, joined[i - 1].mark)
    return joined


def _paint(text: str, style: str, *, colour: bool) -> str:
    return f"{style}{text}{_RESET}" if colour else text


def _one_line(text: str) -> str:
    """A source may be hard-wrapped; a rendering shows it on one line."""
    return " ".join(text.split())
