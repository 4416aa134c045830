"""Units: sentences that are rewritten together and written together, as plain data.

A unit of running text is a block (a paragraph, say); of lines, records and tables it is a line,
record or row. What cannot be read is a unit too, with a problem in place of sentences, so that
nothing is lost. Units can be sent to other processes and machines.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple

from parataxis.api import DocumentRewrite
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SOURCES, field_of, id_of, read_record, source_of
from parataxis.rewrite.record import Rewrite, SourceLine
from parataxis.run.files import in_words
from parataxis.run.rows import HEADERS, Columns, Row, cell_spans
from parataxis.text.documents import Document, split_blocks
from parataxis.text.inputs import TextPiece
from parataxis.text.layout import LINE, next_fence
from parataxis.text.segments import sentence_spans

NOT_UTF8 = "the bytes are not UTF-8 text"

_SHOWN = 1 << 16
"""Characters of an overlong line that its record contains."""

_LINE_BREAKS = re.compile(r"[\n\r]+")


class BadRecord(NamedTuple):
    """Something that could not be read or rewritten; ``source`` is its text."""

    id: str
    where: str
    complaint: str
    source: str

    def __str__(self) -> str:
        return f"{self.where}: {self.complaint}."


@dataclass(frozen=True)
class Unit:
    """Sentences with their ids; ``rebuild`` makes the text that their rewrites result in.

    ``size`` is its number of bytes in the input. ``row`` is the row that it comes from, where it
    comes from a table or a record.
    """

    sentences: Sequence[SourceLine]
    rebuild: Callable[[Sequence[Rewrite]], str]
    size: int
    problem: BadRecord | None = None
    row: Row | None = None


@dataclass(frozen=True)
class _Same:
    """Text that is written as it was read."""

    text: str

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        return self.text


@dataclass(frozen=True)
class _Line:
    """One sentence on a line, with what stands before and after it."""

    before: str
    sentence: str
    after: str

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        is_split = any(rewrite.is_split for rewrite in rewrites)
        simple = _one_line(" ".join(rewrites[0].simple)) if is_split else self.sentence
        return f"{self.before}{simple}{self.after}"


@dataclass(frozen=True)
class _Block:
    """A block of a document, or (``on_a_line``) a cell that is written as a line."""

    block: Document
    on_a_line: bool = False

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        text = DocumentRewrite(self.block, rewrites).text
        return f"{_one_line(text)}\n" if self.on_a_line else text


@dataclass(frozen=True)
class _Marked:
    """The first text of a file with a byte order mark."""

    mark: str
    rebuild: Callable[[Sequence[Rewrite]], str]

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        return self.mark + self.rebuild(rewrites)


def line_units(lines: Iterable[str], name: str) -> Iterator[Unit]:
    """A sentence on each line; blank lines are units without one."""

    def unit(number: int, line: str) -> Unit:
        sentence = line.strip()
        if not sentence:
            return Unit((), _Same(line), len(line.encode()))
        return _sentence_unit(SourceLine(f"{name}:{number}", sentence), line)

    return each_line(lines, name, unit)


def tsv_units(lines: Iterable[str], name: str) -> Iterator[Unit]:
    """The first column; a header, and rows that repeat the source above them, are passed over."""
    from parataxis.text.files import unquoted

    last = ""

    def unit(number: int, line: str) -> Unit | None:
        nonlocal last
        sentence = unquoted(line.rstrip("\r\n").split("\t")[0]).strip()
        if (number == 1 and sentence.lower() in HEADERS) or not line.strip():
            return None
        if not sentence:
            return problem_unit(name, number, "the first column is empty", "", line)
        is_repeated, last = sentence == last, sentence
        if is_repeated:
            return None
        return _sentence_unit(SourceLine(f"{name}:{number}", sentence), f"{sentence}\n")

    return each_line(lines, name, unit)


def json_units(lines: Iterable[str], name: str, columns: Columns) -> Iterator[Unit]:
    """The records of JSON lines; blank lines are passed over."""
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
            return bad_line(name, number, complaint, line, own=_own_id(line))
        row = Row(id_of(record, name, number), name, "", (), kept_fields(record, columns))
        if complaint:
            return bad_line(name, number, complaint, line, own=row.id, row=row)
        return row_unit(row, cell, columns, size=len(line.encode()))

    return each_line(lines, name, unit)


def kept_fields(record: Mapping[str, Any], columns: Columns) -> Mapping[str, Any]:
    """The fields of a record that are written again."""
    if columns.keep is None:
        return record
    return {each: field_of(record, each) for each in columns.keep}


def _own_id(line: str) -> str | None:
    """The id in a line of JSON that is no good record otherwise."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    own = record.get("id") if isinstance(record, dict) else None
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
            yield bad_line(name, number, complaint, line)
        elif unit := read(number, line):
            yield unit


def not_text(line: str) -> str:
    """What is wrong with a line that was read with "surrogateescape", or nothing."""
    if isinstance(line, TextPiece):
        return "the line is too long; only its beginning stands in the record"
    if "\0" in line:
        return "there is a NUL character in it, so it is not text"
    return "" if is_utf8(line) else NOT_UTF8


def block_units(lines: Iterable[str], name: str, skip: int = 0) -> Iterator[Unit]:
    """The blocks of running text. In a block with lines that are not text, each of these is a
    problem, and what stands between them is a block of its own. The first ``skip`` units come
    without sentences, which takes less time."""
    number, line, column = 0, 1, 1
    for block, opened in split_blocks(lines):
        for text, fence, complaint in _stretches(block, opened):
            number += 1
            if complaint:
                yield problem_unit(name, line, complaint, text, text)
            else:
                spans = sentence_spans(text, fence=fence) if number > skip else ()
                yield _block_unit(Document(text, tuple(spans)), name, line, column)
            line, column = _after(text, line, column)


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
    """The units of a file whose byte order mark comes back too; ``mark`` tells it, once the first
    unit has been read."""
    is_first = True
    for unit in units:
        yield replace(unit, rebuild=_Marked(mark(), unit.rebuild)) if is_first and mark() else unit
        is_first = False
    if is_first and mark():
        yield Unit((), _Same(mark()), 0)


def row_unit(row: Row, cell: str, columns: Columns, *, size: int) -> Unit:
    """The unit of a row with the sentences of its cell."""
    spans = cell_spans(cell, columns.cell)
    row = replace(row, text=cell, spans=spans)
    if len(spans) == 1:
        sentence = SourceLine(row.id, spans[0].text)
        if spans[0].text == cell:
            return replace(_sentence_unit(sentence, f"{_one_line(cell)}\n", size=size), row=row)
    sentences = [
        SourceLine(f"{row.id}:{number}" if len(spans) > 1 else row.id, span.text)
        for number, span in enumerate(spans, start=1)
    ]
    return Unit(sentences, _Block(Document(cell, spans), on_a_line=True), size, row=row)


def problem_unit(
    name: str,
    number: int,
    complaint: str,
    source: str,
    line: str,
    *,
    word: str = "line",
    own: str | None = None,
    row: Row | None = None,
) -> Unit:
    """A unit for something that cannot be read; ``line`` is how it is passed through as text."""
    problem = BadRecord(own or f"{name}:{number}", f"{name}, {word} {number}", complaint, source)
    return Unit((), _Same(line), len(line.encode("utf-8", "surrogateescape")), problem, row)


def bad_line(
    name: str,
    number: int,
    complaint: str,
    line: str,
    *,
    own: str | None = None,
    row: Row | None = None,
) -> Unit:
    """A unit for a line, or a row of several, that cannot be read."""
    source = line.rstrip("\r\n")
    shown = source[:_SHOWN] if isinstance(line, TextPiece) else source
    return problem_unit(name, number, complaint, shown, line, own=own, row=row)


def rest_unit(piece: TextPiece) -> Unit:
    """A unit for a piece of a line that is too long, of which the first piece is the problem."""
    return Unit((), _Same(str(piece)), len(piece))


def broken_unit(name: str, error: Exception) -> Unit:
    """A unit for the rest of a file that is broken after what was read of it."""
    complaint = f"the file is broken, so that its rest cannot be read ({in_words(error)})"
    return Unit((), _Same(""), 0, BadRecord(f"{name}:rest", name, complaint, ""))


def too_long(unit: Unit, most: int) -> Unit:
    """The unit; or, where its sentence has more characters, one that passes it through."""
    if all(len(sentence.source) <= most for sentence in unit.sentences):
        return unit
    sentence = max(unit.sentences, key=lambda each: len(each.source))
    complaint = f"it has {len(sentence.source):,} characters, and no sentence has over {most:,}"
    source = unit.row.text if unit.row else sentence.source
    problem = BadRecord(sentence.id, sentence.id, complaint, source)
    return replace(unit, sentences=(), rebuild=_Same(unit.rebuild([])), problem=problem)


def is_utf8(text: str) -> bool:
    """Whether a text that was read with "surrogateescape" was UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _block_unit(block: Document, name: str, line: int, column: int) -> Unit:
    sentences, end = [], 0
    for span in block.sentences:
        line, column = _after(block.text[end : span.start], line, column)
        end = span.start
        sentences.append(SourceLine(f"{name}:{line}:{column}", span.text))
    return Unit(sentences, _Block(block), len(block.text.encode()))


def _after(text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column after a text that starts at ``line`` and ``column``."""
    breaks = text.count("\n")
    if not breaks:
        return line, column + len(text)
    return line + breaks, len(text) - text.rfind("\n")


def _sentence_unit(sentence: SourceLine, line: str, *, size: int | None = None) -> Unit:
    whole = line.strip()
    before, _, after = line.partition(whole)
    return Unit([sentence], _Line(before, whole, after), size or len(line.encode()))


def _one_line(text: str) -> str:
    """The text with spaces for its line breaks, so that a record stays a line."""
    parts = (part.strip() for part in _LINE_BREAKS.split(text))
    return " ".join(part for part in parts if part)
