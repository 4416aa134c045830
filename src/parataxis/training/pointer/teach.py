"""Teachers write rewrites of sentences that have none, for the small network to learn from."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import COPY, END, WHOLE
from parataxis.splitters.pointer.features import NO_TWIN, Features, read_source
from parataxis.splitters.pointer.search import Decoder, Found, Place, search
from parataxis.text.tokens import has_word, tokenize
from parataxis.training.pointer.examples import Example

__all__ = ["Ensemble", "unlabelled", "write_rewrites"]

BATCH = 384
LEAST_SCORE = -0.35
"""A rewrite of which the teachers are less sure (in mean log-probability) is not taught."""
SURE = (0.2, 0.8)
"""How likely "leave it whole" must be at most for a split, and at least for the source itself."""

SHORTEST, LONGEST = 10, 80
"""Sentences of fewer or more words are not worth teaching."""


def unlabelled(data: Path) -> Iterator[Example]:
    """Sentences without a rewrite, each once, the longest first: contracts, encyclopaedia,
    essays, biographies, treebanks."""
    rewritten = set(_rewritten(data))
    texts = {text.strip() for text in _texts(data)} - rewritten
    fitting = [text for text in texts if SHORTEST <= len(text.split()) <= LONGEST]
    for text in sorted(fitting, key=lambda text: (-len(text.split()), text)):
        words = [token.text for token in tokenize(text)]
        yield Example(read_source(words), [END], "unlabelled", text)


def _rewritten(data: Path) -> Iterator[str]:
    for name in ("train", "dev"):
        with (data / "rewrites" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            yield from (json.loads(line)["complex"] for line in lines)


def _texts(data: Path) -> Iterator[str]:
    with gzip.open(data / "contracts" / "sentences.txt.gz", "rt", encoding="utf-8") as lines:
        yield from lines
    for corpus in ("minwiki", "desse"):
        with (data / corpus / "train.complex").open(encoding="utf-8") as lines:
            yield from lines
    with gzip.open(data / "factscore" / "atomic_facts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for part in json.loads(line).get("annotations") or ():
                yield part["text"]
    for bank in ("ewt", "gum"):
        path = data / "ud" / f"{bank}-train.conllu.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            start = "# text = "
            yield from (line.removeprefix(start) for line in lines if line.startswith(start))


class EnsembleMemory:
    """What each of the decoders has read."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    def select(self, rows: NDArray[np.int64]) -> "EnsembleMemory":
        """Only these sources."""
        return EnsembleMemory([part.select(rows) for part in self.parts])


class Ensemble:
    """Several decoders of one shape as one: their probabilities are averaged."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = decoders

    def read(self, sources: Sequence[Features]) -> tuple[EnsembleMemory, int, tuple[int, int]]:
        """Read the sources."""
        read = [decoder.read(sources) for decoder in self._decoders]
        layers = sum(shape[0] for _, _, shape in read)
        return (
            EnsembleMemory([memory for memory, _, _ in read]),
            read[0][1],
            (layers, read[0][2][1]),
        )

    def step(
        self, memory: EnsembleMemory, place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score the next actions of all hypotheses."""
        states = np.split(place.recurrent, len(self._decoders), axis=2)
        logs, ends = [], []
        for decoder, part, recurrent in zip(self._decoders, memory.parts, states, strict=True):
            own = Place(
                place.previous, place.sentence, place.place, place.last, place.copied, recurrent
            )
            scores, end = decoder.step(part, own)
            logs.append(scores)
            ends.append(end)
        mean: NDArray[np.float32] = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
        return mean, np.concatenate(ends, axis=2)


def write_rewrites(
    decoder: Decoder, sources: Iterable[Example], *, beam: int = 4
) -> Iterator[Example]:
    """Rewrite the sources; what the decoder is not sure of, or loses a word, is left out."""
    stream = iter(sources)
    while batch := list(islice(stream, BATCH)):
        found = search(decoder, [example.source for example in batch], beam=beam)
        for example, result in zip(batch, found, strict=True):
            actions = _actions(example, result)
            if actions:
                yield Example(example.source, actions, "taught", example.text)


def _actions(example: Example, found: Found) -> list[int]:
    if found.whole >= SURE[1]:
        return [WHOLE]
    if found.whole > SURE[0]:
        return []
    words = [token.text for token in tokenize(example.text)]
    for hypothesis in found.hypotheses:
        if hypothesis.score >= LEAST_SCORE and _keeps_all(
            example.source, words, hypothesis.actions
        ):
            return [*hypothesis.actions, END]
    return []


def _keeps_all(source: Features, words: Sequence[str], actions: Sequence[int]) -> bool:
    """Whether every word that is no function word is copied, wherever it is spelt the same."""
    copied = {source.same[action - COPY] for action in actions if action >= COPY}
    return all(
        first in copied or twin != NO_TWIN or not has_word(word)
        for first, twin, word in zip(source.same, source.twins, words, strict=True)
    )
