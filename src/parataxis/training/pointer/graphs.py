"""The two halves of the pointer network as they are exported: reading a source, taking one step.

The step computes what :meth:`PointerNetwork.forward` computes for one step of each hypothesis, in
fewer operators, since for a single sentence each of them costs as much as the numbers it works on.
The export compares the two.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from parataxis.splitters.pointer.actions import COPY
from parataxis.training.pointer.network import (
    COPIED,
    NOWHERE,
    PLACES,
    REACH,
    SENTENCES,
    DecoderLayer,
    PointerNetwork,
)

__all__ = ["DecoderGraph", "EncoderGraph"]


class EncoderGraph(nn.Module):
    """One source in; out comes all that the decoder needs to know about it."""

    def __init__(self, network: PointerNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, pieces: Tensor, shapes: Tensor, first: Tensor) -> tuple[Tensor, ...]:
        memory = self.network.encode(pieces, shapes, first)
        return memory.targets, memory.inputs, *memory.keys, *memory.values


class DecoderGraph(nn.Module):
    """One step of all hypotheses (sources, beams): log-probabilities and new recurrent states."""

    def __init__(self, network: PointerNetwork) -> None:
        super().__init__()
        self.network = network
        self.layers: list[DecoderLayer] = list(network.layers)  # type: ignore[arg-type]
        bends = [
            layer.bend.distance.weight[:, None] + layer.bend.copied.weight[None]
            for layer in self.layers
        ]
        # One row for each pair of a distance and a number of copies, all layers side by side.
        self.bends = nn.Parameter(torch.cat(bends, -1).flatten(0, 1).detach())

    def forward(
        self,
        previous: Tensor,
        sentence: Tensor,
        place: Tensor,
        last: Tensor,
        copied: Tensor,
        recurrent: Tensor,
        hidden: Tensor,
        targets: Tensor,
        inputs: Tensor,
        *keys_and_values: Tensor,
    ) -> tuple[Tensor, Tensor]:
        count, width = len(self.layers), self.network.sizes.width
        words = torch.arange(hidden.shape[1], device=hidden.device)
        distance = (words - last[..., None]).clamp(-REACH, REACH) + REACH
        distance = torch.where(last[..., None] < 0, NOWHERE, distance)
        bends = nn.functional.embedding(distance * COPIED + copied, self.bends)
        bends = bends.permute(0, 3, 1, 2) + hidden[:, None, None]
        steps = self._input(previous, sentence, place, inputs)
        ends = []
        for layer, keys, values, bend, start in zip(
            self.layers,
            keys_and_values[:count],
            keys_and_values[count:],
            torch.split(bends, self.network.sizes.heads, 1),
            torch.split(_reshaped(recurrent, -1), width, -1),
            strict=True,
        ):
            steps, end = self._layer(layer, steps, keys, values, bend, start)
            ends.append(end)
        # Reshaped to itself: onnxruntime would fuse the last sum and the norm into an operator that
        # takes eight times as long as both.
        steps = self.network.norm(_reshaped(steps, -1))
        scores = self._scores(steps, targets, hidden, distance, copied)
        return scores.log_softmax(-1), _reshaped(torch.cat(ends, -1), count, -1)

    def _input(self, previous: Tensor, sentence: Tensor, place: Tensor, inputs: Tensor) -> Tensor:
        network = self.network
        steps = torch.where(
            previous[..., None] >= COPY,
            _Rows.apply(inputs, (previous - COPY).clamp(min=0)),  # type: ignore[no-untyped-call]
            network.actions(previous.clamp(max=COPY - 1)),
        )
        steps = steps + network.sentences(sentence.clamp(max=SENTENCES - 1))
        return steps + network.places(place.clamp(max=PLACES - 1))  # type: ignore[no-any-return]

    def _layer(
        self,
        layer: DecoderLayer,
        steps: Tensor,
        keys: Tensor,
        values: Tensor,
        bend: Tensor,
        start: Tensor,
    ) -> tuple[Tensor, Tensor]:
        width = self.network.sizes.width
        gates = layer.recurrence.gates(layer.recurrence.norm(steps))
        new, forget = torch.split(gates, width, -1)
        end = new + forget.sigmoid() * (start - new)
        steps = steps + torch.relu(end)
        query = _reshaped(layer.query(layer.norm(steps)), layer.heads, -1).transpose(1, 2)
        scores = query @ keys.transpose(2, 3) / math.sqrt(width // layer.heads)
        mixed = ((scores + bend).softmax(-1) @ values).transpose(1, 2)
        steps = steps + layer.output(_reshaped(mixed, -1))
        inner = torch.relu(layer.inner(layer.inner_norm(steps)))
        return steps + layer.outer(inner), end

    def _scores(
        self, steps: Tensor, targets: Tensor, hidden: Tensor, distance: Tensor, copied: Tensor
    ) -> Tensor:
        network = self.network
        closed = network.closed(steps) @ network.actions.weight.t()
        pointed = network.pointer(steps) @ targets.transpose(1, 2)
        pointed = pointed / math.sqrt(network.sizes.width) + hidden[:, None]
        by_distance, by_copied = network.moves(steps).split((NOWHERE + 1, COPIED), -1)
        pointed = pointed + by_distance.gather(2, distance) + by_copied.gather(2, copied)
        return torch.cat([closed, pointed], -1)


def _reshaped(values: Tensor, *shape: int) -> Tensor:
    return _Reshaped.apply(values, shape)  # type: ignore[no-any-return, no-untyped-call]


class _Reshaped(torch.autograd.Function):
    """The dimensions after the first two in another shape: one operator, where torch's own export
    would ask for the sizes of all dimensions first."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, shape: tuple[int, ...]) -> Tensor:
        return values.reshape(*values.shape[:2], *shape)

    @staticmethod
    def symbolic(g: Any, values: Any, shape: tuple[int, ...]) -> Any:
        return g.op("Reshape", values, g.op("Constant", value_t=torch.tensor([0, 0, *shape])))


class _Rows(torch.autograd.Function):
    """The rows of each source's table that its index names, copied as wholes."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, index: Tensor) -> Tensor:
        return table.gather(1, index[..., None].expand(-1, -1, table.shape[-1]))

    @staticmethod
    def symbolic(g: Any, table: Any, index: Any) -> Any:
        column = g.op("Unsqueeze", index, g.op("Constant", value_t=torch.tensor([-1])))
        return g.op("GatherND", table, column, batch_dims_i=1)
