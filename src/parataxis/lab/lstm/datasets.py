"""Which training set is better? One configuration and one budget, each training set in turn, and
rewrites of the same test set by every model: the method of the 2019 report (§3.3).

Finished steps are skipped: a run that has a model, a model that has its rewrites.
"""

import csv
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.leaks import Overlap, find_overlaps
from parataxis.lab.lstm.data import read_corpora
from parataxis.lab.lstm.pipeline import BUNDLE, MODEL, train_lstm
from parataxis.lab.lstm.splitter import TRIPLES, CopySplitter, LstmDescription, Seq2SeqSplitter
from parataxis.lab.lstm.train import BLEU, LstmConfig, find_config, read_config
from parataxis.lab.lstm.triples import TriplesSplitter
from parataxis.lab.training import LAST, SCORES
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import write_files

log = logging.getLogger(__name__)

_EVERY = 200
"""Rewrites between two lines of progress."""


def rewrite_examples(
    model: Path, examples: Sequence[Example], output: Path, *, beam: int, name: str
) -> None:
    """Write a rewrite of each source, with the id of its example; the file appears when all are
    written. Messages call the examples by ``name``."""
    description = LstmDescription.read(model)
    rewrites: Iterator[Rewrite]
    if description.reads == TRIPLES:
        teller = TriplesSplitter(model, beam=beam)
        if not any(example.triples for example in examples):
            raise InputError(f"{name} has no triples, and {teller.name} reads them.")
        rewrites = (teller.rewrite(example.source, example.triples) for example in examples)
    else:
        splitter = (CopySplitter if description.copies else Seq2SeqSplitter)(model, beam=beam)
        rewrites = splitter.pipe(example.source for example in examples)
    with write_files([output]) as (write,):
        for number, (example, rewrite) in enumerate(zip(examples, rewrites, strict=True), start=1):
            write(to_json(rewrite.model_copy(update={"id": example.id})))
            if number % _EVERY == 0 or number == len(examples):
                log.info("%d of %d sources are rewritten", number, len(examples))


RECORD = "comparison.json"
"""The settings of a comparison, which must be the same when it is resumed."""


class TrainingSet(NamedTuple):
    """Corpora to train on, and those that decide which epoch is kept, named as on the command
    line."""

    data: Sequence[str]
    validation: Sequence[str]


class DatasetOutcome(NamedTuple):
    """The rewrites of the test set by the model of a training set, and a row of the table that
    describes training sets and runs."""

    name: str
    rewrites: Path
    row: dict[str, str]


def train_each(
    sets: Mapping[str, TrainingSet],
    test: Sequence[Example],
    output: Path,
    *,
    steps: int,
    config: str = "lstm-ag18",
    changes: Mapping[str, str] | None = None,
    limit: int | None = None,
    resume: bool = False,
) -> list[DatasetOutcome]:
    """Train a model on each training set, and let it rewrite the test set.

    All models have the same configuration, with ``changes``, and a budget of ``steps``. The epochs
    of the configuration do not end a run, since an epoch of a small training set is short; its
    patience does. Problems with the corpora are found before the first run. A training set that
    shares sources with the test set gets a warning.
    """
    settings = {"steps": str(steps), "epochs": str(steps), **(changes or {})}
    found = read_config(find_config(config), settings)
    sources = "\n".join(example.source for example in test)
    record = {
        "settings": asdict(found),
        "limit": limit,
        "test": hashlib.sha256(sources.encode()).hexdigest(),
        "sets": {name: each._asdict() for name, each in sets.items()},
    }
    record["sets"] = _check_record(output, record, resume=resume)
    rows = {name: _material(name, each, test, limit) for name, each in sets.items()}
    for corpus in dict.fromkeys(corpus for each in sets.values() for corpus in each.validation):
        next(read_corpora([corpus], limit=1), None)
    for folder in ("runs", "rewrites"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    with write_files([output / RECORD]) as (write,):
        write(json.dumps(record, ensure_ascii=False, indent=1))
    distinct = list({example.source: example for example in test}.values())
    outcomes = []
    for number, (name, each) in enumerate(sets.items(), start=1):
        log.info("%s: training set %d of %d", name, number, len(sets))
        run, rewrites = output / "runs" / name, output / "rewrites" / f"{name}.jsonl"
        if rewrites.is_file():
            log.info("%s: its rewrites are there already", name)
        else:
            if all((run / MODEL / part).is_file() for part in BUNDLE):
                log.info("%s: its model is there already", name)
            else:
                is_begun = (run / LAST).exists()
                train_lstm(*each, run, config, settings, resume=is_begun, limit=limit)
            rewrite_examples(run / MODEL, distinct, rewrites, beam=found.beam, name="The test set")
        outcomes.append(DatasetOutcome(name, rewrites, {**rows[name], **_course(run, found)}))
    return outcomes


def _material(
    name: str, each: TrainingSet, test: Sequence[Example], limit: int | None
) -> dict[str, str]:
    """Read a training set once: its size, and its overlap with the test set."""
    sources = references = 0

    def counted() -> Iterator[Example]:
        nonlocal sources, references
        for example in read_corpora(each.data, limit):
            sources += 1
            references += len(example.references)
            yield example

    overlaps = find_overlaps(counted(), {"test": test})["test"]
    seen = sum(overlaps[kind].unique_found for kind in (Overlap.SOURCES, Overlap.NEAR_SOURCES))
    if seen:
        log.warning(
            "%s holds %d of the %d test sources, word for word or nearly: its model may have "
            "memorised them",
            *(name, seen, overlaps[Overlap.SOURCES].unique_total),
        )
    return {
        "training set": name,
        "sources": f"{sources:,}",
        "references": f"{references:,}",
        "test sources seen": f"{seen:,}",
        "simple sentences seen": f"{overlaps[Overlap.SIMPLE].unique_found:,}",
    }


def _course(run: Path, config: LstmConfig) -> dict[str, str]:
    """How a run went, by its table of epochs: the steps taken, and the epoch that was kept."""
    with (run / SCORES).open(newline="", encoding="utf-8") as stream:
        epochs = list(csv.DictReader(stream))

    def value(epoch: Mapping[str, str]) -> tuple[float, float]:
        bleu = float(epoch["bleu"] or 0) if config.score == BLEU else 0.0
        return bleu, -float(epoch["perplexity"])

    best = max(epochs, key=value)
    return {
        "steps": f"{int(epochs[-1]['step']):,}",
        "best": f"{int(best['step']):,}",
        "perplexity": f"{float(best['perplexity']):.2f}",
    }


def _check_record(output: Path, record: Mapping[str, Any], *, resume: bool) -> dict[str, Any]:
    """Refuse to mix two comparisons in one folder, and return all its training sets. Some may be
    added; those that are already there must not change."""
    path = output / RECORD
    sets: dict[str, Any] = record["sets"]
    if not path.is_file():
        if resume:
            raise InputError(f"There is no comparison to resume in {output}.")
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise InputError(f"{output} is not an empty folder; name another for the comparison.")
        return sets
    if not resume:
        raise InputError(f"{output} holds a comparison already; resume it or name another folder.")
    words = {"settings": "settings", "limit": "limit", "test": "test sources"}
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        known: dict[str, Any] = before["sets"]
        other = [words[name] for name in words if before[name] != record[name]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged; name another folder for the comparison.") from error
    other += [f"corpora for {name}" for name in sets if known.get(name, sets[name]) != sets[name]]
    if other:
        raise InputError(
            f"The comparison in {output} was started with other {' and '.join(other)}; resume it "
            "with those, or name another folder."
        )
    return {**known, **sets}
