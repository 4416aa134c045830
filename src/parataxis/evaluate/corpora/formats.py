"""The corpus formats that come with Parataxis, each registered in ``parataxis.corpora``."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pydantic_core

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, Triple, group, one_path, references_of
from parataxis.evaluate.corpora.sentences import (
    SEP,
    WIKISPLIT_MARK,
    at_final_stops,
    at_mark,
    by_segmenter,
    cut_line,
    has_mark,
    joined_at_mark,
    on_one_line,
)
from parataxis.text.files import (
    BLANK_SIMPLE,
    BLANK_SOURCE,
    Line,
    ReadReport,
    aligned,
    name_of,
    read_lines,
    write_files,
)

# Our JSON lines: a line for each reference. Lines of one source that follow each other are its
# references; a line without the field "simple" is a sentence without any.

SPLITTER = "reference"
"""What a line of a corpus names as its splitter."""


class _MalformedError(Exception):
    """Why a record cannot be an example, in a few words."""


class Jsonl:
    """The rewrites that all commands read and write; triples are kept in fields of their own."""

    name = "jsonl"
    summary = "one file of rewrites as JSON lines; several lines a source"

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """One example for each source; blank lines are skipped, as everywhere in JSON lines."""
        return group(self._lines(one_path(paths, self.name), report))

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """One line for each reference, or one for an example without any."""
        written = 0
        with write_files([one_path(paths, self.name)]) as (write,):
            for example in examples:
                written += 1
                for record in _records(example):
                    write(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        return written

    def _lines(self, path: Path, report: ReadReport) -> Iterator[Example]:
        for number, line in read_lines(path, report):
            if not line.strip():
                continue
            try:
                yield _example(line, f"{name_of(path)}:{number}")
            except _MalformedError as error:
                report.reject(name_of(path), number, str(error))


def _example(line: str, default_id: str) -> Example:
    record = _record(line)
    source = record.get("source", record.get("complex"))
    if source is None:
        raise _MalformedError('there is neither "source" nor "complex"')
    if not isinstance(source, str) or not source.strip():
        raise _MalformedError(BLANK_SOURCE)
    own = record.get("id")
    simple = record.get("simple")
    triples = _triples(record.get("simple_triples", []))
    if triples and len(triples) != len(simple if isinstance(simple, list) else ()):
        raise _MalformedError('"simple_triples" must have an entry for each simple sentence')
    return Example(
        source.strip(),
        () if simple is None else (_sentences(simple),),
        default_id if own is None else str(own),
        triples=frozenset(*_triples([record["triples"]])) if "triples" in record else frozenset(),
        reference_triples=(triples,) if triples else (),
    )


def _record(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _MalformedError("this is not a line of JSON") from None
    if not isinstance(record, dict):
        raise _MalformedError("a record must be a JSON object")
    try:  # JSON can spell half a character, but no UTF-8 file can hold one
        pydantic_core.to_json(record)
    except pydantic_core.PydanticSerializationError:
        raise _MalformedError("there is half a character, or too much nesting") from None
    return record


def _sentences(simple: object) -> tuple[str, ...]:
    if not isinstance(simple, list) or not simple:
        raise _MalformedError('"simple" must be a list of sentences')
    if not all(isinstance(each, str) and each.strip() for each in simple):
        raise _MalformedError("a simple sentence is empty")
    return tuple(each.strip() for each in simple)


def _triples(found: object) -> tuple[frozenset[Triple], ...]:
    """Sets of triples: a list of lists of triples, which are lists of three strings."""
    if not isinstance(found, list) or not all(isinstance(triples, list) for triples in found):
        raise _MalformedError("triples must be a list")
    return tuple(frozenset(map(_triple, triples)) for triples in found)


def _triple(found: object) -> Triple:
    match found:
        case [str(subject), str(relation), str(target)]:
            return Triple(subject, relation, target)
    raise _MalformedError("a triple must be a list of three strings")


def _records(example: Example) -> Iterator[dict[str, object]]:
    common: dict[str, object] = {"id": example.id, "source": example.source}
    triples = {"triples": sorted(example.triples)} if example.triples else {}
    if not example.references:
        yield {**common, **triples}
    for place, reference in enumerate(example.references):
        record = {**common, "simple": list(reference), "splitter": SPLITTER, **triples}
        if place < len(example.reference_triples):
            record["simple_triples"] = [sorted(each) for each in example.reference_triples[place]]
        yield record


# Aligned files of one sentence a line: the sources, then as many files as there are references.
# HSplit (Sulem et al., 2018) is such a corpus, with tokenised references.


class Parallel:
    """Plain text. A file that has marks is cut at them and nowhere else, any other by the
    segmenter. What can be read only once (a pipe) is judged line by line."""

    name = "parallel"
    summary = "aligned text files, sources first; cut at <SEP> or <::::>, or else by the segmenter"

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """One example for each line of the first file."""
        if not paths:
            raise InputError(f"The format {self.name} needs a file of sources.")
        marked = [_is_marked(path) for path in paths[1:]]
        for (number, source), *lines in aligned(paths, report):
            if not source.strip():
                report.reject(name_of(paths[0]), number, BLANK_SOURCE)
                continue
            references = tuple(
                self._cut(line, marked=mark) for (_, line), mark in zip(lines, marked, strict=True)
            )
            if all(references):
                yield Example(source.strip(), references, f"{name_of(paths[0])}:{number}")
            else:
                blank = paths[1 + references.index(())]
                report.reject(name_of(blank), number, BLANK_SIMPLE)

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """The sources, and in each other file one reference of every source."""
        if not paths:
            raise InputError(f"The format {self.name} needs a file for the sources.")
        written = 0
        with write_files(paths) as (write_source, *writers):
            for example in examples:
                written += 1
                if len(example.references) != len(writers):
                    raise InputError(
                        f"{example.id} has {len(example.references)} references, but there are "
                        f"{len(writers)} files for them."
                    )
                write_source(on_one_line(example.source))
                for write, reference in zip(writers, example.references, strict=True):
                    write(self._joined(reference))
        return written

    def _cut(self, line: str, *, marked: bool = False) -> tuple[str, ...]:
        return cut_line(line, marked=marked)

    def _joined(self, reference: tuple[str, ...]) -> str:
        line = joined_at_mark(reference, SEP)
        # A mark at the end says that a sentence is whole where the segmenter would cut it.
        return line if self._cut(line) == reference else f"{line} {SEP}"


def _is_marked(path: Path) -> bool:
    return path.is_file() and any(has_mark(line) for _, line in read_lines(path, ReadReport()))


_ESCAPES = {
    "&apos;": "'",
    "&quot;": '"',
    "&lt;": "<",
    "&gt;": ">",
    "&#91;": "[",
    "&#93;": "]",
    "&#124;": "|",
    "&amp;": "&",
}
_ESCAPE = re.compile("|".join(_ESCAPES))


class HSplit(Parallel):
    """The references are tokenised by the Moses scripts, whose escapes are undone."""

    name = "hsplit"
    summary = "aligned files, sources first, then references whose sentences end in ' .'"

    def _cut(self, line: str, *, marked: bool = False) -> tuple[str, ...]:
        text = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], line)
        return at_mark(text, SEP) if SEP in text else at_final_stops(text)

    def _joined(self, reference: tuple[str, ...]) -> str:
        line = " ".join(map(on_one_line, reference))
        return line if self._cut(line) == reference else joined_at_mark(reference, SEP)


# Corpora in two files of the same length, complex sentences in one and simple ones in the other:
# BiSECT (Kim et al., 2021), MinWiki and DeSSE (Gao et al., 2021).


class _Pair:
    """Two aligned files. Each format says how the simple sentences stand in a line."""

    name: str

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """One example for each pair of lines."""
        sources, targets = self._two(paths)
        for (line, source), (number, target) in aligned(paths, report, self._sources):
            if not source.strip():
                report.reject(name_of(sources), line, BLANK_SOURCE)
            elif not (simple := self._cut(target)):
                report.reject(name_of(targets), number, BLANK_SIMPLE)
            else:
                yield Example(source.strip(), (simple,), f"{name_of(sources)}:{line}")

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """One pair of lines for each reference."""
        written = 0
        with write_files(self._two(paths)) as (write_source, write_simple):
            for example in examples:
                written += 1
                for reference in references_of(example, self.name):
                    write_source(on_one_line(example.source))
                    write_simple(self._joined(reference))
        return written

    def _two(self, paths: tuple[Path, ...]) -> tuple[Path, Path]:
        if len(paths) != 2:
            raise InputError(
                f"The format {self.name} has two files, complex and simple, not {len(paths)}."
            )
        return paths[0], paths[1]

    def _sources(self, lines: Iterator[Line]) -> Iterator[Line]:
        return lines

    def _cut(self, line: str) -> tuple[str, ...]:
        raise NotImplementedError

    def _joined(self, reference: tuple[str, ...]) -> str:
        raise NotImplementedError


class BiSECT(_Pair):
    """A mark stands between the simple sentences."""

    name = "bisect"
    summary = "two aligned files, .src and .dst, with <SEP> between simple sentences"

    def _cut(self, line: str) -> tuple[str, ...]:
        return at_mark(line, SEP)

    def _joined(self, reference: tuple[str, ...]) -> str:
        return joined_at_mark(reference, SEP)


class MinWiki(_Pair):
    """Each simple sentence ends in a stop of its own, the last one often in two of them."""

    name = "minwiki"
    summary = "two aligned files, .complex and .simple, where simple sentences end in ' .'"

    def _sources(self, lines: Iterator[Line]) -> Iterator[Line]:
        """The released test file has the final stop of each complex sentence on the next line."""
        held: Line | None = None
        for line in lines:
            if held is not None and held.text is not None and line.text == ".":
                text = held.text.rstrip()
                yield Line(held.number, f"{text}." if text else "")
                held = None
                continue
            if held is not None:
                yield held
            held = line
        if held is not None:
            yield held

    def _cut(self, line: str) -> tuple[str, ...]:
        text = line.strip()
        return at_final_stops(text[:-1] if text.endswith(" ..") else text)

    def _joined(self, reference: tuple[str, ...]) -> str:
        line = " ".join(map(_with_final_stop, reference))
        if len(self._cut(line)) != len(reference):
            raise InputError(
                f'The format {self.name} cannot tell the simple sentences apart in "{line}"; '
                "write jsonl."
            )
        return line


def _with_final_stop(sentence: str) -> str:
    """The sentence with its final mark, or else a stop, as a token of its own."""
    line = on_one_line(sentence)
    if line[-1] not in ".?!":
        return f"{line} ."
    return line if line[-2:-1] == " " else f"{line[:-1]} {line[-1]}"


class DeSSE(_Pair):
    """The simple sentences are running text."""

    name = "desse"
    summary = "two aligned files, .complex and .simple, where the simple side is running text"

    def _cut(self, line: str) -> tuple[str, ...]:
        return by_segmenter(line)

    def _joined(self, reference: tuple[str, ...]) -> str:
        return " ".join(map(on_one_line, reference))


# WikiSplit (Botha et al., 2018): a tab after the complex sentence, a mark between the simple
# ones. The text is tokenised as in the Penn Treebank, and stays so.


class WikiSplit:
    """``complex TAB simple <::::> simple``, one reference a line."""

    name = "wikisplit"
    summary = "one TSV file: complex TAB simple <::::> simple"

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """One example for each line."""
        path = one_path(paths, self.name)
        for number, line in read_lines(path, report):
            source, *simple = line.split("\t")
            if not line.strip() or not source.strip():
                report.reject(name_of(path), number, BLANK_SOURCE)
            elif not simple:
                report.reject(name_of(path), number, "there is no tab")
            elif len(simple) > 1:
                report.reject(name_of(path), number, "there are more than two columns")
            elif not (sentences := at_mark(simple[0], WIKISPLIT_MARK)):
                report.reject(name_of(path), number, BLANK_SIMPLE)
            else:
                yield Example(source.strip(), (sentences,), f"{name_of(path)}:{number}")

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """One line for each reference."""
        written = 0
        with write_files([one_path(paths, self.name)]) as (write,):
            for example in examples:
                written += 1
                for reference in references_of(example, self.name):
                    simple = joined_at_mark(reference, WIKISPLIT_MARK)
                    write(f"{on_one_line(example.source)}\t{simple}")
        return written


# Wiki-BM and Cont-BM (Zhang et al., 2020): quoted TSV with a header, one row for each reference,
# the simple side plain running text.

_COLUMNS = ("complex", "simple")
_LONGEST = 20
"""Lines that a quoted cell may take; a quotation mark left open takes no more with it."""

_BAD_QUOTES = "a quotation mark is not closed, or stands inside a quoted cell"


class _Row(NamedTuple):
    number: int
    cells: list[str] | None


class WikiBM:
    """Rows of one complex sentence that follow each other are its references."""

    name = "wiki-bm"
    summary = "one quoted TSV file with the columns complex and simple; several rows a source"

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """One example for each complex sentence."""
        return group(self._rows(one_path(paths, self.name), report))

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """A header, and one row for each reference."""
        written = 0
        with write_files([one_path(paths, self.name)]) as (write,):
            write("\t".join(_COLUMNS))
            for example in examples:
                written += 1
                for reference in references_of(example, self.name):
                    write(f"{_quoted(example.source)}\t{_quoted(' '.join(reference))}")
        return written

    def _rows(self, path: Path, report: ReadReport) -> Iterator[Example]:
        columns = dict(zip(_COLUMNS, range(2), strict=True))
        width = len(columns)
        for place, (number, cells) in enumerate(_rows(read_lines(path, report))):
            if cells is None:
                report.reject(name_of(path), number, _BAD_QUOTES)
                continue
            if place == 0:
                header = [cell.strip().lower() for cell in cells]
                if set(_COLUMNS) <= set(header):
                    columns, width = {name: header.index(name) for name in _COLUMNS}, len(header)
                    continue
            if not any(map(str.strip, cells)):
                report.reject(name_of(path), number, BLANK_SOURCE)
            elif len(cells) != width:
                report.reject(name_of(path), number, "the number of columns is wrong")
            elif not (source := on_one_line(cells[columns["complex"]])):
                report.reject(name_of(path), number, BLANK_SOURCE)
            elif not (simple := by_segmenter(cells[columns["simple"]])):
                report.reject(name_of(path), number, BLANK_SIMPLE)
            else:
                yield Example(source, (simple,), f"{name_of(path)}:{number}")


class ContBM(WikiBM):
    """The same form, for contracts."""

    name = "cont-bm"


def _rows(lines: Iterator[tuple[int, str]]) -> Iterator[_Row]:
    """The rows of a quoted TSV file, or None for the cells of a line with bad quotes."""
    ahead: deque[tuple[int, str]] = deque()
    while True:
        if not ahead:
            ahead.extend(islice(lines, 1))
        if not ahead:
            return
        number, text = ahead[0]
        cells = _cells(text)
        taken = 1
        while cells is None and taken < _LONGEST and '"' in text:
            if len(ahead) == taken:
                ahead.extend(islice(lines, 1))
            if len(ahead) == taken:
                break
            text = f"{text}\n{ahead[taken][1]}"
            taken += 1
            cells = _cells(text)
        for _ in range(1 if cells is None else taken):
            ahead.popleft()
        yield _Row(number, cells)


def _cells(row: str) -> list[str] | None:
    """The cells of a row, or None where its quotation marks do not fit."""
    cells = []
    position = 0
    while True:
        if row.startswith('"', position):
            end = position + 1
            while (end := row.find('"', end)) >= 0 and row.startswith('""', end):
                end += 2
            if end < 0 or not (end + 1 == len(row) or row[end + 1] == "\t"):
                return None
            cells.append(row[position + 1 : end].replace('""', '"'))
            end += 1
        else:
            end = row.find("\t", position)
            end = len(row) if end < 0 else end
            cells.append(row[position:end])
        if end == len(row):
            return cells
        position = end + 1


def _quoted(text: str) -> str:
    cell = on_one_line(text)
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
