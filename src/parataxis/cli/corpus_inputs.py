"""What the corpus commands share: how a corpus is named, read, and its malformed lines told."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.cli.tables import counted
from parataxis.cli.terminal import Progress, warn
from parataxis.corpora.choose import Corpus, parse_corpus
from parataxis.corpora.example import Example
from parataxis.corpora.protocol import Malformed, Report
from parataxis.errors import InputError

__all__ = [
    "CORPUS_HELP",
    "CorpusArgument",
    "StrictOption",
    "TableFormat",
    "TableFormatOption",
    "counting",
    "parse_corpora",
    "read_corpus",
]

_SHOWN = 10
"""Malformed lines that are told one by one; the others are counted."""

CORPUS_HELP = (
    "FORMAT:FILE,FILE (see `parataxis corpus formats`); the format may be left out where the names "
    "of the files tell it, and - is standard input."
)

CorpusArgument = Annotated[
    str, typer.Argument(metavar="CORPUS", show_default=False, help=CORPUS_HELP)
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Stop at the first malformed line; else they are told.")
]


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    JSON = "json"


TableFormatOption = Annotated[
    TableFormat, typer.Option("--format", "-f", help="A table, or JSON for programs.")
]


def parse_corpora(words: Iterable[str]) -> list[Corpus]:
    """The corpora that the words name; standard input can be only one of them."""
    corpora = [parse_corpus(word) for word in words]
    if sum(str(path) == "-" for corpus in corpora for path in corpus.paths) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return corpora


def read_corpus(corpus: Corpus, *, strict: bool) -> Iterator[Example]:
    """The examples of a corpus. Malformed lines are told on standard error, the first ones one by
    one; a corpus without any example is an error."""
    report = Report(strict=strict)

    def tell(malformed: Malformed) -> None:
        if report.malformed <= _SHOWN:
            warn(f"{malformed}.")

    report.tell = tell
    is_empty = True
    for example in corpus.read(report):
        is_empty = False
        yield example
    if report.malformed:
        warn(_summary(report))
    if is_empty:
        raise InputError(f"{corpus.label} holds no example that can be used.")


def counting(examples: Iterable[Example], progress: Progress) -> Iterator[Example]:
    """The examples, with the progress shown."""
    for example in examples:
        progress.advance(0, 1)
        yield example


def _summary(report: Report) -> str:
    reasons = ", ".join(f"{reason} ({n:,})" for reason, n in report.reasons.items())
    return f"{counted(report.malformed, 'malformed line')} of {report.lines:,}: {reasons}."
