"""The shipped pointer model, run by onnxruntime.

A source is read alone or beside others of the same length, and padded to a width that depends on
its own length, and all other numbers of a step belong to one hypothesis each. So a source gives the
same bits in every batch.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import ParataxisError
from parataxis.splitters.pointer.actions import CLOSED_WORDS, COPY, FORM_NAMES, Features
from parataxis.splitters.pointer.search import Place
from parataxis.syntax.onnx import Arrays, Model, OnnxModel
from parataxis.syntax.wordpieces import Pieces, stack

SHIPPED = Path(str(files("parataxis.splitters.pointer"))) / "model"
ENCODER, DECODER, DESCRIPTION = "encoder.onnx", "decoder.onnx", "pointer.json"

MEMORY_AXES = {"keys": 2, "values": 2, "targets": 1, "inputs": 1}
"""What the encoder says about a source, and along which axis the words lie. There are keys and
values for each layer ("keys_0")."""

WIDTH_STEP = 32
"""Sources are padded to a multiple of this many words."""
_HIDDEN = -1e4
_UNSEEN = -1e9


@dataclass(frozen=True)
class PointerDescription:
    """What a model was trained for, stored beside it as ``pointer.json``."""

    layers: int
    width: int
    forms: tuple[str, ...]
    closed_words: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> "PointerDescription":
        """Read what :meth:`write` wrote."""
        stored = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            stored["layers"],
            stored["width"],
            tuple(stored["forms"]),
            tuple(stored["closed_words"]),
        )

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), ensure_ascii=False) + "\n", encoding="utf-8")


def this_description(layers: int, width: int) -> PointerDescription:
    """The description of a model that fits the actions of this version."""
    return PointerDescription(layers, width, FORM_NAMES, CLOSED_WORDS)


@dataclass
class _Group:
    """Sources of one width: their rows in the batch and what the encoder said about them."""

    rows: NDArray[np.int64]
    arrays: Arrays

    @property
    def width(self) -> int:
        return int(self.arrays["hidden"].shape[1])


class OnnxMemory:
    """Sources as the encoder has read them, those of the same width together."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.groups = groups

    def select(self, rows: NDArray[np.int64]) -> "OnnxMemory":
        """Only these sources."""
        chosen = []
        for group in self.groups:
            new, old = np.nonzero(rows[:, None] == group.rows)
            if len(new):
                arrays = {name: array[old] for name, array in group.arrays.items()}
                chosen.append(_Group(new, arrays))
        return OnnxMemory(chosen)


def padded_width(words: int) -> int:
    """How many words wide the memory of a source is.

    >>> [padded_width(words) for words in (1, 32, 33)]
    [32, 32, 64]
    """
    return max(1, -(-words // WIDTH_STEP)) * WIDTH_STEP


class OnnxDecoder:
    """The two halves of the pointer model behind the interface of the search."""

    def __init__(self, encoder: Model, decoder: Model, description: PointerDescription) -> None:
        self._encoder, self._decoder = encoder, decoder
        self._state = (description.layers, description.width)

    def read(self, sources: Sequence[Features]) -> tuple[OnnxMemory, int, tuple[int, int]]:
        """Read the sources, those of the same number of word pieces together."""
        by_width = defaultdict(list)
        for row, source in enumerate(sources):
            by_width[padded_width(len(source))].append(row)
        groups = [
            _Group(np.array(rows), self._stacked([sources[row] for row in rows], width))
            for width, rows in sorted(by_width.items())
        ]
        return OnnxMemory(groups), max(by_width), self._state

    def _stacked(self, sources: Sequence[Features], width: int) -> Arrays:
        """What the encoder says about sources of one width, padded to it."""
        words = np.array([len(source) for source in sources])
        present = np.arange(width) < words[:, None]
        stacked = {"hidden": np.where(present, 0.0, _HIDDEN).astype(np.float32)}
        by_length = defaultdict(list)
        for row, source in enumerate(sources):
            by_length[len(source.pieces.ids)].append(row)
        for rows in by_length.values():
            for name, array in self._read([sources[row].pieces for row in rows]).items():
                axis = MEMORY_AXES[name.partition("_")[0]]
                if name not in stacked:
                    shape = (len(sources), *array.shape[1:axis], width, *array.shape[axis + 1 :])
                    stacked[name] = np.zeros(shape, dtype=np.float32)
                for row, own in zip(rows, array, strict=True):
                    inside = (slice(None),) * (axis - 1) + (slice(len(sources[row])),)
                    stacked[name][row][inside] = own[inside]
        return stacked

    def _read(self, pieces: Sequence[Pieces]) -> Arrays:
        return self._encoder(
            {
                "pieces": stack([each.ids for each in pieces]),
                "shapes": stack([each.shapes for each in pieces]),
                "first": stack([each.first for each in pieces]),
            }
        )

    def step(
        self, memory: OnnxMemory, place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score the next actions of all hypotheses."""
        first = memory.groups[0]
        if len(memory.groups) == 1 and first.width == place.copied.shape[2]:
            return self._step(first, place)
        logs = np.full(
            (*place.previous.shape, COPY + place.copied.shape[2]), _UNSEEN, dtype=np.float32
        )
        recurrent = np.empty_like(place.recurrent)
        for group in memory.groups:
            rows = group.rows
            found, recurrent[rows] = self._step(group, place.select(rows))
            logs[rows, :, : found.shape[2]] = found
        return logs, recurrent

    def _step(self, group: _Group, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        found = self._decoder(
            {
                **group.arrays,
                "previous": place.previous,
                "sentence": place.sentence,
                "place": place.place,
                "last": place.last,
                "copied": np.ascontiguousarray(place.copied[:, :, : group.width]),
                "recurrent": place.recurrent,
            }
        )
        return found["logs"], found["states"]


def open_decoder(folder: Path) -> OnnxDecoder:
    """The model in a folder; :class:`ParataxisError` where it is not there or does not fit."""
    path = folder / DESCRIPTION
    if not path.exists():
        raise ParataxisError(f"There is no pointer model in {folder}: {DESCRIPTION} is missing.")
    description = PointerDescription.read(path)
    if description != this_description(description.layers, description.width):
        raise ParataxisError(
            f"The pointer model in {folder} was trained with other forms or closed words than this "
            "version of Parataxis has; install the version it belongs to, or train it again."
        )
    return OnnxDecoder(OnnxModel(folder / ENCODER), OnnxModel(folder / DECODER), description)


@cache
def load_decoder() -> OnnxDecoder:
    """The model that ships with Parataxis, loaded once per process."""
    return open_decoder(SHIPPED)
