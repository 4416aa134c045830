"""What the diagnoses share: the rewrites of a system, stored or made now, and its corpus."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import Splitter
from parataxis.cli.corpus_inputs import CORPUS_HELP, read_corpus
from parataxis.cli.terminal import Progress
from parataxis.corpora.choose import parse_corpus
from parataxis.corpora.example import Example, gather
from parataxis.corpora.files import STREAM, name_of, read_lines
from parataxis.corpora.protocol import Report
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER, read_rewrites
from parataxis.rewrite.record import Rewrite

__all__ = [
    "CorpusOption",
    "FirstOption",
    "FolderOption",
    "NameOption",
    "SplitterOption",
    "predictions",
    "progressing",
    "read_evaluation",
    "read_stored",
    "rewrite_all",
    "system_name",
]

SplitterOption = Annotated[
    str | None,
    typer.Option(
        "--splitter", "-s", metavar="NAME", help="The splitter to look at; NAME:DIR with a model."
    ),
]
CorpusOption = Annotated[
    str | None,
    typer.Option("--corpus", "-c", metavar="CORPUS", help=f"The evaluation set, {CORPUS_HELP}"),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Also write every form into this folder."),
]
NameOption = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What to call the splitter.")
]
FirstOption = Annotated[
    int | None,
    typer.Option("--first", "-n", min=1, metavar="N", help="Only the first N sources."),
]


def read_evaluation(corpus: str | None, *, strict: bool = False) -> list[Example]:
    """The evaluation set, an example for each source."""
    if corpus is None:
        return []
    return gather(read_corpus(parse_corpus(corpus), strict=strict))


def read_stored(files: Sequence[str]) -> list[Rewrite]:
    """The rewrites in files of JSON lines, plain or packed; - is standard input."""
    if list(files).count(str(STREAM)) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found = list(chain.from_iterable(map(_read, map(Path, files))))
    if files and not found:
        raise InputError(f"There is no rewrite in {', '.join(files)}.")
    return found


def _read(path: Path) -> Iterator[Rewrite]:
    if path != STREAM and not path.exists():
        raise InputError(f"There is no file {path}.")
    lines = (text for _, text in read_lines(path, Report(strict=True)))
    return read_rewrites(lines, name_of(path))


def rewrite_all(sources: Iterable[str], splitter: str, progress: Progress) -> list[Rewrite]:
    """The rewrites of all sources."""
    return list(progressing(Splitter(splitter).pipe(sources), progress))


def progressing(rewrites: Iterable[Rewrite], progress: Progress) -> Iterator[Rewrite]:
    """The rewrites, with the progress shown."""
    for rewrite in rewrites:
        progress.advance(0, 1)
        yield rewrite


def predictions(
    files: Sequence[str],
    splitter: str | None,
    examples: Sequence[Example],
    first: int | None,
    progress: Progress,
) -> list[Rewrite]:
    """What a system wrote: all that is stored in files, or what the splitter writes now for the
    first sources."""
    if files:
        return read_stored(files)
    if splitter is None:
        raise InputError("There is nothing to look at; name files of rewrites, or a --splitter.")
    if not examples:
        raise InputError("The splitter needs sources; name an evaluation set with --corpus.")
    chosen = list(islice(examples, first))
    written = rewrite_all((each.source for each in chosen), splitter, progress)
    return [
        rewrite.model_copy(update={"id": example.id})
        for rewrite, example in zip(written, chosen, strict=True)
    ]


def system_name(splitter: str | None, files: Sequence[str], rewrites: Iterable[Rewrite]) -> str:
    """What to call a system: as its rewrites do, or after their file."""
    if splitter and not files:
        return splitter.partition(":")[0]
    names = list(dict.fromkeys(each.splitter for each in rewrites))
    if len(names) == 1 and names[0] != UNKNOWN_SPLITTER:
        return names[0]
    stem = Path(files[0]).name.partition(".")[0] if files and files[0] != str(STREAM) else ""
    return stem or "the system"
