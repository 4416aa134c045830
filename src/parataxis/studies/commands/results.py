"""The files of a study as commands read them: its rewrites, and the rubric of its ratings."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.terminal import warn
from parataxis.errors import InputError
from parataxis.evaluate.compare import read_examples
from parataxis.evaluate.corpora.formats import Jsonl, WikiBM
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.report import (
    Heading,
    Report,
    ReportFormat,
    Table,
    counted,
    latex_table,
    plain_table,
    without_nans,
)
from parataxis.rewrite.jsonl import read_rewrites, to_json
from parataxis.rewrite.record import Rewrite
from parataxis.studies.agreement import buckets
from parataxis.studies.agreement import sample as drawn_from
from parataxis.studies.budget import benchmark
from parataxis.studies.commands.setup import DatabaseOption, open_study
from parataxis.studies.records import Purpose, Rating, in_language, read_ratings
from parataxis.studies.report import StudyReport, reliability_svg, study_report
from parataxis.studies.rubric import Question, Rubric, available_rubrics, load_rubric
from parataxis.studies.summary import group_of
from parataxis.text.files import ReadReport, read_lines, write_files

ItemsOption = Annotated[
    Path, typer.Option("--items", "-i", help="The rewrites that were rated, as JSON lines.")
]

RatingsOption = Annotated[
    Path, typer.Option("--ratings", "-r", help="The ratings of them, as JSON lines.")
]

RubricOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME | FILE",
        show_default=False,
        help="The rubric; else the one that the ratings name.",
    ),
]


def read_item_file(path: Path) -> list[Rewrite]:
    """The rewrites in a file of JSON lines."""
    lines = (line for _, line in read_lines(path, ReadReport(strict=True)))
    return list(read_rewrites(lines, str(path)))


def read_rating_file(path: Path) -> list[Rating]:
    """The ratings in a file of JSON lines, which must have some."""
    found = list(read_ratings(path))
    if not found:
        raise InputError(f"{path} has no ratings.")
    return found


def rubric_of(ratings: Sequence[Rating], path: Path, name: str | None) -> Rubric:
    """The rubric of that name, or the one that all ratings of a file name."""
    names = sorted({rating.rubric for rating in ratings})
    if name is None and len(names) > 1:
        raise InputError(f"{path} has ratings by {', '.join(names)}; name one with --rubric.")
    return load_rubric(name or names[0])


# ``parataxis study report``: the tables and figures of a study, from its rewrites and ratings.

_BY_SYSTEM, _BY_SENTENCE = "bleu", "bleu-sentence"
"""What the paper puts beside ratings: BLEU of a system (table 3) and of a rewrite (table 4)."""


class StudyReportFormat(StrEnum):
    """How the report is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


def report(
    items: ItemsOption,
    ratings: RatingsOption,
    rubric: RubricOption = None,
    expert: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="An expert's ratings of some of the rewrites: how far can raters be trusted?",
        ),
    ] = None,
    references: Annotated[
        list[str] | None,
        typer.Option(
            "--references",
            metavar="CORPUS",
            show_default=False,
            help="References of the sources, for BLEU and other metrics: a corpus "
            "FORMAT:FILE,FILE, or JSON lines; several times.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            show_default=False,
            help="How far does this metric agree with raters? Can be repeated; with references "
            "it is bleu-sentence where none is named.",
        ),
    ] = None,
    raters: Annotated[
        int, typer.Option(min=1, help="A rewrite is perfect if so many raters found it correct.")
    ] = 2,
    language: Annotated[str, typer.Option("--language", "-l", help="en or es.")] = "en",
    title: Annotated[str, typer.Option(help="The title of the report.")] = "What raters said",
    form: Annotated[
        StudyReportFormat, typer.Option("--format", "-f", help="How the report is written.")
    ] = StudyReportFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            show_default=False,
            help="Write every form, the figure, and the perfect rewrites into this folder.",
        ),
    ] = None,
) -> None:
    """Make the tables of a study: what raters said about each system, how far they agree, how far
    to trust them, how far metrics agree with them, and which rewrites are perfect."""
    rewrites = read_item_file(items)
    given = read_rating_file(ratings)
    names = metric or ([_BY_SENTENCE] if references else [])
    found = study_report(
        rewrites,
        given,
        rubric_of(given, ratings, rubric),
        expert=read_rating_file(expert) if expert else (),
        raters=raters,
        language=language,
        examples=read_examples(None, references) if references else (),
        metrics=[load_metric(name) for name in names],
        column=load_metric(_BY_SYSTEM) if references else None,
    )
    if output is not None:
        _write_all(found, title, output)
    else:
        sys.stdout.write(_written(found, title, form))


def _written(found: StudyReport, title: str, form: StudyReportFormat) -> str:
    document = found.document(title)
    match form:
        case StudyReportFormat.MARKDOWN:
            return document.render(ReportFormat.MARKDOWN)
        case StudyReportFormat.HTML:
            figure = reliability_svg(found.trust) if found.trust else ""
            return found.document(title, figure).render(ReportFormat.HTML)
        case StudyReportFormat.CSV:
            return _as_csv(found)
        case StudyReportFormat.LATEX:
            return _as_latex(document)
    return document.render(ReportFormat.TEXT)


def _as_latex(document: Report) -> str:
    """All tables, each under a comment that names it."""
    tables, title = [], document.title
    for block in document.blocks:
        if isinstance(block, Heading):
            title = block.text
        elif isinstance(block, Table):
            tables.append(latex_table(block.header, block.rows, names=block.names, notes=[title]))
    return "\n".join(tables)


def _correlations_as_csv(found: StudyReport) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(asdict(found.correlations[0])), lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_nans(asdict(each)) for each in found.correlations)
    return out.getvalue()


def _as_csv(found: StudyReport) -> str:
    """A line for each system and column, with plain numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["benchmark", "system", "column", "answers", "share", "mean"])
    for row in found.summary.rows:
        for column in found.summary.columns:
            cell = row.cells[column.id]
            writer.writerow(
                [row.benchmark, row.system, column.title, cell.count, cell.share, cell.mean]
            )
        for name in found.summary.metrics:
            writer.writerow([row.benchmark, row.system, name, "", "", row.scores[name]])
    return out.getvalue()


_NAMES = {
    StudyReportFormat.TEXT: "report.txt",
    StudyReportFormat.MARKDOWN: "report.md",
    StudyReportFormat.CSV: "report.csv",
    StudyReportFormat.LATEX: "report.tex",
    StudyReportFormat.HTML: "report.html",
}


def _write_all(found: StudyReport, title: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: _written(found, title, form) for form, name in _NAMES.items()}
    if found.trust:
        texts[folder / "reliability.svg"] = reliability_svg(found.trust)
    if found.correlations:
        texts[folder / "correlations.csv"] = _correlations_as_csv(found)
    with write_files(list(texts)) as writers:
        for write, text in zip(writers, texts.values(), strict=True):
            write(text.removesuffix("\n"))
    if found.gold:
        examples = benchmark(found.gold)
        WikiBM().write(examples, (folder / "perfect.tsv",))
        Jsonl().write(examples, (folder / "perfect.jsonl",))
        texts |= {folder / "perfect.tsv": "", folder / "perfect.jsonl": ""}
    names = sorted(path.name for path in texts)
    sys.stdout.write(f"Written to {folder}: {', '.join(names)}.\n")


# ``parataxis study sample``: draw rewrites for an expert, who tells how far to trust raters.


def sample(
    items: ItemsOption,
    ratings: RatingsOption,
    each: Annotated[
        int,
        typer.Option(min=1, help="So many of each system, benchmark and number of raters' yes."),
    ] = 2,
    outcome: Annotated[
        str | None,
        typer.Option(show_default=False, help="Else the rubric's first that is yes or no."),
    ] = None,
    rubric: RubricOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 1,
    ask: Annotated[
        Path | None,
        typer.Option(
            metavar="STUDY",
            show_default=False,
            help="Also ask the experts of this study about them: its YAML file.",
        ),
    ] = None,
    database: DatabaseOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where they go; - is stdout.")
    ] = Path("-"),
) -> None:
    """Draw rewrites for an expert by how many raters said yes (Zhang et al. 2020, section 6).

    What the expert then says goes into `parataxis study report --expert`.
    """
    rewrites = {rewrite.id or "": rewrite for rewrite in read_item_file(items)}
    given = read_rating_file(ratings)
    verdicts = rubric_of(given, ratings, rubric).verdicts
    name = outcome or next(iter(verdicts), None)
    if name not in verdicts:
        known = f"one of {', '.join(verdicts)}" if verdicts else "there is none"
        raise InputError(f"An outcome that is yes or no is needed: {known}.")
    judged = [one for one in given if one.purpose is Purpose.ITEM and one.item in rewrites]
    found = buckets(judged, name)
    groups = {id_: " ".join(group_of(rewrites[id_])) for id_ in found}
    drawn = drawn_from(found, groups, each, seed=seed)
    if not drawn:
        raise InputError(f"{items} has no rewrite that {ratings} has a rating of.")
    if ask is not None:
        _ask(ask, database, drawn)
    with write_files([output]) as (line,):
        for id_ in drawn:
            line(to_json(rewrites[id_]))
    sizes = sorted(Counter(found[id_] for id_ in drawn).items(), key=lambda pair: pair[0])
    told = ", ".join(f"{n} where {b.yes} of {b.raters} said yes" for b, n in sizes)
    warn(f"{counted(len(drawn), 'rewrite')} for an expert: {told}.")


def _ask(study: Path, database: str | None, drawn: list[str]) -> None:
    store, _, _ = open_study(study, database)
    with store:
        new = store.ask_experts(drawn)
    warn(f"The experts of the study are asked about {counted(new, 'more rewrite')}.")


# ``parataxis study rubrics``: the installed rubrics, or one in full.


def rubrics(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME | FILE]",
            show_default=False,
            help="Show this rubric; a file of your own is checked.",
        ),
    ] = None,
    language: Annotated[str, typer.Option("--language", "-l", help="en or es.")] = "en",
) -> None:
    """List the rubrics that raters can be asked by, or show one."""
    if name is None:
        rows = [[one.name, one.problem or one.summary] for one in available_rubrics()]
        sys.stdout.write(plain_table(["rubric", "what it asks"], rows))
    else:
        file = Path(name)
        sys.stdout.write(_shown(load_rubric(file if file.is_file() else name), language))


def _shown(rubric: Rubric, language: str) -> str:
    rows = [
        [question.id, in_language(question.text, language), _answers(question, language)]
        for question in rubric.questions
    ]
    title = f"{in_language(rubric.title, language)} ({rubric.name})"
    outcomes = ", ".join(in_language(o.title or n, language) for n, o in rubric.outcomes.items())
    return f"{title}\n\n{plain_table(['id', 'question', 'answers'], rows)}\nderived: {outcomes}\n"


def _answers(question: Question, language: str) -> str:
    if question.choices:
        return " | ".join(in_language(text, language) for text in question.choices.values())
    if question.numbers:
        return f"{question.numbers[0]} to {question.numbers[-1]}"
    return question.kind.value
