"""Wiki-BM and Cont-BM (Zhang et al., 2020): quoted TSV with a header, one row for each reference,
the simple side plain running text."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from parataxis.corpora.example import Example, group
from parataxis.corpora.files import (
    BLANK_SIMPLE,
    BLANK_SOURCE,
    name_of,
    one_path,
    read_lines,
    references_of,
    write_files,
)
from parataxis.corpora.protocol import Report
from parataxis.corpora.sentences import by_segmenter, on_one_line

__all__ = ["ContBM", "WikiBM"]

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

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
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

    def _rows(self, path: Path, report: Report) -> Iterator[Example]:
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
