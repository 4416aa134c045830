"""WikiSplit (Botha et al., 2018): a tab after the complex sentence, a mark between the simple
ones. The text is tokenised as in the Penn Treebank, and stays so."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from parataxis.corpora.example import Example
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
from parataxis.corpora.sentences import WIKISPLIT_MARK, at_mark, joined_at_mark, on_one_line

__all__ = ["WikiSplit"]


class WikiSplit:
    """``complex TAB simple <::::> simple``, one reference a line."""

    name = "wikisplit"
    summary = "one TSV file: complex TAB simple <::::> simple"

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
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
