"""Corpora in two files of the same length, complex sentences in one and simple ones in the other:
BiSECT (Kim et al., 2021), MinWiki and DeSSE (Gao et al., 2021)."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from parataxis.corpora.example import Example
from parataxis.corpora.files import (
    BLANK_SIMPLE,
    BLANK_SOURCE,
    Line,
    aligned,
    name_of,
    references_of,
    write_files,
)
from parataxis.corpora.protocol import Report
from parataxis.corpora.sentences import (
    SEP,
    at_final_stops,
    at_mark,
    by_segmenter,
    joined_at_mark,
    on_one_line,
)
from parataxis.errors import InputError

__all__ = ["BiSECT", "DeSSE", "MinWiki"]


class _Pair:
    """Two aligned files. Each format says how the simple sentences stand in a line."""

    name: str

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
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
