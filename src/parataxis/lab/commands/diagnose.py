"""``parataxis diagnose errors`` and ``table``: the error analysis of a system, by the checks and a
person; and what all diagnoses share: the rewrites of a system and its corpus."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import Splitter, with_findings
from parataxis.cli.options import ReportFormatOption
from parataxis.cli.terminal import Progress, open_output, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.commands.corpus_input import CORPUS_HELP, read_corpus
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.lab.diagnose.sheet import (
    ErrorMark,
    ErrorTally,
    SheetLine,
    as_sheet,
    marked,
    read_sheet,
    sheet_page,
    tallies,
)
from parataxis.report import Report, ReportFormat, Table
from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER, read_rewrites
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.text.files import STREAM, ReadReport, name_of, read_lines
from parataxis.text.inputs import named_file

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
    lines = (text for _, text in read_lines(path, ReadReport(strict=True)))
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


FIRST = 20
"""Aharoni and Goldberg (2018, table 7) read the rewrites of 20 sources."""


def errors(
    rewrites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]FILE... | -",
            show_default=False,
            help="What systems wrote, as JSON lines, a file for each.",
        ),
    ] = None,
    splitter: SplitterOption = None,
    corpus: CorpusOption = None,
    name: NameOption = None,
    first: Annotated[
        int,
        typer.Option("--first", "-n", min=0, metavar="N", help="The first N sources; 0: all."),
    ] = FIRST,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write the sheet into this folder: errors.html for the browser, errors.csv for a "
            "spreadsheet.",
        ),
    ] = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Count correct, unsupported, repeated and missing facts, and make a sheet to correct them on.

    The checks mark each simple sentence and each fact that is missing; a person corrects the
    sheet, and `parataxis diagnose table` makes the table of it. Where the corpus has references, a
    word that one of them has is no new fact, and what none of them says is not missing.
    """
    from parataxis.syntax.analyser import load_trees  # slow, and `--help` does without

    with open_output(None) as out:
        with Progress(None, out) as progress:
            examples = read_evaluation(corpus)
            references = {each.source: each.references for each in examples}
            lines: list[SheetLine] = []
            sources: set[str] = set()
            for system, written in _systems(
                rewrites or [],
                name,
                lambda files: predictions(files, splitter, examples, first or None, progress),
                splitter,
            ):
                sources = sources or set(_first([each.source for each in written], first))
                chosen = [each for each in written if each.source in sources]
                analyses = load_trees().pipe(each.source for each in chosen)
                checked = progressing(with_findings(chosen), progress)
                for each, found in zip(checked, analyses, strict=True):
                    analysis = found if isinstance(found, Analysis) else None
                    lines += marked(each, system, references.get(each.source, ()), analysis)
        if output is not None:
            title = f"Errors of {', '.join(dict.fromkeys(line.system for line in lines))}"
            made = {"errors.csv": as_sheet(lines), "errors.html": sheet_page(title, lines)}
            write_folder(output, made)
            warn(f"The sheet is in {output / 'errors.html'} and {output / 'errors.csv'}.")
        out.write(_report(tallies(lines)).render(output_format))


def table(
    sheets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHEET...", show_default=False, help="Sheets, CSV, that were corrected."
        ),
    ],
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Make the table of errors from corrected sheets.

    A row says how many simple sentences of a system are unsupported, repeated and correct, how
    many facts are missing, and how many lines are marked as the checks had marked them.
    """
    if sheets.count(STREAM) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found: list[tuple[Path, ErrorTally]] = []
    for path in sheets:
        text = "".join(f"{line}\n" for _, line in read_lines(path, ReadReport(strict=True)))
        found += [(path, each) for each in tallies(read_sheet(text, name_of(path)))]
    with open_output(None) as out:
        out.write(_report(list(_distinct(found))).render(output_format))


def _systems(
    arguments: Sequence[str],
    name: str | None,
    read: Callable[[Sequence[str]], list[Rewrite]],
    splitter: str | None,
) -> Iterator[tuple[str, list[Rewrite]]]:
    """Each system under its name, with what it wrote."""
    if not arguments:
        written = read([])
        yield name or system_name(splitter, [], written), written
    for argument in arguments:
        called, file = named_file(argument)
        written = read([file])
        yield called or name or system_name(None, [file], written), written


def _first(sources: Sequence[str], count: int) -> list[str]:
    different = list(dict.fromkeys(sources))
    return different[:count] if count else different


def _distinct(found: Sequence[tuple[Path, ErrorTally]]) -> Iterator[ErrorTally]:
    """The tallies; where two sheets are about one system, each is named after its sheet, too."""
    names = [tally.system for _, tally in found]
    for path, tally in found:
        several = names.count(tally.system) > 1
        yield replace(tally, system=f"{tally.system} ({path.stem})") if several else tally


_HEADER = ("system", "sources", "unsupported", "repeated", "correct", "missing", "as the checks")


def _report(found: Sequence[ErrorTally]) -> Report:
    """The table of errors. A sheet that nobody has corrected agrees with the checks anyway, so the
    last column is then left out."""
    rows = [
        (
            each.system,
            str(each.sources),
            str(each.counts[ErrorMark.UNSUPPORTED]),
            str(each.counts[ErrorMark.REPEATED]),
            _of(each.counts[ErrorMark.CORRECT], each.sentences),
            str(each.counts[ErrorMark.MISSING]),
            _of(each.agreed, each.lines),
        )
        for each in found
    ]
    columns = 6 if all(each.agreed == each.lines for each in found) else 7
    record = [
        {
            "system": each.system,
            "sources": each.sources,
            "sentences": each.sentences,
            **{mark.value: each.counts[mark] for mark in ErrorMark if mark is not ErrorMark.KEPT},
            "lines": each.lines,
            "as_the_checks": each.agreed,
        }
        for each in found
    ]
    table = Table(_HEADER[:columns], [row[:columns] for row in rows])
    return Report("Errors", [table], record, record, bare=True)


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "0"
