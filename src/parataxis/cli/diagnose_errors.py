"""``parataxis diagnose errors`` and ``table``: the error analysis of a system, by the checks and a
person."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.api import with_findings
from parataxis.cli.diagnose_inputs import (
    CorpusOption,
    NameOption,
    SplitterOption,
    predictions,
    progressing,
    read_evaluation,
    system_name,
)
from parataxis.cli.folders import write_folder
from parataxis.cli.inputs import named_file
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.corpora.files import STREAM, name_of, read_lines
from parataxis.corpora.protocol import Report
from parataxis.errors import InputError
from parataxis.reports.diagnostics.sheet import (
    Line,
    Mark,
    Tally,
    as_sheet,
    marked,
    read_sheet,
    tallies,
)
from parataxis.reports.diagnostics.sheet_page import sheet_page
from parataxis.reports.tables import latex_table, markdown_table, tex
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import Analysis

__all__ = ["errors", "table"]

FIRST = 20
"""Aharoni and Goldberg (2018, table 7) read the rewrites of 20 sources."""


class TallyFormat(StrEnum):
    """How the table of errors is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


TallyFormatOption = Annotated[
    TallyFormat, typer.Option("--format", "-f", help="How the table is written.")
]


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
    output_format: TallyFormatOption = TallyFormat.TEXT,
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
            lines: list[Line] = []
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
        out.write(_FORMS[output_format](tallies(lines)))


def table(
    sheets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHEET...", show_default=False, help="Sheets, CSV, that were corrected."
        ),
    ],
    output_format: TallyFormatOption = TallyFormat.TEXT,
) -> None:
    """Make the table of errors from corrected sheets.

    A row says how many simple sentences of a system are unsupported, repeated and correct, how
    many facts are missing, and how many lines are marked as the checks had marked them.
    """
    if sheets.count(STREAM) > 1:
        raise InputError("Standard input (-) can be read only once.")
    found: list[tuple[Path, Tally]] = []
    for path in sheets:
        text = "".join(f"{line}\n" for _, line in read_lines(path, Report(strict=True)))
        found += [(path, each) for each in tallies(read_sheet(text, name_of(path)))]
    with open_output(None) as out:
        out.write(_FORMS[output_format](list(_told_apart(found))))


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


def _told_apart(found: Sequence[tuple[Path, Tally]]) -> Iterator[Tally]:
    """The tallies; where two sheets are about one system, each is named after its sheet, too."""
    names = [tally.system for _, tally in found]
    for path, tally in found:
        several = names.count(tally.system) > 1
        yield replace(tally, system=f"{tally.system} ({path.stem})") if several else tally


_HEADER = ("system", "sources", "unsupported", "repeated", "correct", "missing")
_AGREED = "as the checks"


def _cells(found: Sequence[Tally]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows; a sheet that nobody has corrected agrees with the checks anyway."""
    rows: list[tuple[str, ...]] = [
        (
            each.system,
            str(each.sources),
            str(each.counts[Mark.UNSUPPORTED]),
            str(each.counts[Mark.REPEATED]),
            _of(each.counts[Mark.CORRECT], each.sentences),
            str(each.counts[Mark.MISSING]),
            _of(each.agreed, each.lines),
        )
        for each in found
    ]
    if all(each.agreed == each.lines for each in found):
        return _HEADER, [row[:-1] for row in rows]
    return (*_HEADER, _AGREED), rows


def _of(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.0f} %)" if whole else "0"


def _text(found: Sequence[Tally]) -> str:
    header, rows = _cells(found)
    return plain_table(header, rows, right=range(1, len(header)))


def _latex(found: Sequence[Tally]) -> str:
    header, rows = _cells(found)
    return latex_table(header, [[tex(cell) for cell in row] for row in rows])


def _json(found: Sequence[Tally]) -> str:
    records = [
        {
            "system": each.system,
            "sources": each.sources,
            "sentences": each.sentences,
            **{mark.value: each.counts[mark] for mark in Mark if mark is not Mark.KEPT},
            "lines": each.lines,
            "as_the_checks": each.agreed,
        }
        for each in found
    ]
    return json.dumps(records, ensure_ascii=False, indent=1) + "\n"


_FORMS: dict[TallyFormat, Callable[[Sequence[Tally]], str]] = {
    TallyFormat.TEXT: _text,
    TallyFormat.MARKDOWN: lambda found: markdown_table(*_cells(found)),
    TallyFormat.LATEX: _latex,
    TallyFormat.JSON: _json,
}
