"""Which training set is better? One configuration and one budget, each training set in turn, and
rewrites of the same test set by every model: the method of the 2019 report (§3.3).

Finished steps are skipped: a run that has a model, a model that has its rewrites.
"""

import csv
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example, gather
from parataxis.evaluate.corpora.leaks import Overlap, Overlaps, find_overlaps
from parataxis.lab.lstm.config import BLEU, LstmConfig, find_config, read_config
from parataxis.lab.lstm.data import read_corpora
from parataxis.lab.lstm.export import BUNDLE
from parataxis.lab.lstm.model import TRIPLES, LstmDescription
from parataxis.lab.lstm.pipeline import MODEL, LstmRecipe, train_lstm
from parataxis.lab.lstm.splitter import CopySplitter, Seq2SeqSplitter
from parataxis.lab.lstm.triples import TriplesSplitter
from parataxis.lab.training import LAST, SCORES
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import write_files

log = logging.getLogger(__name__)

_EVERY = 200
"""Rewrites between two lines of progress."""


def rewrite_corpora(
    model: Path, names: Sequence[str], output: Path, *, beam: int, limit: int | None = None
) -> int:
    """Write a rewrite of each source of the corpora, with the id of its example, and return their
    number; the file appears when all are written."""
    examples = gather(read_corpora(names, limit))
    rewrite_examples(model, examples, output, beam=beam, name=", ".join(names))
    return len(examples)


def rewrite_examples(
    model: Path, examples: Sequence[Example], output: Path, *, beam: int, name: str
) -> None:
    """Write a rewrite of each source, with the id of its example; the file appears when all are
    written. Messages call the examples by ``name``."""
    description = LstmDescription.read(model)
    rewrites = (
        _from_triples(TriplesSplitter(model, beam=beam), examples, name)
        if description.reads == TRIPLES
        else (CopySplitter if description.copies else Seq2SeqSplitter)(model, beam=beam).pipe(
            example.source for example in examples
        )
    )
    with write_files([output]) as (write,):
        for number, (example, rewrite) in enumerate(zip(examples, rewrites, strict=True), start=1):
            write(to_json(rewrite.model_copy(update={"id": example.id})))
            if number % _EVERY == 0 or number == len(examples):
                log.info("%d of %d sources are rewritten", number, len(examples))


def _from_triples(
    splitter: TriplesSplitter, examples: Sequence[Example], name: str
) -> Iterator[Rewrite]:
    if not any(example.triples for example in examples):
        raise InputError(f"{name} has no triples, and {splitter.name} reads them.")
    return (splitter.rewrite(example.source, example.triples) for example in examples)


RECORD = "comparison.json"
"""The settings of a comparison, which must be the same when it is resumed."""


@dataclass(frozen=True)
class TrainingSet:
    """A training set under the name of the system that is made from it."""

    name: str
    data: tuple[str, ...]
    """Corpora, each named as on the command line."""
    validation: tuple[str, ...]
    """Corpora that decide which epoch is kept."""


@dataclass(frozen=True)
class Plan:
    """What is the same for all training sets, and where everything goes.

    ``steps`` is the budget of every model. The epochs of the configuration do not end a run,
    since an epoch of a small training set is short; its patience does.
    """

    output: Path
    steps: int
    config: str = "lstm-ag18"
    changes: Mapping[str, str] = field(default_factory=dict)
    """Single settings that differ from the configuration's."""
    limit: int | None = None
    """Use only this many examples of each corpus, for a rehearsal."""

    @property
    def settings(self) -> dict[str, str]:
        """All changes of the configuration."""
        budget = {"steps": str(self.steps), "epochs": str(self.steps)}
        return {**budget, **self.changes}

    def run(self, name: str) -> Path:
        """The folder of a run."""
        return self.output / "runs" / name

    def rewrites(self, name: str) -> Path:
        """The rewrites of the test set by the model of a run."""
        return self.output / "rewrites" / f"{name}.jsonl"


@dataclass(frozen=True)
class DatasetMaterial:
    """The size of a training set, and its overlap with the test set."""

    sources: int
    references: int
    overlaps: Overlaps

    @property
    def seen_sources(self) -> int:
        """Different sources of the test set that are in training, word for word or nearly."""
        kinds = (Overlap.SOURCES, Overlap.NEAR_SOURCES)
        return sum(self.overlaps[kind].unique_found for kind in kinds)


@dataclass(frozen=True)
class DatasetOutcome:
    """The result of a training set: the rewrites, and the course of the run."""

    name: str
    rewrites: Path
    material: DatasetMaterial
    steps: int
    """The number of steps taken."""
    best_step: int
    """The last step of the epoch whose weights were kept."""
    perplexity: float
    """The perplexity of that epoch on the validation set."""


def train_each(
    plan: Plan, sets: Sequence[TrainingSet], test: Sequence[Example], *, resume: bool = False
) -> list[DatasetOutcome]:
    """Train a model on each training set, and let it rewrite the test set.

    Problems with the corpora are found before the first run. A training set that shares sources
    with the test set gets a warning.
    """
    config = read_config(find_config(plan.config), plan.settings)
    record = _record(plan, config, sets, test)
    _check_record(plan.output, record, resume=resume)
    materials = [_material(each, test, plan.limit) for each in sets]
    for name in dict.fromkeys(name for each in sets for name in each.validation):
        next(read_corpora([name], limit=1), None)
    for folder in ("runs", "rewrites"):
        (plan.output / folder).mkdir(parents=True, exist_ok=True)
    with write_files([plan.output / RECORD]) as (write,):
        write(json.dumps(record, ensure_ascii=False, indent=1))
    found = []
    for number, (each, material) in enumerate(zip(sets, materials, strict=True), start=1):
        log.info("%s: training set %d of %d", each.name, number, len(sets))
        _rewrite(plan, each, test, config)
        found.append(_outcome(plan, each.name, material, config))
    return found


def _rewrite(plan: Plan, each: TrainingSet, test: Sequence[Example], config: LstmConfig) -> None:
    """Do what is left to do for one training set."""
    output = plan.rewrites(each.name)
    if output.is_file():
        log.info("%s: its rewrites are there already", each.name)
        return
    run = plan.run(each.name)
    model = run / MODEL
    if all((model / part).is_file() for part in BUNDLE):
        log.info("%s: its model is there already", each.name)
    else:
        recipe = LstmRecipe(each.data, each.validation, run, plan.config, plan.settings)
        train_lstm(recipe, resume=(run / LAST).exists(), limit=plan.limit)
    distinct = list({example.source: example for example in test}.values())
    rewrite_examples(model, distinct, output, beam=config.beam, name="The test set")


def _material(each: TrainingSet, test: Sequence[Example], limit: int | None) -> DatasetMaterial:
    """Read a training set once."""
    sources = references = 0

    def counted() -> Iterator[Example]:
        nonlocal sources, references
        for example in read_corpora(each.data, limit):
            sources += 1
            references += len(example.references)
            yield example

    overlaps = find_overlaps(counted(), {"test": test})["test"]
    material = DatasetMaterial(sources, references, overlaps)
    if material.seen_sources:
        log.warning(
            "%s holds %d of the %d test sources, word for word or nearly: its model may have "
            "memorised them",
            *(each.name, material.seen_sources, overlaps[Overlap.SOURCES].unique_total),
        )
    return material


def _outcome(
    plan: Plan, name: str, material: DatasetMaterial, config: LstmConfig
) -> DatasetOutcome:
    """How a run went, by its table of epochs."""
    with (plan.run(name) / SCORES).open(newline="", encoding="utf-8") as stream:
        epochs = list(csv.DictReader(stream))

    def value(epoch: Mapping[str, str]) -> tuple[float, float]:
        bleu = float(epoch["bleu"] or 0) if config.score == BLEU else 0.0
        return bleu, -float(epoch["perplexity"])

    best = max(epochs, key=value)
    return DatasetOutcome(
        name,
        plan.rewrites(name),
        material,
        int(epochs[-1]["step"]),
        int(best["step"]),
        float(best["perplexity"]),
    )


# What a comparison was started with ---------------------------------------------------------------

_SETS, _TEST, _SETTINGS, _LIMIT = "sets", "test", "settings", "limit"


def _record(
    plan: Plan, config: LstmConfig, sets: Sequence[TrainingSet], test: Sequence[Example]
) -> dict[str, object]:
    sources = "\n".join(example.source for example in test)
    return {
        _SETTINGS: asdict(config),
        _LIMIT: plan.limit,
        _TEST: hashlib.sha256(sources.encode()).hexdigest(),
        _SETS: {
            each.name: {"data": list(each.data), "validation": list(each.validation)}
            for each in sets
        },
    }


def _check_record(output: Path, record: dict[str, object], *, resume: bool) -> None:
    """Refuse to mix two comparisons in one folder. Training sets may be added; those that are
    already there must not change."""
    path = output / RECORD
    if not path.is_file():
        if resume:
            raise InputError(f"There is no comparison to resume in {output}.")
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise InputError(f"{output} is not an empty folder; name another for the comparison.")
        return
    if not resume:
        raise InputError(f"{output} holds a comparison already; resume it or name another folder.")
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        sets: dict[str, object] = before[_SETS]
        same = {name: before[name] == record[name] for name in (_SETTINGS, _LIMIT, _TEST)}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged; name another folder for the comparison.") from error
    words = {_SETTINGS: "settings", _LIMIT: "limit", _TEST: "test sources"}
    asked = record[_SETS]
    other = [words[name] for name, is_same in same.items() if not is_same]
    if isinstance(asked, dict):
        other += [
            f"corpora for {name}" for name in asked if sets.get(name, asked[name]) != asked[name]
        ]
        record[_SETS] = {**sets, **asked}
    if other:
        raise InputError(
            f"The comparison in {output} was started with other {' and '.join(other)}; resume it "
            "with those, or name another folder."
        )
