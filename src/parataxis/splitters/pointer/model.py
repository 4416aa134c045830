"""The pointer model, run by onnxruntime.

A source gives bit-identical results in every batch: it is read together with sources of the same
length only, padded to a width that depends on its own length, and everything else in a step belongs
to a single hypothesis.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from parataxis.errors import ParataxisError
from parataxis.splitters.pointer.actions import CLOSED_WORDS, COPY, FORM_NAMES, Features
from parataxis.splitters.pointer.search import Place
from parataxis.syntax.onnx import Arrays, Model, OnnxModel, model_folder
from parataxis.syntax.wordpieces import Pieces, stack

ENCODER, DECODER, DESCRIPTION = "encoder.onnx", "decoder.onnx", "pointer.json"

MEMORY_AXES = {"keys": 2, "values": 2, "targets": 1, "inputs": 1}
"""The outputs of the encoder, and the axis of the words in each. There are keys and values for
each layer ("keys_0")."""

WIDTH_STEP = 32
"""Sources are padded to a multiple of this many words."""
_HIDDEN = -1e4
_UNSEEN = -1e9


class PointerDescription(BaseModel):
    """The actions that a model was trained for, stored beside it as ``pointer.json``."""

    model_config = ConfigDict(frozen=True)

    layers: int
    width: int
    forms: tuple[str, ...] = FORM_NAMES
    closed_words: tuple[str, ...] = CLOSED_WORDS

    @classmethod
    def read(cls, path: Path) -> "PointerDescription":
        return cls.model_validate_json(path.read_bytes())

    def write(self, path: Path) -> None:
        path.write_text(self.model_dump_json() + "\n", encoding="utf-8")


@dataclass
class _Group:
    """Sources of one width: their rows in the batch and the outputs of the encoder."""

    rows: NDArray[np.int64]
    arrays: Arrays

    @property
    def width(self) -> int:
        return int(self.arrays["hidden"].shape[1])


class OnnxMemory:
    """Encoded sources, grouped by width."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.groups = groups

    def select(self, rows: NDArray[np.int64]) -> "OnnxMemory":
        chosen = []
        for group in self.groups:
            new, old = np.nonzero(rows[:, None] == group.rows)
            if len(new):
                arrays = {name: array[old] for name, array in group.arrays.items()}
                chosen.append(_Group(new, arrays))
        return OnnxMemory(chosen)


def padded_width(words: int) -> int:
    """The width of the memory of a source, in words.

    >>> [padded_width(words) for words in (1, 32, 33)]
    [32, 32, 64]
    """
    return max(1, -(-words // WIDTH_STEP)) * WIDTH_STEP


class OnnxDecoder:
    """Encoder and decoder of the pointer model, as the search uses them."""

    def __init__(self, encoder: Model, decoder: Model, description: PointerDescription) -> None:
        self._encoder, self._decoder = encoder, decoder
        self._state = (description.layers, description.width)

    def read(self, sources: Sequence[Features]) -> tuple[OnnxMemory, int, tuple[int, int]]:
        """Encode the sources, in batches with the same number of word pieces."""
        by_width = defaultdict(list)
        for row, source in enumerate(sources):
            by_width[padded_width(len(source))].append(row)
        groups = [
            _Group(np.array(rows), self._stacked([sources[row] for row in rows], width))
            for width, rows in sorted(by_width.items())
        ]
        return OnnxMemory(groups), max(by_width), self._state

    def _stacked(self, sources: Sequence[Features], width: int) -> Arrays:
        """The outputs of the encoder for sources of one width, padded to it."""
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
    """Open the model in a folder; raises ParataxisError if it is missing or does not fit."""
    path = folder / DESCRIPTION
    if not path.exists():
        raise ParataxisError(f"There is no pointer model in {folder}: {DESCRIPTION} is missing.")
    description = PointerDescription.read(path)
    if (description.forms, description.closed_words) != (FORM_NAMES, CLOSED_WORDS):
        raise ParataxisError(
            f"The pointer model in {folder} was trained with other forms or closed words than this "
            "version of Parataxis has; install the version it belongs to, or train it again."
        )
    return OnnxDecoder(OnnxModel(folder / ENCODER), OnnxModel(folder / DECODER), description)


@cache
def load_decoder() -> OnnxDecoder:
    """The pointer model, loaded once per process."""
    return open_decoder(model_folder("pointer"))
