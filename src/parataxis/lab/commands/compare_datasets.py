"""``parataxis compare-datasets``: which training set makes the better splitter?"""

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parataxis.cli.options import AnalysedOption, MetricOption, Natural, OptionalCount, documented
from parataxis.cli.terminal import Output, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.commands.scores import choose_metrics, compare_systems, write_report
from parataxis.evaluate.compare import REFERENCE, SOURCE
from parataxis.evaluate.compare_report import comparison_report, differences_table
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.evaluate.outputs import read_examples, read_output, read_system
from parataxis.lab.commands.train import parse_changes, start_log
from parataxis.report import Block, Report, ReportFormat, Table
from parataxis.studies.blind import KEY, blind, write_study
from parataxis.text.files import STREAM

if TYPE_CHECKING:
    from parataxis.lab.lstm.datasets import DatasetOutcome

RUBRIC = "gms"
"""The questions of the 2019 report: grammaticality, meaning, simplicity, structural simplicity."""

_NAME = re.compile(r"\w[\w.-]*")


@documented
def compare_datasets(
    datasets: list[str] | None = None,
    test: list[str] | None = None,
    output: Path | None = None,
    validation: list[str] | None = None,
    steps: OptionalCount = None,
    config: str = "lstm-ag18",
    set_: list[str] | None = None,
    rewrites: list[str] | None = None,
    metric: MetricOption = None,
    analysed: AnalysedOption = False,
    trials: Natural = 1000,
    sources: Annotated[int, typer.Option(min=1)] = 30,
    seed: Natural = 1,
    resume: bool = False,
    limit: OptionalCount = None,
) -> None:
    """Train the same model on each training set, and compare what they make of one test set.

    The folder gets the runs, the rewrites, every form of the table, a report with figures, and a
    blinded study of the rewrites for human ratings, with its key in a file outside of it.

    Options:
    NAME=CORPUS[+CORPUS]...: The training sets, each one or more corpora FORMAT:FILE,FILE (see
        `parataxis corpus formats`).
    --test CORPUS: The test set that all models rewrite; can be repeated. Without references in it,
        only metrics that need none are computed.
    --output, -o DIR: Where everything goes: a new folder.
    --validation [NAME=]CORPUS[+CORPUS]: The corpora that decide which epoch is kept, for all
        training sets or for the named one; can be repeated.
    --steps N: The number of training steps of each model.
    --config NAME | FILE: The architecture of all models: a configuration of `parataxis train`.
    --set NAME=VALUE: Change a number of it; can be repeated.
    --rewrites NAME=FILE: Rewrites of the test set by a model that was trained elsewhere, as
        `parataxis evaluate` takes them; can be repeated.
    --trials: Resampled corpora for intervals and tests; 0 omits both.
    --sources N: The number of sources that are sampled for the study.
    --seed: The seed of the resampling and of the study.
    --resume: Continue an interrupted comparison, or add training sets to it.
    --limit N: Use only N examples of each corpus, for a trial run.
    """
    if not test:
        raise InputError("Name the test set with --test.")
    if output is None:
        raise InputError("Name a folder for the comparison with --output.")
    named, made = _named(datasets or [], rewrites or [])
    known = [read_output(Path(file), name) for name, file in made.items()]
    examples = read_examples(None, test, known, bare=True)
    others = [read_system(each, examples) for each in known]
    chosen = choose_metrics(metric, examples, analysed=analysed)
    for each in chosen:
        _ = each.signature  # where sacrebleu is missing, say so before training
    trained: list[DatasetOutcome] = []
    if named:
        sets = _training_sets(named, validation or [])
        if steps is None:
            raise InputError("Set the number of training steps of each model with --steps.")
        if find_spec("torch") is None:
            raise InputError("Training needs torch; run pip install 'parataxis[train]'.")
        from parataxis.lab.lstm.datasets import TrainingSet, train_each

        start_log()
        trained = train_each(
            {name: TrainingSet(*corpora) for name, corpora in sets.items()},
            *(examples, output),
            steps=steps,
            config=config,
            changes=parse_changes(set_ or []),
            limit=limit,
            resume=resume,
        )
    systems = [
        *(read_system(read_output(each.rewrites, each.name), examples) for each in trained),
        *others,
    ]
    comparison = compare_systems(examples, systems, chosen, trials, seed)
    write_report("Training sets compared", comparison, output)
    blocks: list[Block] = []
    if trained:
        rows = [list(each.row.values()) for each in trained]
        blocks.append(Table(list(trained[0].row), rows))
        training = Report("Training sets", blocks, bare=True).render(ReportFormat.MARKDOWN)
        write_folder(output, {"training.md": training})
    rewritten = {system.name: system.rewrites for system in systems}
    study = blind(examples, rewritten, sources=sources, seed=seed)
    write_study(study, RUBRIC, output / "study", output / KEY)
    blocks += comparison_report(comparison).blocks
    if comparison.differences:
        blocks.append(differences_table(comparison))
    Output().write(Report("Training sets compared", blocks, bare=True).render(ReportFormat.TEXT))
    warn(f"The study is in {output / 'study'}, and its key in {output / KEY}.")


def _named(datasets: Sequence[str], rewrites: Sequence[str]) -> list[dict[str, str]]:
    """Corpora and files by their names: those of rows in a table and of files, which some systems
    do not tell apart by case."""
    if len(datasets) + len(rewrites) < 2:
        raise InputError("Name at least two training sets (or --rewrites) to compare.")
    found: list[dict[str, str]] = []
    seen: set[str] = set()
    for words, what in ((datasets, "CORPUS"), (rewrites, "FILE")):
        found.append({})
        for word in words:
            name, _, rest = word.partition("=")
            if not (name and rest):
                raise InputError(f'Give "{word}" a name: NAME={what}.')
            if not _NAME.fullmatch(name):
                raise InputError(
                    f'"{name}" cannot be a name: use letters, digits, ".", "-" and "_".'
                )
            if name.upper() in (SOURCE, REFERENCE):
                raise InputError(
                    f'No training set can be called "{name}": every table has that row.'
                )
            if name.lower() in seen:
                raise InputError(f'Two systems are called "{name}"; join corpora with a plus sign.')
            seen.add(name.lower())
            found[-1][name] = rest
    return found


def _training_sets(
    named: Mapping[str, str], validation: Sequence[str]
) -> dict[str, tuple[list[str], list[str]]]:
    """The corpora of each training set and of its validation set: its own, or that of all."""
    own: dict[str, list[str]] = {}
    for word in validation:
        name, equals, rest = word.partition("=")
        is_own = bool(equals) and name in named
        own.setdefault(name if is_own else "", []).extend(_corpora(rest if is_own else word))
    for name in named:
        if not own.get(name, own.get("")):
            raise InputError(f"Name a validation set for {name} with --validation.")
    return {name: (_corpora(rest), own.get(name) or own[""]) for name, rest in named.items()}


def _corpora(word: str) -> list[str]:
    """The corpora of a training set; a plus sign may be part of a file's name."""
    found = [word] if Path(word).exists() else [part for part in word.split("+") if part]
    for name in found:
        if STREAM in parse_corpus(name).paths:
            raise InputError("A training set is read more than once; save it, and name its file.")
    return found
