"""The sentences that all systems are timed on, with the word pieces a T5 model needs for them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parataxis.splitters.pointer.actions import Features, read_source
from parataxis.syntax.wordpieces import load_word_pieces
from parataxis.text.tokens import tokenize

__all__ = ["OWN", "WARM_UP", "Item", "batches", "by_length", "read_items", "spread"]

OWN = Path(__file__).parents[2] / "data" / "rewrites" / "original.jsonl"
"""Rewrites of sentences written for this project, which ship with it."""
LOOKED_AT = 1000
"""Sentences of a file among which those that are timed are chosen."""


@dataclass(frozen=True)
class Item:
    """A sentence, and how many word pieces a T5 model reads and writes for it."""

    text: str
    source: Features
    pieces_in: int
    pieces_out: int


def read_items(path: Path = OWN) -> list[Item]:
    """Sentences with references, evenly from a JSONL file of rewrites ("complex" and "simple")."""
    lines = path.read_text(encoding="utf-8").splitlines()
    step = max(1, len(lines) // LOOKED_AT)
    return [_item(json.loads(line)) for line in lines[::step][:LOOKED_AT]]


def _item(record: dict[str, object]) -> Item:
    text, simple = str(record["complex"]), record["simple"]
    written = " ".join(simple) if isinstance(simple, list) else str(simple)
    source = read_source([token.text for token in tokenize(text)])
    (target,) = load_word_pieces()([[token.text for token in tokenize(written)]])
    # Without one of the marks that our encoder puts at both ends: T5 has one.
    return Item(text, source, len(source.pieces.ids) - 1, len(target.ids) - 1)


WARM_UP = _item(
    {
        "complex": "The dam, which broke in May, was built in 1905 and had been repaired twice.",
        "simple": ["The dam broke in May.", "It was built in 1905.", "It had been repaired twice."],
    }
)
"""A sentence to warm up with."""


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """A number of items, spread evenly over all lengths."""
    if count >= len(items):
        return list(items)
    ordered = sorted(items, key=lambda item: item.pieces_out)
    return [ordered[int((place + 0.5) * len(items) / count)] for place in range(count)]


def by_length(items: Sequence[Item], lengths: Sequence[int], count: int) -> list[list[Item]]:
    """For each of the lengths, so many items whose number of words is closest to it."""
    return [
        sorted(items, key=lambda item: abs(len(item.source) - length))[:count] for length in lengths
    ]


def batches(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Batches of similar length, longest first."""
    ordered = sorted(items, key=lambda item: -item.pieces_out)
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]
