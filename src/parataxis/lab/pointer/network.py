"""The pointer network: an encoder over word pieces, and a small recurrent decoder over words.

The decoder keeps no growing cache. Its recurrence is the simple one of Kim et al. (2019, "From
research to production and back"), so a hypothesis is a few short vectors, and a step costs the
same at any length. What it has copied last and what it has copied already bend its attention and
its pointer directly.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from parataxis.lab.encoder import Encoder
from parataxis.splitters.pointer.actions import COPY

REACH = 32
"""Distances from the word copied last are distinguished up to this many words."""
NOWHERE = 2 * REACH + 1
"""The distance while nothing has been copied yet."""
SENTENCES = 8
PLACES = 48
COPIED = 3
"""A source word has been copied never, once, or more often."""


@dataclass(frozen=True)
class PointerSizes:
    """The dimensions of the parts above the encoder."""

    width: int = 384
    heads: int = 6
    layers: int = 3
    inner: int = 1536
    dropout: float = 0.1


@dataclass
class NetworkMemory:
    """What the decoder knows of the sources: one entry per layer in ``keys`` and ``values``."""

    keys: list[Tensor]
    """(batch, heads, words, width of a head)"""
    values: list[Tensor]
    targets: Tensor
    """(batch, words, width): what the pointer compares with."""
    inputs: Tensor
    """(batch, words, width): what the decoder reads when it has copied a word."""
    hidden: Tensor
    """(batch, words): added to scores, so that padding is never seen."""

    def select(self, index: Tensor) -> "NetworkMemory":
        """Only these sources."""
        return NetworkMemory(
            [keys[index] for keys in self.keys],
            [values[index] for values in self.values],
            self.targets[index],
            self.inputs[index],
            self.hidden[index],
        )


@dataclass
class DecoderState:
    """Where hypotheses stand, all (batch, steps) but ``copied`` (batch, steps, words)."""

    previous: Tensor
    """The action taken last."""
    sentence: Tensor
    """How many sentences are finished."""
    place: Tensor
    """How many actions the present sentence has had."""
    last: Tensor
    """The word copied last, -1 for none."""
    copied: Tensor
    """How often each word has been copied, at most twice."""


class Recurrence(nn.Module):
    """A forgetting sum: what is kept of the past and what is added are chosen by the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gates = nn.Linear(width, 2 * width)
        nn.init.constant_(self.gates.bias[width:], 1.0)

    def forward(self, steps: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
        """The steps (batch, steps, width) of one sequence from its start (batch, width), or one
        step each of several hypotheses from their starts (batch, steps, width)."""
        new, forget = self.gates(self.norm(steps)).float().chunk(2, -1)
        forget = forget.sigmoid()
        terms = (1 - forget) * new
        if start.dim() == steps.dim():
            sums = forget * start + terms
            return torch.relu(sums).to(steps.dtype), sums
        sums = _scan(forget, terms, start.float())
        return torch.relu(sums).to(steps.dtype), sums[:, -1]


def _scan(factors: Tensor, terms: Tensor, start: Tensor) -> Tensor:
    """s[t] = factors[t] * s[t - 1] + terms[t], by doubling."""
    terms = torch.cat([terms[:, :1] + factors[:, :1] * start[:, None], terms[:, 1:]], 1)
    stride, count = 1, terms.shape[1]
    while stride < count:
        terms = torch.cat(
            [terms[:, :stride], terms[:, stride:] + factors[:, stride:] * terms[:, :-stride]], 1
        )
        factors = torch.cat([factors[:, :stride], factors[:, stride:] * factors[:, :-stride]], 1)
        stride *= 2
    return terms


class Bend(nn.Module):
    """How attention to source words depends on the word copied last and on what was copied."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.distance = nn.Embedding(NOWHERE + 1, heads)
        self.copied = nn.Embedding(COPIED, heads)
        nn.init.zeros_(self.distance.weight)
        nn.init.zeros_(self.copied.weight)

    def forward(self, distance: Tensor, copied: Tensor) -> Tensor:
        """(batch, heads, steps, words)"""
        return (self.distance(distance) + self.copied(copied)).permute(0, 3, 1, 2)  # type: ignore[no-any-return]


class DecoderLayer(nn.Module):
    """Recurrence, attention to the source words, and a feed-forward part."""

    def __init__(self, sizes: PointerSizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.recurrence = Recurrence(sizes.width)
        self.norm = nn.LayerNorm(sizes.width)
        self.query = nn.Linear(sizes.width, sizes.width)
        self.key = nn.Linear(sizes.width, sizes.width)
        self.value = nn.Linear(sizes.width, sizes.width)
        self.output = nn.Linear(sizes.width, sizes.width)
        self.bend = Bend(sizes.heads)
        self.inner_norm = nn.LayerNorm(sizes.width)
        self.inner = nn.Linear(sizes.width, sizes.inner)
        self.outer = nn.Linear(sizes.inner, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)

    def split(self, words: Tensor) -> Tensor:
        """(batch, heads, words, width of a head)"""
        batch, count, width = words.shape
        return words.view(batch, count, self.heads, width // self.heads).transpose(1, 2)

    def forward(
        self,
        steps: Tensor,
        keys: Tensor,
        values: Tensor,
        view: tuple[Tensor, Tensor, Tensor],
        start: Tensor,
    ) -> tuple[Tensor, Tensor]:
        distance, copied, hidden = view
        batch, count, width = steps.shape
        recurrent, end = self.recurrence(steps, start)
        steps = steps + self.dropout(recurrent)
        query = self.split(self.query(self.norm(steps)))
        bias = self.bend(distance, copied) + hidden[:, None, None]
        scores = query @ keys.transpose(2, 3) / math.sqrt(width // self.heads) + bias
        mixed = (scores.softmax(-1) @ values).transpose(1, 2).reshape(batch, count, width)
        steps = steps + self.dropout(self.output(mixed))
        inner = nn.functional.relu(self.inner(self.inner_norm(steps)))
        return steps + self.dropout(self.outer(inner)), end


class PointerNetwork(nn.Module):
    """Source words in; the scores of every action at every step out."""

    def __init__(self, encoder: Encoder, sizes: PointerSizes) -> None:
        super().__init__()
        self.encoder, self.sizes = encoder, sizes
        width = sizes.width
        self.bridge = nn.Linear(encoder.size.width, width)
        if encoder.size.width == width:
            nn.init.eye_(self.bridge.weight)
            nn.init.zeros_(self.bridge.bias)
        self.words_norm = nn.LayerNorm(width)

        self.actions = nn.Embedding(COPY, width)
        self.copies = nn.Linear(width, width)
        self.sentences = nn.Embedding(SENTENCES, width)
        self.places = nn.Embedding(PLACES, width)
        for table in (self.actions, self.sentences, self.places):
            nn.init.normal_(table.weight, std=0.02)
        self.layers = nn.ModuleList(DecoderLayer(sizes) for _ in range(sizes.layers))
        self.norm = nn.LayerNorm(width)
        self.closed = nn.Linear(width, width)
        self.pointer = nn.Linear(width, width)
        self.targets = nn.Linear(width, width)
        self.moves = nn.Linear(width, NOWHERE + 1 + COPIED)
        nn.init.zeros_(self.moves.weight)
        nn.init.zeros_(self.moves.bias)
        self.dropout = nn.Dropout(sizes.dropout)

    def encode(self, pieces: Tensor, shapes: Tensor, first: Tensor) -> NetworkMemory:
        """Read the sources; ``first`` has the place of the opening mark in front."""
        states = self.encoder(pieces, shapes, (pieces > 0).long())[-1]
        words = self.words_norm(self.dropout(self.bridge(_rows(states, first[:, 1:]))))
        hidden = (first[:, 1:] == 0).to(words.dtype) * -1e4
        return NetworkMemory(
            [layer.split(layer.key(words)) for layer in self.layers],  # type: ignore[operator]
            [layer.split(layer.value(words)) for layer in self.layers],  # type: ignore[operator]
            self.targets(words),
            self.copies(words),
            hidden,
        )

    def start(self, batch: int, device: torch.device) -> list[Tensor]:
        """The state of the recurrences before the first action."""
        return [torch.zeros(batch, self.sizes.width, device=device) for _ in self.layers]

    def forward(
        self, memory: NetworkMemory, state: DecoderState, starts: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        """The score of each action (batch, steps, actions and words) and the new recurrences."""
        words = memory.inputs.shape[1]
        copied = state.previous >= COPY
        word = (state.previous - COPY).clamp(min=0)
        steps = torch.where(
            copied[..., None],
            _rows(memory.inputs, word),
            self.actions(state.previous.clamp(max=COPY - 1)),
        )
        steps = steps + self.sentences(state.sentence.clamp(max=SENTENCES - 1))
        steps = self.dropout(steps + self.places(state.place.clamp(max=PLACES - 1)))
        nowhere = (state.last < 0)[..., None]
        place = torch.arange(words, device=steps.device)
        distance = (place - state.last[..., None]).clamp(-REACH, REACH) + REACH
        distance = torch.where(nowhere, NOWHERE, distance)
        view = (distance, state.copied, memory.hidden)
        ends = []
        for layer, keys, values, start in zip(
            self.layers, memory.keys, memory.values, starts, strict=True
        ):
            steps, end = layer(steps, keys, values, view, start)
            ends.append(end)
        steps = self.norm(steps)
        closed = self.closed(steps) @ self.actions.weight.t()
        pointed = self.pointer(steps) @ memory.targets.transpose(1, 2)
        pointed = pointed / math.sqrt(self.sizes.width)
        by_distance, by_copied = self.moves(steps).split((NOWHERE + 1, COPIED), -1)
        pointed = pointed + by_distance.gather(2, distance) + by_copied.gather(2, state.copied)
        return torch.cat([closed, pointed + memory.hidden[:, None]], -1), ends


def _rows(table: Tensor, index: Tensor) -> Tensor:
    """The rows of each batch entry's table that its index names."""
    return table.gather(1, index[..., None].expand(-1, -1, table.shape[-1]))
