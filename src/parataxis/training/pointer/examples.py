"""Training examples as numbers, in one file, and as padded batches on a device."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.splitters.pointer.actions import COPY, NEXT, START
from parataxis.splitters.pointer.features import Features
from parataxis.syntax.wordpieces import Pieces
from parataxis.training.pointer.network import State

__all__ = ["Batch", "Example", "ExampleSet", "read_examples", "write_examples"]

LONGEST = {"pieces": 160, "words": 120, "actions": 200}
"""Longer examples are left out: they are few, and would pad everything else."""

_PIECES = ("pieces", "shapes")
_WORDS = ("first", "same", "twins")


@dataclass(frozen=True, slots=True)
class Example:
    """A source and the actions that rewrite it; ``kind`` says where it comes from."""

    source: Features
    actions: Sequence[int]
    kind: str
    text: str

    @property
    def fits(self) -> bool:
        """Whether it is short enough to learn from."""
        return (
            len(self.source.pieces.ids) <= LONGEST["pieces"]
            and 0 < len(self.source) <= LONGEST["words"]
            and len(self.actions) <= LONGEST["actions"]
        )


def write_examples(examples: Iterable[Example], path: Path) -> int:
    """Write the examples that fit, and say how many."""
    kept = [example for example in examples if example.fits]
    fields: dict[str, NDArray[np.generic]] = {
        name: np.concatenate([np.asarray(_field(e, name), dtype=np.int16) for e in kept])
        for name in (*_PIECES, *_WORDS, "actions")
    }
    fields["lengths"] = np.array(
        [(len(e.source.pieces.ids), len(e.source), len(e.actions)) for e in kept]
    )
    texts = json.dumps([(e.kind, e.text) for e in kept], ensure_ascii=False)
    fields["texts"] = np.frombuffer(texts.encode(), dtype=np.uint8)
    np.savez_compressed(path, **fields)  # type: ignore[arg-type]
    return len(kept)


def _field(example: Example, name: str) -> Sequence[int]:
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


def read_examples(path: Path) -> list[Example]:
    """Read what :func:`write_examples` wrote."""
    stored = np.load(path)
    fields = {name: stored[name] for name in stored.files}
    texts = json.loads(fields.pop("texts").tobytes().decode())
    lengths = fields.pop("lengths")
    ends = np.cumsum(lengths, axis=0)
    examples = []
    for row, (kind, text) in enumerate(texts):
        part = {}
        for column, names in enumerate((_PIECES, _WORDS, ("actions",))):
            end = ends[row, column]
            for name in names:
                part[name] = fields[name][end - lengths[row, column] : end]
        pieces = Pieces(part["pieces"], part["shapes"], [0, *part["first"]])
        source = Features(pieces, part["same"], part["twins"])
        examples.append(Example(source, part["actions"], kind, text))
    return examples


class ExampleSet:
    """Examples as padded tensors on a device, from which batches are cut."""

    def __init__(self, examples: Sequence[Example], device: torch.device) -> None:
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
        self.lengths = np.array(
            [
                (len(s.pieces.ids), len(s), len(e.actions))
                for s, e in zip(sources, examples, strict=True)
            ]
        )
        self.device = device

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, rows: NDArray[np.int64]) -> "Batch":
        """The examples of these rows."""
        pieces, words, actions = self.lengths[rows].max(0)
        index = torch.from_numpy(rows).to(self.device)
        width = dict.fromkeys(_PIECES, pieces) | dict.fromkeys(_WORDS, words)
        width |= {"first": words + 1, "actions": actions}
        return Batch({n: t[index, : width[n]] for n, t in self.tensors.items()})


class Batch:
    """A batch: the inputs of the encoder, the states of the decoder, the targets."""

    def __init__(self, fields: dict[str, Tensor]) -> None:
        self.fields = fields
        self.actions = fields["actions"]
        self.real = self.actions != START
        self.state = self._state()

    def encoder_inputs(self) -> tuple[Tensor, ...]:
        """What :meth:`PointerNetwork.encode` takes."""
        return tuple(self.fields[name] for name in ("pieces", "shapes", "first"))

    def _state(self) -> State:
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
        return State(previous, sentence, steps - opened, last, marks.cumsum(1).clamp(max=2))

    def allowed(self) -> Tensor:
        """(batch, steps, actions and words): every action that writes the same as the target."""
        same, twins = self.fields["same"], self.fields["twins"]
        copying = self.actions >= COPY
        word = torch.where(copying, self.actions - COPY, 0)
        group, twin = same.gather(1, word), twins.gather(1, word)
        places = torch.where(
            copying[..., None],
            same[:, None] == group[..., None],
            twins[:, None] == self.actions[..., None],
        )
        closed = (
            torch.arange(COPY, device=same.device)
            == torch.where(copying, twin, self.actions)[..., None]
        )
        return torch.cat([closed, places], -1)


def nn_pad(tensor: Tensor, value: int) -> Tensor:
    """One column in front."""
    return torch.nn.functional.pad(tensor, (1, 0), value=value)
