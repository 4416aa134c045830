"""Training examples of the verifier: the candidates of a source, the teacher's scores of them, and
which of their sentences are at fault."""

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.checks.verifier import END_MARK, FAULTS, NEXT_MARK, read
from parataxis.errors import InputError
from parataxis.lab.verifier.candidates import (
    FOUND,
    REFERENCE,
    RankedSource,
    TrainingCandidate,
    read_sources,
)
from parataxis.lab.verifier.corruptions import corruptions
from parataxis.rewrite.record import Level
from parataxis.syntax.onnx import threads

UNKNOWN, RIGHT = -1, 0
"""Labels of sentences; a fault of a known kind is its number in :data:`FAULTS` plus one."""
SPLIT_FURTHER, VAGUE = "more", "vague"
"""What raters say of a sentence that should be split further, and of a claim that cannot be
understood by itself; the latter counts as a wrong referent."""
JUDGED, WRITTEN, TAUGHT = 4.0, 1.0, 0.9
"""The weight of a label: by a rater, by a writer or a program, by the teacher."""
SURELY_RIGHT = 0.1
"""The teacher's probability of a fault below which a rewrite is right enough to be corrupted."""
CORRUPTED, CORRUPTED_ALONE = 2, 4
"""Corruptions of a source with scored candidates, and of a rewrite alone."""
LONGEST = 1100
"""Examples with more pieces are left out."""

Judgements = Mapping[tuple[str, ...], Sequence[tuple[int, str]]]
"""The faults of rewrites of one source: the number of the sentence from 1 on, and the kind."""
Aim = tuple[str, Level]
"""A source and the level of its rewrites."""
Shorts = NDArray[np.int16]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class VerifierExample:
    """A source with its candidates; places in the tree count from the first piece of a rewrite."""

    pieces: Shorts
    shapes: Shorts
    places: Shorts
    source: int
    """The number of pieces of the source, which come first."""
    end: Shorts
    paths: tuple[Shorts, ...]
    scores: Floats
    """The teacher's log-probability of each candidate, NaN if unknown."""
    chances: Floats
    """That of the pointer, NaN for what it did not find."""
    nodes: Shorts
    """The ends of the sentences with a label."""
    labels: Shorts
    """Their kinds of fault; of those that the teacher judged, the kind is unknown."""
    risks: Floats
    """The probability that they have a fault."""
    more: Floats
    """The probability that they should be split further, NaN if unknown."""
    weights: Floats


def judged_labels(faults: Iterable[tuple[int, str]], count: int) -> tuple[list[int], list[float]]:
    """The label of each of so many sentences, and whether it should be split further, given faults
    as raters write them.

    >>> judged_labels([(1, "more"), (2, "lost")], 2)
    ([0, 1], [1.0, 0.0])
    """
    labels, more = [RIGHT] * count, [0.0] * count
    for place, kind in faults:
        if kind == SPLIT_FURTHER:
            more[place - 1] = 1.0
        else:
            labels[place - 1] = FAULTS.index("referent" if kind == VAGUE else kind) + 1
    return labels, more


@dataclass
class _Candidate:
    simple: Sequence[str]
    teacher: float | None = None
    log_chance: float | None = None
    labels: Sequence[int] = ()
    risks: Sequence[float] = ()
    more: Sequence[float] = ()
    weight: float = 0.0

    def __post_init__(self) -> None:
        self.risks = self.risks or [float(label > RIGHT) for label in self.labels]
        self.more = self.more or [math.nan] * len(self.labels)


def read_training(paths: Iterable[Path]) -> tuple[list[RankedSource], dict[Aim, Judgements]]:
    """Read folders from ``--only score``, and JSONL files of rewrites (``complex``, ``simple``) and
    of judgements (``source``, ``simple``, ``faults``), perhaps with a ``level``.

    Judgements are by source and level; each judged rewrite is a candidate of its source, too.
    """
    sources: dict[Aim, RankedSource] = {}
    judged: dict[Aim, dict[tuple[str, ...], list[tuple[int, str]]]] = {}

    def add(aim: Aim, candidates: Iterable[TrainingCandidate]) -> None:
        text, level = aim
        source = sources.setdefault(aim, RankedSource("", "", text, level=level))
        for candidate in candidates:
            if all(candidate.simple != other.simple for other in source.candidates):
                source.candidates.append(candidate)

    for path in paths:
        if path.is_dir():
            scored = [
                source for part in sorted(path.glob("*.scored")) for source in read_sources(part)
            ]
            if not scored:
                raise InputError(f"{path} has no scored candidates; run --only score first.")
            for source in scored:
                add((source.complex, source.level), source.candidates)
            continue
        for record in read_records(path):
            is_judged = "faults" in record
            text = record["source" if is_judged else "complex"]
            aim = text, Level(record.get("level") or Level.PLAIN)
            add(aim, [TrainingCandidate(record["simple"], FOUND if is_judged else REFERENCE)])
            if is_judged:
                faults = [(place, kind) for place, kind in record["faults"]]
                judged.setdefault(aim, {})[tuple(record["simple"])] = faults
    return list(sources.values()), dict(judged)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The rewrites and judgements of a JSONL file."""
    with path.open(encoding="utf-8") as stream:
        yield from (_record(path, number, line) for number, line in enumerate(stream, start=1))


def _record(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if isinstance(record, dict):
        known = record.keys()
        if {"complex", "simple"} <= known or {"source", "simple", "faults"} <= known:
            return record
    raise InputError(
        f"{path}, line {number}: this is neither a rewrite with complex and simple nor a "
        "judgement with source, simple and faults."
    )


def make_examples(
    sources: Sequence[RankedSource], judged: Mapping[Aim, Judgements]
) -> list[VerifierExample]:
    """The examples of sources, made in several processes."""
    tasks = [(source, judged.get((source.complex, source.level), {})) for source in sources]
    with ProcessPoolExecutor(threads()) as pool:
        found = pool.map(_from_task, tasks, chunksize=256)
        return [example for example in found if example is not None]


def _from_task(task: tuple[RankedSource, Judgements]) -> VerifierExample | None:
    return make_example(*task)


def make_example(source: RankedSource, judged: Judgements) -> VerifierExample | None:
    """The example of a source, with corruptions of its best rewrite; None if it is too long."""
    candidates = _labelled(source, judged)
    rewrites = [candidate.simple for candidate in candidates]
    reading = read(source.complex, rewrites, source.level)
    if len(reading.pieces) > LONGEST:
        return None
    known: dict[int, tuple[int, float, float, float]] = {}
    written = reading.pieces[reading.source :]
    for candidate, path in zip(candidates, reading.tree.paths, strict=True):
        ends = path[np.isin(written[path], (NEXT_MARK, END_MARK))].tolist()
        own = zip(ends, candidate.labels, candidate.risks, candidate.more, strict=False)
        for node, label, risk, further in own:
            if candidate.weight > known.get(node, (0, 0.0, 0.0, 0.0))[-1]:
                known[node] = label, risk, further, candidate.weight
    labels, risks, more, weights = zip(*known.values(), strict=True) if known else [()] * 4
    return VerifierExample(
        *(_short(reading.pieces), _short(reading.shapes), _short(reading.places), reading.source),
        end=_short(reading.tree.end),
        paths=tuple(map(_short, reading.tree.paths)),
        scores=_floats(candidate.teacher for candidate in candidates),
        chances=_floats(candidate.log_chance for candidate in candidates),
        nodes=np.array(list(known), np.int16),
        labels=np.array(labels, np.int16),
        risks=np.array(risks, np.float32),
        more=np.array(more, np.float32),
        weights=np.array(weights, np.float32),
    )


def _labelled(source: RankedSource, judged: Judgements) -> list[_Candidate]:
    """The candidates of a source with what is known of their sentences, and corruptions."""
    found: list[_Candidate] = []
    good: Sequence[str] | None = None
    is_scored = any(each.teacher is not None for each in source.candidates)
    for each in source.candidates:
        labels, more = judged_labels(judged.get(tuple(each.simple), ()), len(each.simple))
        risks: Sequence[float] = ()
        weight = 0.0
        if tuple(each.simple) in judged:
            weight = JUDGED
        elif each.kind == REFERENCE:
            weight, good = WRITTEN, each.simple
        elif each.risks is not None:
            labels, risks, weight = [UNKNOWN] * len(labels), each.risks, TAUGHT
            more = each.more or []
            if len(labels) > 1 and max(risks) < SURELY_RIGHT:
                good = good or each.simple
        found.append(
            _Candidate(each.simple, each.teacher, each.log_chance, labels, risks, more, weight)
        )
    if good is not None:
        count = CORRUPTED if is_scored else CORRUPTED_ALONE
        known = [list(candidate.simple) for candidate in found]
        for made in corruptions(good, source.complex, random.Random(source.complex), count):
            if made.simple not in known:
                labels = [RIGHT] * made.place + [FAULTS.index(made.kind) + 1]
                found.append(_Candidate(made.simple, labels=labels, weight=WRITTEN))
    return found


def _short(numbers: NDArray[np.int64]) -> Shorts:
    return numbers.astype(np.int16)


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float32)
