"""Rows of tables and records: which columns count, how a cell is cut into sentences, and how the
rewrites of these become one record again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.text.documents import read_document
from parataxis.text.segments import Span

HEADERS = ("source", "complex", "sentence")
"""The names under which the column of the sources is found where none is given."""

ID = "id"
"""The column that gives the ids."""


class CellKind(StrEnum):
    """What a cell holds."""

    TEXT = "text"
    """Text of any number of sentences."""
    SENTENCE = "sentence"


class RowKind(StrEnum):
    """What an output row is made of."""

    INPUT = "input"
    """One row of the input."""
    SENTENCE = "sentence"
    """One sentence of the input."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table, or the fields of records, that a run uses: ``text`` holds the
    sentences (None: one of :data:`HEADERS`), ``keep`` are those that are written again (None: all
    of them)."""

    text: str | None = None
    cell: CellKind = CellKind.TEXT
    keep: Sequence[str] | None = None

    def find(self, names: Sequence[str], name: str) -> str:
        """The name of the column with the sentences in the table ``name``. That of a field inside
        another, "doc.text", is given as it is where there is a "doc"."""
        for each in [self.text] if self.text else HEADERS:
            if each in names or ("." in each and each.partition(".")[0] in names):
                return each
        raise self.missing(names, name)

    def missing(self, names: Sequence[str], name: str) -> InputError:
        """The error where the table ``name`` has no column with the sentences."""
        listed = ", ".join(names[:20]) or "none"
        if self.text:
            return InputError(f'{name} has no column "{self.text}"; its columns are: {listed}.')
        return InputError(f"{name} has the columns {listed}; name one with --column.")

    def kept(self, names: Sequence[str], name: str) -> list[str]:
        """Those of these columns that are written again, in their order."""
        wanted = names if self.keep is None else self.keep
        for each in wanted:
            if each not in names:
                listed = ", ".join(names[:20])
                raise InputError(f'{name} has no column "{each}" to keep; it has: {listed}.')
        return [each for each in dict.fromkeys(names) if each in wanted]


@dataclass(frozen=True)
class Row:
    """The row that a unit comes from: its cell of text, the sentences in it, and the columns that
    are kept. ``table`` is the name of its file."""

    id: str
    table: str
    text: str
    spans: Sequence[Span] = ()
    fields: Mapping[str, Any] | None = None

    def joined(self, rewrites: Sequence[Rewrite]) -> Rewrite:
        """The rewrites of all sentences of the cell as one."""
        return joined(self.text, self.spans, rewrites).model_copy(update={"id": self.id})


def cell_spans(text: str, kind: CellKind) -> tuple[Span, ...]:
    """The sentences of a cell; one in which none is found is a sentence.

    >>> [span.text for span in cell_spans("It rained. Ann left.", CellKind.TEXT)]
    ['It rained.', 'Ann left.']
    """
    whole = Span(0, len(text), text)
    found = read_document(text).sentences if kind is CellKind.TEXT else ()
    return found or (whole,)


def joined(text: str, spans: Sequence[Span], rewrites: Sequence[Rewrite]) -> Rewrite:
    """One rewrite of a text from those of its sentences.

    Places in the sources become places in the text. The confidence is that of the sentence with
    the lowest one.

    >>> text = "It rained. Ann left."
    >>> spans = cell_spans(text, CellKind.TEXT)
    >>> rewrites = [Rewrite(source=s.text, simple=[s.text], splitter="x") for s in spans]
    >>> joined(text, spans, rewrites).simple
    ('It rained.', 'Ann left.')
    """
    if len(rewrites) == 1 and spans[0].text == text:
        return rewrites[0]
    simple: list[str] = []
    parts: dict[str, list[Any]] = {"provenance": [], "findings": [], "patterns": []}
    for span, rewrite in zip(spans, rewrites, strict=True):
        places = _places(text, span)
        for sentence in rewrite.provenance or ():
            moved = [
                token.model_copy(update={"source": _moved(places, *token.source)})
                if token.source
                else token
                for token in sentence
            ]
            parts["provenance"].append(tuple(moved))
        for finding in rewrite.findings or ():
            start, end = finding.start, finding.end
            if finding.sentence is None:
                start, end = _moved(places, start, end)
                update: dict[str, object] = {"start": start, "end": end}
            else:
                update = {"sentence": finding.sentence + len(simple)}
            parts["findings"].append(finding.model_copy(update=update))
        for pattern in (rewrite.model_extra or {}).get("patterns", ()):
            start, end = _moved(places, pattern["start"], pattern["end"])
            parts["patterns"].append({**pattern, "start": start, "end": end})
        simple += rewrite.simple
    notes = dict.fromkeys(rewrite.note for rewrite in rewrites if rewrite.note)
    sure = [rewrite.confidence for rewrite in rewrites if rewrite.confidence is not None]
    extra = {key: value for each in reversed(rewrites) for key, value in _extra(each).items()}
    first = rewrites[0]
    made: dict[str, Any] = {
        "source": text,
        "simple": tuple(simple),
        "provenance": None if first.provenance is None else tuple(parts["provenance"]),
        "findings": None if first.findings is None else tuple(parts["findings"]),
        "note": " ".join(notes) or None,
        "confidence": min(sure, default=None),
        **extra,
    }
    if "patterns" in extra:
        made["patterns"] = parts["patterns"]
    return first.model_copy(update=made)


def _extra(rewrite: Rewrite) -> Mapping[str, Any]:
    return rewrite.model_extra or {}


def _moved(places: Sequence[int], start: int, end: int) -> tuple[int, int]:
    return places[start], places[end - 1] + 1 if end > start else places[start]


def _places(text: str, span: Span) -> list[int]:
    """Where in the text each character of a sentence is, and its end. White space was joined in
    the sentence, and marks in the margin were left out."""
    if text[span.start : span.end] == span.text:
        return list(range(span.start, span.end + 1))
    places, place = [], span.start
    for character in span.text:
        if not character.isspace():
            place = max(place, text.find(character, place, span.end))
        places.append(place)
        place += 1
    return [min(each, span.end) for each in [*places, span.end]]
