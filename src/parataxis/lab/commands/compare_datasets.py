"""``parataxis compare-datasets``: which training set makes the better splitter?"""

import logging
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parataxis.cli.options import AnalysedOption, MetricOption
from parataxis.cli.terminal import Progress, open_output, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.commands.scores import choose_metrics, write_report
from parataxis.evaluate.compare import REFERENCE, SOURCE, compare
from parataxis.evaluate.compare_report import comparison_report, differences_table
from parataxis.evaluate.corpora.leaks import Overlap
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.evaluate.outputs import read_examples, read_output, read_system
from parataxis.evaluate.resample import Resampler
from parataxis.report import Block, Report, ReportFormat, Table
from parataxis.studies.blind import KEY, blind, write_study
from parataxis.text.files import STREAM

if TYPE_CHECKING:
    from parataxis.evaluate.corpora.example import Example
    from parataxis.lab.lstm.datasets import DatasetOutcome, TrainingSet

RUBRIC = "gms"
"""The questions of the 2019 report: grammaticality, meaning, simplicity, structural simplicity."""

_NAME = re.compile(r"\w[\w.-]*")


def compare_datasets(
    datasets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=CORPUS[+CORPUS]...",
            show_default=False,
            help="The training sets, each one or more corpora FORMAT:FILE,FILE (see `parataxis "
            "corpus formats`).",
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="CORPUS",
            help="The test set that all models rewrite; can be repeated. Without references in it, "
            "only metrics that need none are computed.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where everything goes: a new folder."),
    ] = None,
    validation: Annotated[
        list[str] | None,
        typer.Option(
            "--validation",
            metavar="[NAME=]CORPUS[+CORPUS]",
            help="What says which epoch is the best: for all training sets, or for that of a "
            "name; can be repeated.",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=1, metavar="N", help="The budget: so many steps each."),
    ] = None,
    config: Annotated[
        str,
        typer.Option(
            "--config",
            metavar="NAME | FILE",
            help="The architecture of all models: a configuration of `parataxis train`.",
        ),
    ] = "lstm-ag18",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a number of it; can be repeated."),
    ] = None,
    rewrites: Annotated[
        list[str] | None,
        typer.Option(
            "--rewrites",
            metavar="NAME=FILE",
            help="Rewrites of the test set by a model that was trained elsewhere, as `parataxis "
            "evaluate` takes them; can be repeated.",
        ),
    ] = None,
    metric: MetricOption = None,
    analysed: AnalysedOption = False,
    trials: Annotated[
        int,
        typer.Option(min=0, help="Resampled corpora for intervals and tests; 0 leaves both out."),
    ] = 1000,
    sources: Annotated[
        int,
        typer.Option("--sources", min=1, metavar="N", help="Sources of the study, by chance."),
    ] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Of the resampling and of the study.")] = 1,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with an interrupted comparison, or add training sets to it."
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, metavar="N", help="Use N examples of each corpus: a rehearsal."
        ),
    ] = None,
) -> None:
    """Train the same model on each training set, and compare what they make of one test set.

    The folder gets the runs, the rewrites, every form of the table, a report with figures, and a
    blinded study of the rewrites for human ratings, with its key in a file outside of it.
    """
    if not test:
        raise InputError("Name the test set with --test.")
    if output is None:
        raise InputError("Name a folder for the comparison with --output.")
    named, made = _named(datasets or [], "CORPUS"), _named(rewrites or [], "FILE")
    _check_names([*named, *made])
    known = [read_output(Path(file), name) for name, file in made]
    examples = read_examples(None, test, known, bare=True)
    others = [read_system(each, examples) for each in known]
    chosen = choose_metrics(metric, examples, analysed=analysed)
    for each in chosen:
        _ = each.signature  # where sacrebleu is missing, say so before training
    trained: list[DatasetOutcome] = []
    if named:
        sets = _training_sets(named, validation or [])
        trained = _train(sets, examples, output, steps, config, change or [], limit, resume)
    systems = [
        *(read_system(read_output(each.rewrites, each.name), examples) for each in trained),
        *others,
    ]
    total = sum(1 + len(systems) + len(example.references) for example in examples)
    with open_output(None) as out:
        with Progress(total, out) as progress:
            comparison = compare(
                examples,
                systems,
                chosen,
                Resampler(trials, seed) if trials else None,
                lambda count: progress.advance(count, count),
            )
        write_report("Training sets compared", comparison, output)
        blocks: list[Block] = []
        if trained:
            blocks.append(_training_table(trained))
            training = Report("Training sets", blocks, bare=True).render(ReportFormat.MARKDOWN)
            write_folder(output, {"training.md": training})
        study = blind(
            examples,
            {system.name: system.rewrites for system in systems},
            sources=sources,
            seed=seed,
        )
        write_study(study, RUBRIC, output / "study", output / KEY)
        blocks += comparison_report(comparison).blocks
        if comparison.differences:
            blocks.append(differences_table(comparison))
        out.write(Report("Training sets compared", blocks, bare=True).render(ReportFormat.TEXT))
    warn(f"The study is in {output / 'study'}, and its key in {output / KEY}.")


def _train(
    sets: "Sequence[TrainingSet]",
    examples: "Sequence[Example]",
    output: Path,
    steps: int | None,
    config: str,
    changes: Sequence[str],
    limit: int | None,
    resume: bool,
) -> "list[DatasetOutcome]":
    if steps is None:
        raise InputError("Set the number of training steps of each model with --steps.")
    if find_spec("torch") is None:
        raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
    from parataxis.lab.lstm.datasets import Plan, train_each
    from parataxis.lab.training import parse_changes

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    plan = Plan(output, steps, config, parse_changes(changes), limit)
    return train_each(plan, sets, examples, resume=resume)


def _named(words: Sequence[str], what: str) -> list[tuple[str, str]]:
    """Names with what they name."""
    found = []
    for word in words:
        name, equals, rest = word.partition("=")
        if not (name and equals and rest):
            raise InputError(f'Give "{word}" a name: NAME={what}.')
        if not _NAME.fullmatch(name):
            raise InputError(f'"{name}" cannot be a name: use letters, digits, ".", "-" and "_".')
        found.append((name, rest))
    return found


def _check_names(named: Sequence[tuple[str, str]]) -> None:
    """Names are those of rows in a table and of files, which some systems do not tell apart by
    case."""
    if len(named) < 2:
        raise InputError("Name at least two training sets (or --rewrites) to compare.")
    seen: set[str] = set()
    for name, _ in named:
        if name.upper() in (SOURCE, REFERENCE):
            raise InputError(f'No training set can be called "{name}": every table has that row.')
        if name.lower() in seen:
            raise InputError(f'Two systems are called "{name}"; join corpora with a plus sign.')
        seen.add(name.lower())


def _training_sets(
    named: Sequence[tuple[str, str]], validation: Sequence[str]
) -> "list[TrainingSet]":
    """The training sets, each with its validation set: its own, or that of all."""
    from parataxis.lab.lstm.datasets import TrainingSet

    names = [name for name, _ in named]
    own: dict[str, list[str]] = {}
    for word in validation:
        name, equals, rest = word.partition("=")
        is_own = bool(equals) and name in names
        own.setdefault(name if is_own else "", []).extend(_corpora(rest if is_own else word))
    for name in names:
        if not own.get(name, own.get("")):
            raise InputError(f"Name a validation set for {name} with --validation.")
    return [
        TrainingSet(name, tuple(_corpora(rest)), tuple(own.get(name) or own[""]))
        for name, rest in named
    ]


def _corpora(word: str) -> list[str]:
    """The corpora of a training set; a plus sign may be part of a file's name."""
    found = [word] if Path(word).exists() else [part for part in word.split("+") if part]
    for name in found:
        if STREAM in parse_corpus(name).paths:
            raise InputError("A training set is read more than once; save it, and name its file.")
    return found


def _training_table(trained: "Sequence[DatasetOutcome]") -> Table:
    """What each training set holds, how much of the test set, and how its run went."""
    header = ["training set", "sources", "references", "test sources seen", "simple sentences seen"]
    rows = [
        [
            each.name,
            f"{each.material.sources:,}",
            f"{each.material.references:,}",
            f"{each.material.seen_sources:,}",
            f"{each.material.overlaps[Overlap.SIMPLE].unique_found:,}",
            f"{each.steps:,}",
            f"{each.best_step:,}",
            f"{each.perplexity:.2f}",
        ]
        for each in trained
    ]
    return Table([*header, "steps", "best", "perplexity"], rows)
