"""The corpus formats that come with Parataxis, each registered in ``parataxis.corpora``."""

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from html import unescape
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pydantic_core

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, MalformedError, Triple, group
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
    from_plain_cell,
    name_of,
    plain_cell,
    read_lines,
    write_files,
)

SPLITTER = "reference"
"""The splitter that a line of a corpus names."""


class _Cell(NamedTuple):
    """A text of a corpus, and where it stands."""

    file: str
    line: int
    text: str


class _TextFormat:
    """The base of formats that are one or more text files of one line for each reference."""

    name: str
    files = "one file"
    number = 1
    """How many files there are; 0 for any number."""
    header = ""
    mark = ""
    """What stands between simple sentences; without it the segmenter cuts."""
    grouped = False
    """Whether lines of one source that follow each other are its references."""

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        examples = self._examples(self._checked(paths), report)
        return group(examples) if self.grouped else examples

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        written = 0
        with write_files(self._checked(paths)) as writers:
            if self.header:
                writers[0](self.header)
            for example in examples:
                written += 1
                for row in self._lines(example, len(paths)):
                    for write, line in zip(writers, row, strict=True):
                        write(line)
        return written

    def _checked(self, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        if len(paths) != (self.number or max(1, len(paths))):
            raise InputError(f"The format {self.name} has {self.files}, not {len(paths)}.")
        return paths

    def _examples(self, paths: Sequence[Path], report: ReadReport) -> Iterator[Example]:
        cutters = self._cutters(paths)
        for source, *lines in self._rows(paths, report):
            if not source.text.strip():
                report.reject(source.file, source.line, BLANK_SOURCE)
                continue
            references = tuple(cut(line.text) for cut, line in zip(cutters, lines, strict=True))
            if all(references):
                yield Example(source.text.strip(), references, f"{source.file}:{source.line}")
            else:
                blank = lines[references.index(())]
                report.reject(blank.file, blank.line, BLANK_SIMPLE)

    def _rows(self, paths: Sequence[Path], report: ReadReport) -> Iterator[list[_Cell]]:
        names = [name_of(path) for path in paths]
        for row in aligned(paths, report, self._sources):
            yield [_Cell(name, *line) for name, line in zip(names, row, strict=True)]

    def _sources(self, lines: Iterator[Line]) -> Iterator[Line]:
        return lines

    def _cutters(self, paths: Sequence[Path]) -> list[Callable[[str], tuple[str, ...]]]:
        """How each reference is cut into simple sentences."""
        return [self._cut] * max(1, len(paths) - 1)

    def _lines(self, example: Example, files: int) -> Iterator[Sequence[str]]:
        """For each reference the lines that the files get; a source without one is refused."""
        if not example.references:
            raise InputError(
                f"{example.id} has no reference, which the format {self.name} cannot hold; "
                "write jsonl."
            )
        for reference in example.references:
            yield self._line(on_one_line(example.source), self._joined(reference))

    def _line(self, source: str, simple: str) -> Sequence[str]:
        return source, simple

    def _cut(self, line: str) -> tuple[str, ...]:
        return at_mark(line, self.mark) if self.mark else by_segmenter(line)

    def _joined(self, reference: tuple[str, ...]) -> str:
        if self.mark:
            return joined_at_mark(reference, self.mark)
        return " ".join(map(on_one_line, reference))


class Jsonl(_TextFormat):
    """The JSON lines that all commands read and write; triples are kept in fields of their own. A
    line without the field "simple" is a sentence without references."""

    name = "jsonl"
    summary = "one file of rewrites as JSON lines; several lines a source"
    grouped = True

    def _examples(self, paths: Sequence[Path], report: ReadReport) -> Iterator[Example]:
        name = name_of(paths[0])
        for number, line in read_lines(paths[0], report):
            if not line.strip():
                continue
            try:
                yield _example(line, f"{name}:{number}")
            except MalformedError as error:
                report.reject(name, number, str(error))

    def _lines(self, example: Example, files: int) -> Iterator[Sequence[str]]:
        common: dict[str, object] = {"id": example.id, "source": example.source}
        triples = {"triples": sorted(example.triples)} if example.triples else {}
        records = [
            {**common, "simple": list(reference), "splitter": SPLITTER, **triples}
            for reference in example.references
        ]
        for record, found in zip(records, example.reference_triples, strict=False):
            record["simple_triples"] = [sorted(each) for each in found]
        for record in records or [{**common, **triples}]:
            yield (json.dumps(record, ensure_ascii=False, separators=(",", ":")),)


def _example(line: str, default_id: str) -> Example:
    record = _record(line)
    source = record.get("source", record.get("complex"))
    if source is None:
        raise MalformedError('there is neither "source" nor "complex"')
    if not isinstance(source, str) or not source.strip():
        raise MalformedError(BLANK_SOURCE)
    own = record.get("id")
    simple = record.get("simple")
    triples = _triples(record.get("simple_triples", []))
    if triples and len(triples) != len(simple if isinstance(simple, list) else ()):
        raise MalformedError('"simple_triples" must have an entry for each simple sentence')
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
        raise MalformedError("this is not a line of JSON") from None
    if not isinstance(record, dict):
        raise MalformedError("a record must be a JSON object")
    try:  # JSON can spell half a character, but no UTF-8 file can hold one
        pydantic_core.to_json(record)
    except pydantic_core.PydanticSerializationError:
        raise MalformedError("there is half a character, or too much nesting") from None
    return record


def _sentences(simple: object) -> tuple[str, ...]:
    if not isinstance(simple, list) or not simple:
        raise MalformedError('"simple" must be a list of sentences')
    if not all(isinstance(each, str) and each.strip() for each in simple):
        raise MalformedError("a simple sentence is empty")
    return tuple(each.strip() for each in simple)


def _triples(found: object) -> tuple[frozenset[Triple], ...]:
    """Sets of triples: a list of lists of triples, which are lists of three strings."""
    if not isinstance(found, list) or not all(isinstance(triples, list) for triples in found):
        raise MalformedError("triples must be a list")
    return tuple(frozenset(map(_triple, triples)) for triples in found)


def _triple(found: object) -> Triple:
    match found:
        case [str(subject), str(relation), str(target)]:
            return Triple(subject, relation, target)
    raise MalformedError("a triple must be a list of three strings")


class Parallel(_TextFormat):
    """Aligned files of one text a line: the sources, then a file for each reference. A file that
    has marks is cut at them and nowhere else, any other by the segmenter. Input that can be read
    only once (a pipe) is judged line by line."""

    name = "parallel"
    summary = "aligned text files, sources first; cut at <SEP> or <::::>, or else by the segmenter"
    files = "a file of sources and a file for each reference"
    number = 0

    def _cutters(self, paths: Sequence[Path]) -> list[Callable[[str], tuple[str, ...]]]:
        return [partial(cut_line, marked=_is_marked(path)) for path in paths[1:]]

    def _lines(self, example: Example, files: int) -> Iterator[Sequence[str]]:
        if len(example.references) != files - 1:
            raise InputError(
                f"{example.id} has {len(example.references)} references, but there are "
                f"{files - 1} files for them."
            )
        yield on_one_line(example.source), *map(self._joined, example.references)

    def _joined(self, reference: tuple[str, ...]) -> str:
        line = joined_at_mark(reference, SEP)
        # A mark at the end keeps the segmenter from cutting a sentence.
        return line if cut_line(line, marked=False) == reference else f"{line} {SEP}"


def _is_marked(path: Path) -> bool:
    return path.is_file() and any(has_mark(line) for _, line in read_lines(path, ReadReport()))


class HSplit(Parallel):
    """HSplit (Sulem et al. 2018). Its references are tokenised by the Moses scripts, whose escapes
    (such as "&#91;" and "&apos;") are undone."""

    name = "hsplit"
    summary = "aligned files, sources first, then references whose sentences end in ' .'"

    def _cutters(self, paths: Sequence[Path]) -> list[Callable[[str], tuple[str, ...]]]:
        return [self._cut] * (len(paths) - 1)

    def _cut(self, line: str) -> tuple[str, ...]:
        text = _MOSES.sub(lambda found: unescape(found[0]), line)
        return at_mark(text, SEP) if SEP in text else at_final_stops(text)

    def _joined(self, reference: tuple[str, ...]) -> str:
        line = " ".join(map(on_one_line, reference))
        return line if self._cut(line) == reference else joined_at_mark(reference, SEP)


_MOSES = re.compile("&(?:apos|quot|lt|gt|#91|#93|#124|amp);")


class BiSECT(_TextFormat):
    """BiSECT (Kim et al. 2021): two aligned files, with a mark between simple sentences."""

    name = "bisect"
    summary = "two aligned files, .src and .dst, with <SEP> between simple sentences"
    files = "two files, complex and simple"
    number = 2
    mark = SEP


class MinWiki(_TextFormat):
    """MinWiki (Gao et al. 2021): two aligned files. Each simple sentence ends in a stop of its own,
    the last one often in two of them."""

    name = "minwiki"
    summary = "two aligned files, .complex and .simple, where simple sentences end in ' .'"
    files = BiSECT.files
    number = 2

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


class DeSSE(_TextFormat):
    """DeSSE (Gao et al. 2021): two aligned files; the simple sentences are running text."""

    name = "desse"
    summary = "two aligned files, .complex and .simple, where the simple side is running text"
    files = BiSECT.files
    number = 2


class WikiSplit(_TextFormat):
    """WikiSplit (Botha et al. 2018): ``complex TAB simple <::::> simple``, one reference a line.
    The text is tokenised as in the Penn Treebank, and stays so."""

    name = "wikisplit"
    summary = "one TSV file: complex TAB simple <::::> simple"
    mark = WIKISPLIT_MARK

    def _rows(self, paths: Sequence[Path], report: ReadReport) -> Iterator[list[_Cell]]:
        name = name_of(paths[0])
        for number, line in read_lines(paths[0], report):
            source, *simple = line.split("\t")
            if source.strip() and len(simple) != 1:
                wrong = "there are more than two columns" if simple else "there is no tab"
                report.reject(name, number, wrong)
            else:
                yield [_Cell(name, number, source), _Cell(name, number, " ".join(simple))]

    def _line(self, source: str, simple: str) -> Sequence[str]:
        return (f"{source}\t{simple}",)


_COLUMNS = ("complex", "simple")
_LONGEST = 20
"""Lines that a quoted cell may take, so that an open quotation mark spoils no more than these."""

_BAD_QUOTES = "a quotation mark is not closed, or stands inside a quoted cell"
_CELL = re.compile(r'(?:"((?:[^"]|"")*)"|((?!")[^\t]*))(\t|\Z)')


class WikiBM(_TextFormat):
    """Wiki-BM (Zhang et al. 2020): quoted TSV with a header; the simple side is running text."""

    name = "wiki-bm"
    summary = "one quoted TSV file with the columns complex and simple; several rows a source"
    header = "\t".join(_COLUMNS)
    grouped = True

    def _rows(self, paths: Sequence[Path], report: ReadReport) -> Iterator[list[_Cell]]:
        name = name_of(paths[0])
        header = list(_COLUMNS)
        for place, (number, cells) in enumerate(_table_rows(read_lines(paths[0], report))):
            names = [cell.strip().lower() for cell in cells or ()]
            if cells is None:
                report.reject(name, number, _BAD_QUOTES)
            elif place == 0 and set(_COLUMNS) <= set(names):
                header = names
            elif any(names) and len(cells) != len(header):
                report.reject(name, number, "the number of columns is wrong")
            else:
                row = dict(zip(header, cells, strict=False))
                texts = [from_plain_cell(row.get(each, "")) for each in _COLUMNS]
                yield [_Cell(name, number, on_one_line(each)) for each in texts]

    def _line(self, source: str, simple: str) -> Sequence[str]:
        return ("\t".join(map(_quoted, (source, simple))),)


class ContBM(WikiBM):
    """Cont-BM (Zhang et al. 2020): the same form, for contracts."""

    name = "cont-bm"


def _table_rows(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str] | None]]:
    """The rows of a quoted TSV file, with None for the cells of a line with bad quotes."""
    ahead: deque[tuple[int, str]] = deque(islice(lines, 1))
    while ahead:
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
        yield number, cells
        if not ahead:
            ahead.extend(islice(lines, 1))


def _cells(row: str) -> list[str] | None:
    """The cells of a row, or None where its quotation marks do not fit."""
    cells: list[str] = []
    position = 0
    while found := _CELL.match(row, position):
        cells.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        if not found[3]:
            return cells
        position = found.end()
    return None


def _quoted(text: str) -> str:
    cell = plain_cell(text)
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
