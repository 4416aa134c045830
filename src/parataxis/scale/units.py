"""Units: sentences that are rewritten together and written together, as plain data.

A unit of running text is a block (a paragraph, say); where each line or row is a sentence, it is
that line or row. What cannot be read is a unit too, with a problem in place of sentences, so that
nothing is lost. Units can be sent to other processes and machines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from parataxis.api import DocumentRewrite
from parataxis.corpora.files import unquoted
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine, read_source
from parataxis.rewrite.record import Rewrite
from parataxis.text.documents import Document, read_blocks

__all__ = [
    "HEADERS",
    "Piece",
    "Problem",
    "Unit",
    "block_units",
    "broken_unit",
    "cell_unit",
    "each_line",
    "gathered",
    "json_units",
    "line_units",
    "not_text",
    "problem_unit",
    "tsv_units",
]

HEADERS = ("source", "complex", "sentence")
"""What the column of the sources is called in files of pairs."""

NOT_UTF8 = "the bytes are not UTF-8 text"

_SHOWN = 1 << 16
"""Characters of a line that is not text that stand in its record."""

_LINE_BREAKS = re.compile(r"[\n\r]+")


class Problem(NamedTuple):
    """Something that could not be read or rewritten: ``source`` is what stood there."""

    id: str
    where: str
    complaint: str
    source: str

    def __str__(self) -> str:
        return f"{self.where}: {self.complaint}."


@dataclass(frozen=True)
class Unit:
    """Sentences with their ids; ``rebuild`` makes the text that their rewrites result in.

    ``size`` is the number of bytes that it had in the input.
    """

    sentences: Sequence[SourceLine]
    rebuild: Callable[[Sequence[Rewrite]], str]
    size: int
    problem: Problem | None = None


@dataclass(frozen=True)
class _Same:
    """Comes back as it was."""

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
        rewrite = rewrites[0]
        simple = _one_line(" ".join(rewrite.simple)) if rewrite.is_split else self.sentence
        return f"{self.before}{simple}{self.after}"


@dataclass(frozen=True)
class _Block:
    """A block of a document; ``mark`` is the byte order mark that the document begins with."""

    block: Document
    mark: str = ""

    def __call__(self, rewrites: Sequence[Rewrite]) -> str:
        return self.mark + DocumentRewrite(self.block, rewrites).text


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


def json_units(
    lines: Iterable[str], name: str, fields: Sequence[str] = ("source", "complex")
) -> Iterator[Unit]:
    """The first of these fields of each record; blank lines are passed over."""

    def unit(number: int, line: str) -> Unit | None:
        if not line.strip():
            return None
        try:
            record = read_source(line, name, number, fields)
        except InputError as error:
            complaint = str(error).removeprefix(f"{name}, line {number}: ").removesuffix(".")
            return problem_unit(name, number, complaint, line.rstrip("\r\n"), line)
        return _sentence_unit(record, f"{_one_line(record.source)}\n", size=len(line.encode()))

    return each_line(lines, name, unit)


class Piece(str):
    """A part of a line that is too long to be read as one."""

    is_first = False


def each_line(
    lines: Iterable[str], name: str, read: Callable[[int, str], Unit | None]
) -> Iterator[Unit]:
    """What ``read`` makes of each line and its number, and a problem for one that is not text."""
    number = 0
    for line in lines:
        if isinstance(line, Piece) and not line.is_first:
            yield Unit((), _Same(str(line)), len(line))
            continue
        number += 1
        if complaint := not_text(line):
            yield problem_unit(name, number, complaint, line.rstrip("\r\n")[:_SHOWN], line)
        elif unit := read(number, line):
            yield unit


def not_text(line: str) -> str:
    """What is wrong with a line that was read with "surrogateescape", or nothing."""
    if isinstance(line, Piece):
        return "the line is too long; only its beginning stands in the record"
    if "\0" in line:
        return "there is a NUL character in it, so it is not text"
    return "" if is_utf8(line) else NOT_UTF8


def block_units(lines: Iterable[str], name: str, mark: Callable[[], str] = str) -> Iterator[Unit]:
    """The blocks of running text; ``mark`` tells the byte order mark before the first."""
    line, column = 1, 1
    for block in read_blocks(lines):
        if complaint := not_text(block.text):
            wrong = (at for at, text in enumerate(block.text.split("\n"), line) if not_text(text))
            unit = problem_unit(name, next(wrong), complaint, block.text, block.text)
        else:
            unit = _block_unit(block, name, line, column)
        if (line, column) == (1, 1) and mark():
            unit = replace(unit, rebuild=_Block(block, mark()))
        yield unit
        line, column = _after(block.text, line, column)


def cell_unit(own: str | None, name: str, number: int, cell: str, *, size: int) -> Unit:
    """The unit of a sentence that stands in a cell of a table."""
    sentence = SourceLine(own or f"{name}:{number}", cell)
    return _sentence_unit(sentence, f"{_one_line(cell)}\n", size=size)


def problem_unit(
    name: str,
    number: int,
    complaint: str,
    source: str,
    line: str,
    *,
    word: str = "line",
    own: str | None = None,
) -> Unit:
    """A unit for something that cannot be read; ``line`` is how it is passed through as text."""
    problem = Problem(own or f"{name}:{number}", f"{name}, {word} {number}", complaint, source)
    return Unit((), _Same(line), len(line.encode("utf-8", "surrogateescape")), problem)


def broken_unit(name: str, number: int, error: Exception) -> Unit:
    """A unit for the rest of a file that is broken after so many units."""
    complaint = f"the file is broken after this, so that its rest cannot be read ({error})"
    return problem_unit(name, number, complaint, "", "", word="record")


def is_utf8(text: str) -> bool:
    """Whether a text that was read with "surrogateescape" was UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def gathered(
    units: Iterable[Unit], sentences: int, most: int, is_ready: Callable[[], bool]
) -> Iterator[list[Unit]]:
    """Put units together as long as the next one is there without waiting: until they hold so many
    sentences, and at most ``most`` units."""
    batch: list[Unit] = []
    count = 0
    for unit in units:
        batch.append(unit)
        count += len(unit.sentences)
        if count >= sentences or len(batch) >= most or not is_ready():
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


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
