"""How commands name and read corpora, and how they report malformed lines."""

from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

import typer

from parataxis.cli.terminal import Progress, warn
from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.registry import Corpus, parse_corpus
from parataxis.report import counted
from parataxis.text.files import Malformed, ReadReport
from parataxis.text.inputs import STDIN

T = TypeVar("T")

_SHOWN = 10
"""Malformed lines that are reported one by one; the others are only counted."""

CORPUS_HELP = (
    "FORMAT:FILE,FILE (see `parataxis corpus formats`); the format may be left out where the names "
    "of the files tell it, and - is standard input."
)

CorpusArgument = Annotated[
    str, typer.Argument(metavar="CORPUS", show_default=False, help=CORPUS_HELP)
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="S", help="The same seed draws the same sample.")
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Stop at the first malformed line instead of reporting it."),
]


def parse_corpora(words: Iterable[str]) -> list[Corpus]:
    """The corpora that the words name; standard input can be only one of them."""
    corpora = [parse_corpus(word) for word in words]
    if sum(str(path) == STDIN for corpus in corpora for path in corpus.paths) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return corpora


def counting(items: Iterable[T], progress: Progress) -> Iterator[T]:
    """The items, each counted by the progress bar."""
    for item in items:
        progress.advance(0, 1)
        yield item


def read_corpus(corpus: Corpus, *, strict: bool) -> Iterator[Example]:
    """The examples of a corpus. Malformed lines are reported on standard error; a corpus without
    any example is an error."""
    report = ReadReport(strict=strict)

    def tell(malformed: Malformed) -> None:
        if report.malformed <= _SHOWN:
            warn(f"{malformed}.")

    report.tell = tell
    is_empty = True
    for example in corpus.read(report):
        is_empty = False
        yield example
    if report.malformed:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in report.reasons.items())
        bad = counted(report.malformed, "malformed line")
        warn(f"{bad} of {report.lines:,}: {reasons}.")
    if is_empty:
        raise InputError(f"{corpus.label} holds no example that can be used.")
