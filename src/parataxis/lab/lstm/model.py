"""A trained model in a folder, run by onnxruntime: two graphs, the words, and a description."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import ParataxisError
from parataxis.lab.lstm.search import PAD, UNKNOWN, Arrays, Step, Vocabulary
from parataxis.syntax.onnx import Model, OnnxModel

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
DESCRIPTION, WORDS = "lstm.json", "words.txt"
VERSION = 1
"""The version of the files in a model's folder."""

SENTENCES, TRIPLES = "sentences", "triples"
"""What a model reads."""


@dataclass(frozen=True)
class LstmDescription:
    """What a model is, stored beside it as ``lstm.json``."""

    copies: bool
    feeds: bool
    """Whether a step is fed the last attentional state, besides the last word."""
    width: int
    words: int
    reads: str
    configuration: str
    version: int = VERSION

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "LstmDescription":
        """The description in a folder, if it is one of this version."""
        if not folder.is_dir():
            raise ParataxisError(f"{folder} is not a folder; name the folder of a trained model.")
        path = folder / DESCRIPTION
        if not path.is_file():
            raise ParataxisError(f"There is no model in {folder}: {DESCRIPTION} is missing.")
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            version = stored["version"]
        except (ValueError, KeyError, TypeError) as error:
            raise ParataxisError(f"{path} is damaged; export the model again.") from error
        names = {field.name for field in fields(cls)}
        if version != VERSION or set(stored) != names:
            raise ParataxisError(
                f"The model in {folder} has version {version}, and this version of Parataxis reads "
                f"version {VERSION}; export it again."
            )
        return cls(**stored)


@dataclass
class LoadedModel:
    """A model that is ready to write."""

    description: LstmDescription
    vocabulary: Vocabulary
    decoder: "OnnxLstmDecoder"


def open_model(folder: Path) -> LoadedModel:
    """The model in a folder; :class:`ParataxisError` where it is not there or does not fit."""
    description = LstmDescription.read(folder)
    for name in (ENCODER, DECODER, WORDS):
        if not (folder / name).is_file():
            raise ParataxisError(f"The model in {folder} is incomplete: {name} is missing.")
    vocabulary = Vocabulary.load(folder / WORDS)
    if len(vocabulary) != description.words:
        raise ParataxisError(
            f"{folder / WORDS} has {len(vocabulary):,} words with the marks, and the model was "
            f"trained with {description.words:,}; export it again."
        )
    try:
        encoder, decoder = OnnxModel(folder / ENCODER), OnnxModel(folder / DECODER)
    except Exception as error:  # onnxruntime names no error for a file that is not a graph
        raise ParataxisError(f"A graph in {folder} is damaged; export the model again.") from error
    return LoadedModel(description, vocabulary, OnnxLstmDecoder(encoder, decoder, description))


class OnnxLstmDecoder:
    """The two graphs behind the interface of the search."""

    def __init__(self, encoder: Model, decoder: Model, description: LstmDescription) -> None:
        self._encoder, self._decoder, self._words = encoder, decoder, description.words
        # A graph has no inputs that it does not use.
        unused = {"fed": description.feeds, "source": description.copies}
        self._unused = [name for name, is_used in unused.items() if not is_used]

    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        """Read the sources one by one, so that padding does not affect them."""
        width = max(map(len, sources))
        numbers = np.full((len(sources), width), PAD, dtype=np.int64)
        memory: dict[str, NDArray[Any]] = {"source": numbers}
        states: dict[str, list[NDArray[Any]]] = {}
        for row, source in enumerate(sources):
            numbers[row, : len(source)] = source
            known = np.where(numbers[row] < self._words, numbers[row], UNKNOWN)[: len(source)]
            found = self._encoder({"words": known[None]})
            for name in ("memory", "keys"):
                array = found[name]
                padded = memory.setdefault(
                    name, np.zeros((len(sources), width, array.shape[2]), dtype=np.float32)
                )
                padded[row, : len(source)] = array[0]
            for name in ("state", "cell"):
                states.setdefault(name, []).append(found[name])
        memory["hidden"] = numbers == PAD
        started = {
            name: np.repeat(np.concatenate(parts)[:, None], beam, axis=1)
            for name, parts in states.items()
        }
        started["fed"] = np.zeros_like(started["state"])
        return memory, started

    def step(self, memory: Arrays, state: Arrays, previous: NDArray[np.int64]) -> Step:
        """Score the next words of all hypotheses."""
        inputs = {**memory, **state, "previous": previous}
        for name in self._unused:
            del inputs[name]
        found = self._decoder(inputs)
        states = {name: found[f"next_{name}"] for name in ("state", "cell", "fed")}
        return Step(found["words"], found["logs"], found["attention"], states)
