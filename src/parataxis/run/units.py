"""Units: sentences that are rewritten and written together, as plain data.

A unit of running text is a block, such as a paragraph; of lines, records and tables it is a line,
record or row. What cannot be read is a unit too, with a problem in place of sentences, so that
nothing is lost. Units can be sent to other processes and machines.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from parataxis.api import DocumentRewrite
from parataxis.errors import InputError, in_words
from parataxis.rewrite.jsonl import SOURCES, field_of, id_of, read_record, source_of
from parataxis.rewrite.record import Rewrite, SourceLine
from parataxis.text.documents import Document, read_document, running_sentences, split_blocks
from parataxis.text.inputs import TextPiece
from parataxis.text.layout import LINE, next_fence
from parataxis.text.segments import Span, places_of

if TYPE_CHECKING:
    from parataxis.splitters.claims import Claim

HEADERS = ("source", "complex", "sentence")
"""The names under which the column of the sources is found if none is given."""

ID = "id"
"""The column that gives the ids."""

_SHOWN = 1 << 16  # characters of an overlong line that its record contains

_LINE_BREAKS = re.compile(r"[\n\r]+")


class CellKind(StrEnum):
    """What a cell holds: text of any number of sentences, or one sentence."""

    TEXT = "text"
    SENTENCE = "sentence"


class RowKind(StrEnum):
    """What an output row is made of: a row of the input, a sentence of it, or a claim."""

    INPUT = "input"
    SENTENCE = "sentence"
    CLAIM = "claim"


@dataclass(frozen=True)
class Columns:
    """The columns of a table, or the fields of records, that a run uses: ``text`` holds the
    sentences (None: one of :data:`HEADERS`); ``keep`` are written again (None: all)."""

    text: str | None = None
    cell: CellKind = CellKind.TEXT
    keep: Sequence[str] | None = None

    def find(self, names: Sequence[str], name: str) -> str:
        """The column with the sentences in the table ``name``; "doc.text" if there is a "doc"."""
        for each in [self.text] if self.text else HEADERS:
            if each in names or ("." in each and each.partition(".")[0] in names):
                return each
        raise self.missing(names, name)

    def missing(self, names: Sequence[str], name: str) -> InputError:
        """The error if the table ``name`` has no column with the sentences."""
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
    """The row of a unit: its file, its cell of text, the sentences in it, and the kept columns."""

    id: str
    table: str
    text: str
    spans: Sequence[Span] = ()
    fields: Mapping[str, Any] | None = None

    def joined(self, rewrites: Sequence[Rewrite]) -> Rewrite:
        return joined(self.text, self.spans, rewrites).model_copy(update={"id": self.id})


def cell_spans(text: str, kind: CellKind) -> tuple[Span, ...]:
    """The sentences of a cell; one in which none is found is a sentence.

    >>> [span.text for span in cell_spans("It rained. Ann left.", CellKind.TEXT)]
    ['It rained.', 'Ann left.']
    """
    found = read_document(text).sentences if kind is CellKind.TEXT else ()
    return found or (Span(0, len(text), text),)


def joined(text: str, spans: Sequence[Span], rewrites: Sequence[Rewrite]) -> Rewrite:
    """One rewrite of a text from those of its sentences.

    Places in the sources become places in the text; the confidence is the lowest of all, and the
    probability of a further split the highest.

    >>> text = "It rained. Ann left."
    >>> spans = cell_spans(text, CellKind.TEXT)
    >>> rewrites = [Rewrite(source=s.text, simple=[s.text], splitter="x") for s in spans]
    >>> joined(text, spans, rewrites).simple
    ('It rained.', 'Ann left.')
    """
    if len(rewrites) == 1 and spans[0].text == text:
        return rewrites[0]
    first = rewrites[0]
    simple: list[str] = []
    provenance, findings, patterns = [], [], []
    for span, rewrite in zip(spans, rewrites, strict=True):
        places = places_of(text, span)
        for sentence in rewrite.provenance or ():
            provenance.append(
                tuple(
                    token.model_copy(update={"source": _moved(places, *token.source)})
                    if token.source
                    else token
                    for token in sentence
                )
            )
        for finding in rewrite.findings or ():
            update: dict[str, object] = {"sentence": (finding.sentence or 0) + len(simple)}
            if finding.sentence is None:
                start, end = _moved(places, finding.start, finding.end)
                update = {"start": start, "end": end}
            findings.append(finding.model_copy(update=update))
        for pattern in (rewrite.model_extra or {}).get("patterns", ()):
            start, end = _moved(places, pattern["start"], pattern["end"])
            patterns.append({**pattern, "start": start, "end": end})
        simple += rewrite.simple
    notes = dict.fromkeys(rewrite.note for rewrite in rewrites if rewrite.note)
    sure = [rewrite.confidence for rewrite in rewrites if rewrite.confidence is not None]
    further = [rewrite.further for rewrite in rewrites if rewrite.further is not None]
    made: dict[str, Any] = {
        "source": text,
        "simple": tuple(simple),
        "provenance": None if first.provenance is None else tuple(provenance),
        "findings": None if first.findings is None else tuple(findings),
        "note": " ".join(notes) or None,
        "confidence": min(sure, default=None),
        "further": max(further, default=None),
    }
    for rewrite in reversed(rewrites):
        made.update(rewrite.model_extra or {})
    if "patterns" in made:
        made["patterns"] = patterns
    return first.model_copy(update=made)


def _moved(places: Sequence[int], start: int, end: int) -> tuple[int, int]:
    return places[start], places[end - 1] + 1 if end > start else places[start]


class BadRecord(NamedTuple):
    """Something that could not be read or rewritten; ``source`` is its text."""

    id: str
    where: str
    complaint: str
    source: str

    def __str__(self) -> str:
        return f"{self.where}: {self.complaint}."

    @property
    def line(self) -> bytes:
        """The problem as a line of JSON."""
        named = zip(("id", "where", "error", "source"), self, strict=True)
        fields = {name: text.encode("utf-8", "replace").decode() for name, text in named}
        return f"{json.dumps(fields, ensure_ascii=False)}\n".encode()


@dataclass(frozen=True)
class Layout:
    """A text with its sentences, and what stands before and after it; called with their rewrites,
    it makes the text that these result in. With ``on_a_line``, line breaks become spaces."""

    document: Document
    before: str = ""
    after: str = ""
    on_a_line: bool = False

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        is_split = any(rewrite.is_split for rewrite in rewrites)
        text = DocumentRewrite(self.document, rewrites).text if is_split else self.document.text
        return f"{self.before}{_one_line(text) if self.on_a_line else text}{self.after}"


@dataclass(frozen=True)
class Unit:
    """Sentences with their ids; ``rebuild`` makes the text that their rewrites result in. ``size``
    is its number of bytes in the input. ``row`` is the row that it comes from, if it comes from a
    table or a record. Running text starts at the character ``start`` of the file ``file``."""

    sentences: Sequence[SourceLine]
    rebuild: Layout
    size: int
    problem: BadRecord | None = None
    row: Row | None = None
    file: str | None = None
    start: int = 0


def unit_claims(
    results: Sequence[tuple[Unit, Sequence[Rewrite]]], *, names: bool = False
) -> Iterator["list[Claim]"]:
    """The claims of each unit. The document of a claim is the row, the line or the file."""
    from parataxis.splitters.claims import ClaimDocument, find_claims

    documents = []
    for unit, rewrites in results:
        ids = [sentence.id for sentence in unit.sentences]
        if unit.row:
            text, spans, name = unit.row.text, unit.row.spans, unit.row.id
        else:
            document = unit.rebuild.document
            text, spans = document.text, document.sentences
            name = unit.file or next(iter(ids), "")
        kept = spans if unit.sentences else ()
        documents.append(ClaimDocument(text, kept, rewrites, ids, name, unit.start))
    return iter(find_claims(documents, names=names))


def line_units(lines: Iterable[str], name: str) -> Iterator[Unit]:
    """A sentence on each line; blank lines are units without one."""

    def unit(number: int, line: str) -> Unit:
        sentence = line.strip()
        if not sentence:
            return Unit((), _same(line), len(line.encode()))
        return _sentence_unit(SourceLine(f"{name}:{number}", sentence), line)

    return each_line(lines, name, unit)


def tsv_units(lines: Iterable[str], name: str) -> Iterator[Unit]:
    """The first column; a header, and rows that repeat the source above them, are skipped."""
    from parataxis.text.files import unquoted

    last = ""

    def unit(number: int, line: str) -> Unit | None:
        nonlocal last
        sentence = unquoted(line.rstrip("\r\n").split("\t")[0]).strip()
        if (number == 1 and sentence.lower() in HEADERS) or not line.strip():
            return None
        if not sentence:
            return problem_unit(name, number, "the first column is empty", line, source="")
        is_repeated, last = sentence == last, sentence
        if is_repeated:
            return None
        return _sentence_unit(SourceLine(f"{name}:{number}", sentence), f"{sentence}\n")

    return each_line(lines, name, unit)


def json_units(lines: Iterable[str], name: str, columns: Columns) -> Iterator[Unit]:
    """The records of JSON lines; blank lines are skipped."""
    fields = [columns.text] if columns.text else SOURCES

    def unit(number: int, line: str) -> Unit | None:
        if not line.strip():
            return None
        record = None
        try:
            record = read_record(line, name, number)
            cell = source_of(record, name, number, fields)
            complaint = not_text(cell)
        except InputError as error:
            complaint = str(error).removeprefix(f"{name}, line {number}: ").removesuffix(".")
        if record is None:
            return problem_unit(name, number, complaint, line, own=_own_id(line))
        row = Row(id_of(record, name, number), name, "", (), kept_fields(record, columns))
        if complaint:
            return problem_unit(name, number, complaint, line, own=row.id, row=row)
        return row_unit(row, cell, columns, size=len(line.encode()))

    return each_line(lines, name, unit)


def kept_fields(record: Mapping[str, Any], columns: Columns) -> Mapping[str, Any]:
    if columns.keep is None:
        return record
    return {each: field_of(record, each) for each in columns.keep}


def _own_id(line: str) -> str | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    own = record.get(ID) if isinstance(record, dict) else None
    return None if own is None else str(own)


def each_line(
    lines: Iterable[str], name: str, read: Callable[[int, str], Unit | None]
) -> Iterator[Unit]:
    """What ``read`` makes of each line and its number, and a problem for one that is not text."""
    number = 0
    for line in lines:
        if isinstance(line, TextPiece) and not line.is_first:
            yield rest_unit(line)
            continue
        number += 1
        if complaint := not_text(line):
            yield problem_unit(name, number, complaint, line)
        elif unit := read(number, line):
            yield unit


def not_text(line: str) -> str:
    """What is wrong with a line that was read with "surrogateescape", or nothing."""
    if isinstance(line, TextPiece):
        return "the line is too long; only its beginning stands in the record"
    if "\0" in line:
        return "there is a NUL character in it, so it is not text"
    try:
        line.encode()
    except UnicodeEncodeError:
        return "the bytes are not UTF-8 text"
    return ""


def block_units(lines: Iterable[str], name: str, skip: int = 0, start: int = 0) -> Iterator[Unit]:
    """The blocks of running text. In a block with lines that are not text, each of these is a
    problem, and what stands between them is a block of its own. The units before byte ``start``,
    and ``skip`` after them, come without sentences, which takes less time."""
    number, line, column, at, place = 0, 1, 1, 0, 0
    for block, opened in split_blocks(lines):
        for text, fence, complaint in _stretches(block, opened):
            number += at >= start
            if complaint:
                unit = problem_unit(name, line, complaint, text, source=text)
            else:
                spans = running_sentences(text, fence) if number > skip else ()
                unit = _block_unit(Document(text, tuple(spans)), name, line, column)
                unit = replace(unit, file=name, start=place)
            at += unit.size
            yield unit
            line, column = _after(text, line, column)
            place += len(text)


def _stretches(block: str, fence: str) -> Iterator[tuple[str, str, str]]:
    """The parts of a block: lines that are not text, and all between them. With each comes the
    code fence that is open where it begins, and what is wrong with it."""
    if not not_text(block):
        yield block, fence, ""
        return
    for complaint, lines in groupby(filter(None, LINE.findall(block)), not_text):
        for text in lines if complaint else ["".join(lines)]:
            yield text, fence, complaint
            fence = reduce(lambda fence, line: next_fence(line, fence), LINE.findall(text), fence)


def marked(units: Iterable[Unit], mark: Callable[[], str]) -> Iterator[Unit]:
    """The units of a file, the first one with its byte order mark; ``mark`` returns that once the
    first unit has been read."""
    is_first = True
    for unit in units:
        if is_first and mark():
            unit = replace(unit, rebuild=replace(unit.rebuild, before=mark() + unit.rebuild.before))
        yield unit
        is_first = False
    if is_first and mark():
        yield Unit((), _same(mark()), 0)


def row_unit(row: Row, cell: str, columns: Columns, *, size: int) -> Unit:
    spans = cell_spans(cell, columns.cell)
    row = replace(row, text=cell, spans=spans)
    if len(spans) == 1 and spans[0].text == cell:
        sentence = SourceLine(row.id, cell)
        return replace(_sentence_unit(sentence, f"{_one_line(cell)}\n"), size=size, row=row)
    sentences = [
        SourceLine(f"{row.id}:{number}" if len(spans) > 1 else row.id, span.text)
        for number, span in enumerate(spans, start=1)
    ]
    layout = Layout(Document(cell, spans), after="\n", on_a_line=True)
    return Unit(sentences, layout, size, row=row)


def problem_unit(
    name: str,
    number: int,
    complaint: str,
    line: str,
    *,
    source: str | None = None,
    word: str = "line",
    own: str | None = None,
    row: Row | None = None,
) -> Unit:
    """A unit for something that cannot be read: ``line`` is how it is passed through as text,
    ``source`` what its record contains (None: the line)."""
    if source is None:
        source = line.rstrip("\r\n")[: _SHOWN if isinstance(line, TextPiece) else None]
    problem = BadRecord(own or f"{name}:{number}", f"{name}, {word} {number}", complaint, source)
    return Unit((), _same(line), len(line.encode("utf-8", "surrogateescape")), problem, row)


def rest_unit(piece: TextPiece) -> Unit:
    """A unit for a piece of a line that is too long, of which the first piece is the problem."""
    return Unit((), _same(str(piece)), len(piece))


def broken_unit(name: str, error: Exception) -> Unit:
    """A unit for the rest of a file that is damaged after what was read of it."""
    complaint = f"the file is damaged, so the rest of it cannot be read ({in_words(error)})"
    return Unit((), _same(""), 0, BadRecord(f"{name}:rest", name, complaint, ""))


def too_long(unit: Unit, most: int) -> Unit:
    """The unit; or one that passes it through if a sentence has more than ``most`` characters."""
    if all(len(sentence.source) <= most for sentence in unit.sentences):
        return unit
    sentence = max(unit.sentences, key=lambda each: len(each.source))
    complaint = f"it has {len(sentence.source):,} characters, and no sentence has over {most:,}"
    source = unit.row.text if unit.row else sentence.source
    problem = BadRecord(sentence.id, sentence.id, complaint, source)
    return replace(unit, sentences=(), rebuild=_same(unit.rebuild([])), problem=problem)


def _same(text: str) -> Layout:
    return Layout(Document(str(text), ()))


def _block_unit(block: Document, name: str, line: int, column: int) -> Unit:
    sentences, end = [], 0
    for span in block.sentences:
        line, column = _after(block.text[end : span.start], line, column)
        end = span.start
        sentences.append(SourceLine(f"{name}:{line}:{column}", span.text))
    return Unit(sentences, Layout(block), len(block.text.encode()))


def _after(text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column after a text that starts at ``line`` and ``column``."""
    breaks = text.count("\n")
    if not breaks:
        return line, column + len(text)
    return line + breaks, len(text) - text.rfind("\n")


def _sentence_unit(sentence: SourceLine, line: str) -> Unit:
    whole = line.strip()
    before, _, after = line.partition(whole)
    document = Document(whole, (Span(0, len(whole), whole),))
    return Unit([sentence], Layout(document, before, after, on_a_line=True), len(line.encode()))


def _one_line(text: str) -> str:
    """The text with spaces for its line breaks, so that a record stays a line."""
    parts = (part.strip() for part in _LINE_BREAKS.split(text))
    return " ".join(part for part in parts if part)
