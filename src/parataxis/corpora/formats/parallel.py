"""Aligned files of one sentence a line: the sources, then as many files as there are references.
HSplit (Sulem et al., 2018) is such a corpus, with tokenised references."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from parataxis.corpora.example import Example
from parataxis.corpora.files import (
    BLANK_SIMPLE,
    BLANK_SOURCE,
    aligned,
    name_of,
    read_lines,
    write_files,
)
from parataxis.corpora.protocol import Report
from parataxis.corpora.sentences import (
    SEP,
    at_final_stops,
    at_mark,
    cut_line,
    has_mark,
    joined_at_mark,
    on_one_line,
)
from parataxis.errors import InputError

__all__ = ["HSplit", "Parallel"]


class Parallel:
    """Plain text. A file that has marks is cut at them and nowhere else, any other by the
    segmenter. What can be read only once (a pipe) is judged line by line."""

    name = "parallel"
    summary = "aligned text files, sources first; cut at <SEP> or <::::>, or else by the segmenter"

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
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
    return path.is_file() and any(has_mark(line) for _, line in read_lines(path, Report()))


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
