"""Training examples as numbers, in one file, and as padded batches on a device."""

import json
import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.lab.pointer.network import DecoderState
from parataxis.lab.verifier.candidates import (
    RankedSource,
    preference,
    read_labels,
    read_sources,
)
from parataxis.lab.verifier.examples import SPLIT_FURTHER, read_records
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer.actions import (
    COPY,
    NEXT,
    START,
    Features,
    closed_word,
    read_source,
)
from parataxis.splitters.pointer.targets import target_actions
from parataxis.syntax.onnx import threads
from parataxis.syntax.wordpieces import Pieces
from parataxis.text.tokens import has_word, tokenize

LONGEST = {"pieces": 160, "words": 120, "actions": 200}
"""Longer examples are left out: they are few, and would pad everything else."""

FAULT, FURTHER = 1.0, 0.5
"""How bad a judged rewrite with a fault is, and one that should only be split further."""

_PIECES = ("pieces", "shapes")
_WORDS = ("first", "same", "twins")


@dataclass(frozen=True, slots=True)
class PointerExample:
    """A source and the actions that rewrite it; ``kind`` says where it comes from."""

    source: Features
    actions: Sequence[int]
    kind: str
    text: str
    badness: float | None = None
    """What raters found: 0.0 (no fault), FURTHER or FAULT; None for a rewrite to learn to write."""

    @property
    def fits(self) -> bool:
        """Whether it is short enough to learn from."""
        return (
            len(self.source.pieces.ids) <= LONGEST["pieces"]
            and 0 < len(self.source) <= LONGEST["words"]
            and len(self.actions) <= LONGEST["actions"]
        )


def write_examples(examples: Iterable[PointerExample], path: Path) -> int:
    """Write the examples that fit, and say how many."""
    kept = [example for example in examples if example.fits]
    fields: dict[str, NDArray[np.generic]] = {
        name: np.concatenate([np.asarray(_field(e, name), dtype=np.int16) for e in kept])
        for name in (*_PIECES, *_WORDS, "actions")
    }
    fields["lengths"] = np.array(
        [(len(e.source.pieces.ids), len(e.source), len(e.actions)) for e in kept]
    )
    texts = json.dumps([(e.kind, e.text, e.badness) for e in kept], ensure_ascii=False)
    fields["texts"] = np.frombuffer(texts.encode(), dtype=np.uint8)
    np.savez_compressed(path, **fields)  # type: ignore[arg-type]
    return len(kept)


def _field(example: PointerExample, name: str) -> Sequence[int]:
    source = example.source
    match name:
        case "pieces":
            return source.pieces.ids
        case "shapes":
            return source.pieces.shapes
        case "first":
            return source.pieces.first[1:]
        case "actions":
            return example.actions
        case _:
            return getattr(source, name)  # type: ignore[no-any-return]


def read_examples(path: Path) -> list[PointerExample]:
    """Read what :func:`write_examples` wrote."""
    stored = np.load(path)
    fields = {name: stored[name] for name in stored.files}
    texts = json.loads(fields.pop("texts").tobytes().decode())
    lengths = fields.pop("lengths")
    ends = np.cumsum(lengths, axis=0)
    examples = []
    for row, (kind, text, badness) in enumerate(texts):
        part = {}
        for column, names in enumerate((_PIECES, _WORDS, ("actions",))):
            end = ends[row, column]
            for name in names:
                part[name] = fields[name][end - lengths[row, column] : end]
        pieces = Pieces(part["pieces"], part["shapes"], [0, *part["first"]])
        source = Features(pieces, part["same"], part["twins"])
        examples.append(PointerExample(source, part["actions"], kind, text, badness))
    return examples


class ExampleSet:
    """Examples as padded tensors on a device, from which batches are cut."""

    def __init__(self, examples: Sequence[PointerExample], device: torch.device) -> None:
        def tensor(rows: Iterable[Sequence[int]], fill: int) -> Tensor:
            listed = list(rows)
            table = np.full((len(listed), max(map(len, listed))), fill, dtype=np.int64)
            for row, values in zip(table, listed, strict=True):
                row[: len(values)] = values
            return torch.from_numpy(table).to(device)

        sources = [example.source for example in examples]
        self.tensors = {
            "pieces": tensor((s.pieces.ids for s in sources), 0),
            "shapes": tensor((s.pieces.shapes for s in sources), 0),
            "first": tensor((s.pieces.first for s in sources), 0),
            "same": tensor((s.same for s in sources), -1),
            "twins": tensor((s.twins for s in sources), -1),
            "actions": tensor((e.actions for e in examples), START),
        }
        badness = [math.nan if e.badness is None else e.badness for e in examples]
        self.badness = torch.tensor(badness, device=device)
        aims: dict[tuple[str, int], int] = {}
        self.groups = np.array(
            [aims.setdefault((e.text, e.source.pieces.ids[0]), len(aims)) for e in examples]
        )
        """The number of the source and level of each example."""
        self.lengths = np.array(
            [
                (len(s.pieces.ids), len(s), len(e.actions))
                for s, e in zip(sources, examples, strict=True)
            ]
        )
        self.device = device

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, rows: NDArray[np.int64]) -> "PointerBatch":
        """The examples of these rows."""
        pieces, words, actions = self.lengths[rows].max(0)
        index = torch.from_numpy(rows).to(self.device)
        width = dict.fromkeys(_PIECES, pieces) | dict.fromkeys(_WORDS, words)
        width |= {"first": words + 1, "actions": actions}
        fields = {n: t[index, : width[n]] for n, t in self.tensors.items()}
        groups = torch.from_numpy(self.groups[rows]).to(self.device)
        return PointerBatch(fields, groups, self.badness[index])


class PointerBatch:
    """A batch: the inputs of the encoder, the states of the decoder, the targets, the numbers of
    their sources, and how bad they are (NaN for those to write)."""

    def __init__(self, fields: dict[str, Tensor], groups: Tensor, badness: Tensor) -> None:
        self.fields, self.groups = fields, groups
        self.is_judged, self.badness = ~badness.isnan(), badness.nan_to_num()
        self.actions = fields["actions"]
        self.real = self.actions != START
        self.state = self._state()

    def encoder_inputs(self) -> tuple[Tensor, ...]:
        """What :meth:`PointerNetwork.encode` takes."""
        return tuple(self.fields[name] for name in ("pieces", "shapes", "first"))

    def _state(self) -> DecoderState:
        actions, words = self.actions, self.fields["same"].shape[1]
        previous = nn_pad(actions[:, :-1], START)
        ended = (previous == NEXT).long()
        sentence = ended.cumsum(1)
        steps = torch.arange(actions.shape[1], device=actions.device).expand_as(actions)
        opened = (steps * ended).cummax(1).values
        copying = previous >= COPY
        word = torch.where(copying, previous - COPY, 0)
        when = (steps * copying).cummax(1).values
        last = torch.where(copying.cumsum(1) > 0, word.gather(1, when), -1)
        marks = torch.zeros(*actions.shape, words, dtype=torch.long, device=actions.device)
        marks.scatter_(2, word[..., None], copying.long()[..., None])
        return DecoderState(previous, sentence, steps - opened, last, marks.cumsum(1).clamp(max=2))

    def spellings(self) -> Tensor:
        """(batch, actions and words): for each action the first one that writes the same."""
        same, twins = self.fields["same"], self.fields["twins"]
        places = torch.arange(same.shape[1], device=same.device)
        copied = COPY + torch.where(same >= 0, same, places)
        words = torch.where(twins >= 0, twins, copied)
        others = torch.arange(COPY, device=same.device).expand(len(same), COPY)
        return torch.cat([others, words], 1)


def nn_pad(tensor: Tensor, value: int) -> Tensor:
    """One column in front."""
    return torch.nn.functional.pad(tensor, (1, 0), value=value)


log = logging.getLogger(__name__)

CHUNK = 1000
"""The number of pairs that a process makes into examples at once."""
_SHORTEST = 5

SURE = {
    Level.PLAIN: (-4.0, -1.1),
    Level.LIGHT: (-3.5, -1.2),
    Level.ATOMIC: (-7.0, -1.2),
}
"""The least log-probability of a rewrite by the teacher that is learned from, and that of a source
which it leaves whole."""
SPLIT_INSTEAD = (-1.5, -3.5)
"""A sampled split takes the place of the whole source if it is at most that much less probable, and
at least that probable."""
RISKY = 0.2
"""The highest probability of a fault, by the teacher, in a split that is learned from."""
RIGHT, WRONG = 0.85, 0.4
"""The teacher's probability that a split is right, from which on it counts as good, and up to which
as bad; what lies between is not learned from."""
STAYS, SPLITS = 0.15, 0.7
"""Its probability that a sentence should be split further, up to which the sentence may stay as it
is, and from which on it should be split."""
RIVALS = 3
"""The number of bad splits of a source that are learned from, likeliest first."""
FAITHFUL = ("taught", *Level)
"""Kinds of rewrites that are learned from only if they keep all content words and add none."""


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A source and its simple sentences, as text; ``kind`` says where it comes from."""

    source: str
    simple: tuple[str, ...]
    kind: str
    level: Level = Level.PLAIN
    badness: float | None = None
    """What raters found: 0.0 (no fault), FURTHER or FAULT; None for a rewrite to learn to write."""

    @property
    def is_whole(self) -> bool:
        """Whether the source should stay as it is."""
        return self.simple == (self.source,)

    @property
    def is_faithful(self) -> bool:
        """Whether the rewrite has the content words of the source, and no others."""
        written = {word for sentence in self.simple for word in _content(sentence)}
        return self.is_whole or written == set(_content(self.source))


def read_rewrites(path: Path, kind: str) -> Iterator[TrainingPair]:
    """The rewrites of a JSONL file with ``complex`` and ``simple``; those with a ``level`` that is
    not plain have it as their kind. Of judgements (``source``, ``simple``, ``faults``) all are of
    the kind "judged", and splits without any fault are rewrites to write, too."""
    for record in read_records(path):
        level = Level(record.get("level") or Level.PLAIN)
        own = kind if level is Level.PLAIN else level.value
        simple = tuple(record["simple"])
        if "faults" not in record:
            yield TrainingPair(record["complex"], simple, own, level)
            continue
        kinds = {fault for _, fault in record["faults"]}
        badness = 0.0 if not kinds else FURTHER if kinds == {SPLIT_FURTHER} else FAULT
        yield TrainingPair(record["source"], simple, "judged", level, badness)
        if not kinds and len(simple) > 1:
            yield TrainingPair(record["source"], simple, own, level)


Option = tuple[Sequence[str], float, Sequence[float]]
"""Simple sentences, the teacher's log-probability of them, and of a fault in each."""


def preferred(
    source: str, options: Iterable[Option], level: Level = Level.PLAIN
) -> list[str] | None:
    """The rewrite of a source that the teacher finds right and likely; None if it is not sure of
    any."""
    whole, splits = -math.inf, []
    least_split, least_whole = SURE[level]
    for simple, log_chance, risks in options:
        if list(simple) == [source]:
            whole = log_chance
        elif len(simple) > 1 and max(risks, default=0.0) <= RISKY and log_chance >= least_split:
            splits.append((preference(log_chance, risks), list(simple)))
    score, best = max(splits, default=(-math.inf, None))
    gap, least = SPLIT_INSTEAD
    if best and (whole == -math.inf or score >= max(whole + gap, least)):
        return best
    return [source] if whole >= least_whole else None


def judged_by_teacher(source: RankedSource) -> Iterator[TrainingPair]:
    """What the teacher says of the candidates of a source where it is sure: the best split, the bad
    ones that the pointer finds likeliest, and the source as it is."""

    def judged(simple: tuple[str, ...], badness: float) -> TrainingPair:
        return TrainingPair(source.complex, simple, "scored", source.level, badness)

    splits, rivals = [], []
    for each in source.candidates:
        if not (each.risks and each.more and each.teacher is not None):
            continue
        further, simple = max(each.more), tuple(each.simple)
        right = math.prod(1 - risk for risk in each.risks)
        if simple == (source.complex,):
            if not STAYS < further < SPLITS:
                yield judged(simple, FURTHER if further >= SPLITS else 0.0)
        elif len(simple) > 1 and right >= RIGHT and further <= STAYS:
            splits.append((preference(each.teacher, each.risks), simple))
        elif len(simple) > 1 and (right <= WRONG or (right >= RIGHT and further >= SPLITS)):
            likely = -math.inf if each.log_chance is None else each.log_chance
            rivals.append((likely, simple, FAULT if right <= WRONG else FURTHER))
    if splits and rivals:
        yield judged(max(splits)[1], 0.0)
        for _, simple, badness in sorted(rivals, reverse=True)[:RIVALS]:
            yield judged(simple, badness)


def read_taught(path: Path) -> Iterator[TrainingPair]:
    """The rewrites that the teacher prefers in a folder from ``parataxis train verifier --only
    label`` or ``--only score``, without those that change a sentence but do not split it; with
    the latter also its judgements, of the kind "scored"."""
    scored = sorted(path.glob("*.scored"))
    for source in chain.from_iterable(map(read_sources, scored)):
        known = [
            (each.simple, each.teacher, each.risks)
            for each in source.candidates
            if each.teacher is not None and each.risks
        ]
        if best := preferred(source.complex, known, source.level):
            yield _taught(source.complex, best, source.level)
        yield from judged_by_teacher(source)
    for record in () if scored else read_labels(path):
        level = Level(record.get("level") or Level.PLAIN)
        options = [
            (each["simple"], each["log_chance"], each["risks"])
            for each in (record, record.get("split"))
            if each
        ]
        if best := preferred(record["complex"], options, level):
            yield _taught(record["complex"], best, level)


def _taught(source: str, simple: Sequence[str], level: Level) -> TrainingPair:
    kind = "taught" if level is Level.PLAIN else f"{level}-taught"
    return TrainingPair(source, tuple(simple), kind, level)


def simple_sentences(pairs: Iterable[TrainingPair], every: int) -> Iterator[TrainingPair]:
    """Every so many-th simple sentence of the plain rewrites: it should stay as it is."""
    split = (pair for pair in pairs if len(pair.simple) > 1 and pair.level is Level.PLAIN)
    for number, sentence in enumerate(sentence for pair in split for sentence in pair.simple):
        if number % every == 0 and len(sentence.split()) >= _SHORTEST:
            yield TrainingPair(sentence, (sentence,), "simple")


def _content(text: str) -> Iterator[str]:
    for token in tokenize(text):
        word = key(token.text)
        if has_word(word) and closed_word(word) is None:
            yield min(lemmas(word))


def make_examples(pairs: Iterable[TrainingPair]) -> Iterator[PointerExample]:
    """Examples of the pairs that the model can write at all, made in several processes."""
    known = list(pairs)
    parts = [known[start : start + CHUNK] for start in range(0, len(known), CHUNK)]
    made = 0
    with ProcessPoolExecutor(threads()) as pool:
        for examples in pool.map(_made, parts):
            made += len(examples)
            yield from examples
    log.info("%d of %d pairs can be written", made, len(known))


def _made(pairs: Sequence[TrainingPair]) -> list[PointerExample]:
    examples = []
    for pair in pairs:
        words = [token.text for token in tokenize(pair.source)]
        if pair.kind.startswith(FAITHFUL) and not pair.is_faithful:
            continue
        actions = target_actions(words, pair.simple, whole=pair.is_whole)
        if actions is not None:
            source = read_source(words, pair.level)
            examples.append(PointerExample(source, actions, pair.kind, pair.source, pair.badness))
    return examples
