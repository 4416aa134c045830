"""``parataxis study report``, ``sample`` and ``rubrics``: the results of a study, from files."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import Natural, ReportFormatOption, documented
from parataxis.cli.terminal import warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.corpora.formats import WikiBM
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.outputs import read_examples
from parataxis.report import Notes, Report, ReportFormat, Table, counted
from parataxis.rewrite.jsonl import read_rewrites, to_json
from parataxis.studies.agreement import buckets
from parataxis.studies.agreement import sample as draw_sample
from parataxis.studies.commands.setup import DatabaseOption, open_study
from parataxis.studies.records import Purpose, Rating, in_language, read_ratings
from parataxis.studies.report import (
    StudyReport,
    benchmark,
    reliability_svg,
    study_report,
    without_duplicates,
)
from parataxis.studies.rubric import Question, Rubric, available_rubrics, load_rubric
from parataxis.studies.summary import group_of
from parataxis.text.files import STREAM, strict_lines, write_files

Count = Annotated[int, typer.Option(min=1)]

_BY_SYSTEM, _BY_SENTENCE = "bleu", "bleu-sentence"
"""BLEU of a system and of a rewrite (Zhang et al. 2020, tables 3 and 4)."""


def _read_rating_file(path: Path) -> list[Rating]:
    found = list(read_ratings(path))
    if not found:
        raise InputError(f"{path} has no ratings.")
    return found


def _rubric_of(ratings: Sequence[Rating], path: Path, name: str | None) -> Rubric:
    """The rubric with that name, or the one that all ratings in a file name."""
    names = sorted({rating.rubric for rating in ratings})
    if name is None and len(names) > 1:
        raise InputError(f"{path} has ratings by {', '.join(names)}; name one with --rubric.")
    rubric = load_rubric(name or names[0])
    if name is not None and not set(names) <= {rubric.name, Path(name).stem}:
        by = ", ".join(names)
        raise InputError(f'{path} has ratings by {by}, which "{rubric.name}" cannot report.')
    known = {question.id: question for question in rubric.questions}
    for rating in ratings:
        for id_, value in rating.answers.items():
            if id_ not in known or (value is not None and not known[id_].allows(value)):
                raise InputError(
                    f'{path}: the answer "{id_}: {value}" about "{rating.item}" does not belong to '
                    f'the rubric "{rubric.name}"; name the right one with --rubric.'
                )
    return rubric


@documented
def report(
    *,
    items: Path,
    ratings: Path,
    rubric: str | None = None,
    expert: Path | None = None,
    references: list[str] | None = None,
    metric: list[str] | None = None,
    raters: Count = 2,
    language: str = "en",
    title: str = "",
    form: ReportFormatOption = ReportFormat.TEXT,
    output: Path | None = None,
) -> None:
    """Report the results of a study: the ratings of each system, agreement, reliability,
    correlation with metrics, and the perfect rewrites.

    Options:
    --items, -i: The rewrites that were rated, as JSON lines.
    --ratings, -r: The ratings of them, as JSON lines.
    --rubric NAME | FILE: The rubric; by default the one that the ratings name.
    --expert: An expert's ratings of some of the rewrites, to measure the reliability of the
        raters.
    --references CORPUS: References of the sources, for BLEU and other metrics: a corpus
        FORMAT:FILE,FILE, or JSON lines. Can be repeated.
    --metric, -m NAME: Correlate this metric with the ratings. Can be repeated; with references the
        default is bleu-sentence.
    --raters: A rewrite is perfect if at least so many found it correct.
    --language, -l: en or es.
    --title: The title of the report; by default "Study report", in its language.
    --output, -o DIR: Write every format, the figure, and the perfect rewrites into this folder.
    """
    rewrites = list(read_rewrites(strict_lines(items), str(items)))
    given = _read_rating_file(ratings)
    names = metric or ([_BY_SENTENCE] if references else [])
    asked = _rubric_of(given, ratings, rubric)
    by_expert = _read_rating_file(expert) if expert else []
    if expert and by_expert and _rubric_of(by_expert, expert, rubric) != asked:
        raise InputError(f"{expert} and {ratings} have ratings by different rubrics.")
    found = study_report(
        rewrites,
        given,
        asked,
        expert=by_expert,
        raters=raters,
        language=language,
        examples=read_examples(None, references) if references else (),
        metrics=[load_metric(name) for name in names],
        column=load_metric(_BY_SYSTEM) if references else None,
    )
    if output is not None:
        _write_all(found, title, output)
    else:
        is_page = form is ReportFormat.HTML and bool(found.trust)
        figure = reliability_svg(found.trust, language) if is_page else ""
        sys.stdout.write(found.document(title, figure).render(form))


def _write_all(found: StudyReport, title: str, folder: Path) -> None:
    figure = reliability_svg(found.trust, found.language) if found.trust else ""
    plain, page = found.document(title), found.document(title, figure)
    files = {
        f"report{form.suffix}": (page if form is ReportFormat.HTML else plain).render(form)
        for form in ReportFormat
    }
    if figure:
        files["reliability.svg"] = figure
    if found.correlations:
        lines = [asdict(each) for each in found.correlations]
        files["correlations.csv"] = Report(title, [], lines=lines).render(ReportFormat.CSV)
    write_folder(folder, files)
    names = list(files)
    if found.gold:
        WikiBM().write(benchmark(found.gold), (folder / "perfect.tsv",))
        gold = "".join(f"{to_json(each)}\n" for each in without_duplicates(found.gold))
        write_folder(folder, {"perfect.jsonl": gold})
        names += ["perfect.tsv", "perfect.jsonl"]
    sys.stdout.write(f"Written to {folder}: {', '.join(sorted(names))}.\n")


@documented
def sample(
    *,
    items: Path,
    ratings: Path,
    each: Count = 2,
    outcome: str | None = None,
    rubric: str | None = None,
    seed: Natural = 1,
    ask: Path | None = None,
    database: DatabaseOption = None,
    output: Path = STREAM,
) -> None:
    """Sample rewrites for an expert by how many raters said yes (Zhang et al. 2020, section 6).

    Give the expert's ratings to `parataxis study report --expert`.

    Options:
    --items, -i: The rewrites that were rated, as JSON lines.
    --ratings, -r: The ratings of them, as JSON lines.
    --each: So many for each system, benchmark and number of raters who said yes.
    --outcome: By default the rubric's first yes-or-no outcome.
    --rubric NAME | FILE: The rubric; by default the one that the ratings name.
    --seed: The seed of the sample.
    --ask STUDY: Also ask the experts of this study (its YAML file) to rate them.
    --output, -o FILE: Where they go; - is stdout.
    """
    read = read_rewrites(strict_lines(items), str(items))
    rewrites = {rewrite.id or "": rewrite for rewrite in read}
    given = _read_rating_file(ratings)
    verdicts = _rubric_of(given, ratings, rubric).verdicts
    name = outcome or next(iter(verdicts), None)
    if name not in verdicts:
        known = f"one of {', '.join(verdicts)}" if verdicts else "there is none"
        raise InputError(f"An outcome that is yes or no is needed: {known}.")
    judged = [one for one in given if one.purpose is Purpose.ITEM and one.item in rewrites]
    found = buckets(judged, name)
    groups = {id_: " ".join(group_of(rewrites[id_])) for id_ in found}
    drawn = draw_sample(found, groups, each, seed=seed)
    if not drawn:
        raise InputError(f"{items} has no rewrite that {ratings} has a rating of.")
    if ask is not None:
        store, _, _ = open_study(ask, database)
        with store:
            new = store.ask_experts(drawn)
        warn(f"The experts of the study are asked about {counted(new, 'more rewrite')}.")
    with write_files([output]) as (line,):
        for id_ in drawn:
            line(to_json(rewrites[id_]))
    sizes = sorted(Counter(found[id_] for id_ in drawn).items(), key=lambda pair: pair[0])
    counts = ", ".join(f"{n} where {b.yes} of {b.raters} said yes" for b, n in sizes)
    warn(f"{counted(len(drawn), 'rewrite')} for an expert: {counts}.")


@documented
def rubrics(
    name: str | None = None, language: str = "en", form: ReportFormatOption = ReportFormat.TEXT
) -> None:
    """List the installed rubrics, or show one.

    Options:
    [NAME | FILE]: Show this rubric. A file of your own is checked.
    --language, -l: en or es.
    """
    if name is None:
        rows = [[one.name, one.problem or one.summary] for one in available_rubrics()]
        listed = Table(["rubric", "what it asks"], rows, names=2)
        found = Report("Rubrics", [listed], bare=True)
    else:
        found = _shown(load_rubric(Path(name) if Path(name).is_file() else name), language)
    sys.stdout.write(found.render(form))


def _shown(rubric: Rubric, language: str) -> Report:
    rows = [
        [question.id, in_language(question.text, language), _answers(question, language)]
        for question in rubric.questions
    ]
    title = f"{in_language(rubric.title, language)} ({rubric.name})"
    outcomes = ", ".join(in_language(o.title or n, language) for n, o in rubric.outcomes.items())
    table = Table(["id", "question", "answers"], rows, names=3)
    return Report(title, [table, Notes([f"derived: {outcomes}"])])


def _answers(question: Question, language: str) -> str:
    if question.choices:
        return " | ".join(in_language(text, language) for text in question.choices.values())
    if question.numbers:
        return f"{question.numbers[0]} to {question.numbers[-1]}"
    return question.kind.value
