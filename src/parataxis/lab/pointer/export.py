"""From trained weights to the shipped bundle: two int8 ONNX graphs, one that reads a source and one
that takes a step, and their description.

The step computes what :meth:`PointerNetwork.forward` computes for one step of each hypothesis, in
fewer operators, since for a single sentence the overhead of each operator matters. Nothing is
written unless the bundle rewrites a fixed set of sentences as torch does.
"""

import logging
import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import ParataxisError
from parataxis.lab.pointer.network import (
    COPIED,
    NOWHERE,
    PLACES,
    REACH,
    SENTENCES,
    DecoderLayer,
    PointerNetwork,
)
from parataxis.lab.pointer.train import TorchDecoder, TorchMemory, load_network
from parataxis.lab.quantise import WatchedModel, quantise
from parataxis.lab.training import export_graph
from parataxis.splitters.pointer.actions import COPY, Features, read_source
from parataxis.splitters.pointer.model import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    MEMORY_AXES,
    OnnxDecoder,
    OnnxMemory,
    PointerDescription,
    open_decoder,
)
from parataxis.splitters.pointer.search import Decoder, Place, search
from parataxis.syntax.onnx import OnnxModel, write_description
from parataxis.text.tokens import tokenize


class PointerEncoderGraph(nn.Module):
    """One source in; out comes all that the decoder needs to know about it."""

    def __init__(self, network: PointerNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, pieces: Tensor, shapes: Tensor, first: Tensor) -> tuple[Tensor, ...]:
        memory = self.network.encode(pieces, shapes, first)
        return memory.targets, memory.inputs, *memory.keys, *memory.values


class PointerDecoderGraph(nn.Module):
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


log = logging.getLogger(__name__)

BUNDLE = (ENCODER, DECODER, DESCRIPTION)
LARGEST = 40_000_000
"""Bytes that the bundle may have."""

CLOSE = 1e-3
"""How far a log-probability of the float graphs may be from torch's."""
LIKELY = -20.0
"""Only log-probabilities above are compared: those of hidden words have no meaning."""
LEAST_EQUAL = 0.8
"""The share of the fixed sentences that int8 must rewrite exactly as torch does."""
BEAM = 4


def export(weights: Path, output: Path) -> None:
    """Write the bundle, or raise :class:`ParataxisError` and write nothing."""
    network = load_network(weights)
    sources = fixed_sources()
    with tempfile.TemporaryDirectory() as name:
        exact, small = Path(name) / "exact", Path(name) / "small"
        export_float(network, exact)
        _check_close(network, exact, sources)
        small.mkdir()
        onnx.save(quantise(onnx.load(str(exact / ENCODER))), str(small / ENCODER))
        largest = _largest_inputs(exact, sources)
        onnx.save(quantise(onnx.load(str(exact / DECODER)), largest), str(small / DECODER))
        shutil.copy(exact / DESCRIPTION, small)
        _check_equal(network, small, sources)
        size = sum((small / part).stat().st_size for part in BUNDLE)
        if size > LARGEST:
            raise ParataxisError(
                f"The bundle has {size / 1e6:.1f} MB, more than the {LARGEST / 1e6:.0f} MB that "
                "may ship; train a smaller network."
            )
        output.mkdir(parents=True, exist_ok=True)
        for part in BUNDLE:
            shutil.copy(small / part, output)
    write_description(output, "pointer")
    log.info("wrote %s (%.1f MB)", output, size / 1e6)


def fixed_sources() -> list[Features]:
    """The sentences on which an export is compared with torch."""
    text = (files("parataxis.lab.pointer") / "export_sentences.txt").read_text("utf-8")
    return [read_source([token.text for token in tokenize(line)]) for line in text.splitlines()]


def export_float(network: PointerNetwork, folder: Path) -> None:
    """Write the bundle with its weights as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    network = network.eval()
    layers, width = network.sizes.layers, network.sizes.width
    # Two sources of different length and three beams, so that no axis looks constant.
    pieces = torch.tensor([[101, 2009, 15436, 1012, 102], [101, 2242, 3047, 102, 0]])
    read = {
        "pieces": pieces,
        "shapes": torch.tensor([[0, 2, 1, 6, 0], [0, 2, 1, 0, 0]]),
        "first": torch.tensor([[0, 1, 2, 3], [0, 1, 2, 0]]),
    }
    encoder = PointerEncoderGraph(network).eval()
    with torch.no_grad():
        found = encoder(*read.values())
    per_layer = [f"{name}_{layer}" for name in ("keys", "values") for layer in range(layers)]
    memory = dict(zip(["targets", "inputs", *per_layer], found, strict=True))
    export_graph(
        encoder,
        folder / ENCODER,
        read,
        list(memory),
        {name: {0: "batch", 1: f"{name}_length"} for name in read},
    )
    zeros = torch.zeros(2, 3, dtype=torch.long)
    place = {
        **dict.fromkeys(("previous", "sentence", "place"), zeros),
        "last": zeros - 1,
        "copied": torch.zeros(2, 3, 3, dtype=torch.long),
        "recurrent": torch.zeros(2, 3, layers, width),
    }
    hidden = {"hidden": torch.zeros(2, 3)}
    axes = {name: {0: "batch", 1: "beams"} for name in place}
    axes["copied"][2] = "words"
    axes["hidden"] = {0: "batch", 1: "words"}
    axes |= {name: {0: "batch", MEMORY_AXES[name.partition("_")[0]]: "words"} for name in memory}
    export_graph(
        PointerDecoderGraph(network).eval(),
        folder / DECODER,
        {**place, **hidden, **memory},
        ["logs", "states"],
        axes,
    )
    PointerDescription(layers=layers, width=width).write(folder / DESCRIPTION)


def _largest_inputs(folder: Path, sources: Sequence[Features]) -> dict[str, float]:
    """The largest entries of the inputs of the decoder's products, while it rewrites the sources.

    Its layers normalise their inputs, so that these are much alike for all sentences; the
    encoder's are not.
    """
    watched = WatchedModel(folder / DECODER)
    description = PointerDescription.read(folder / DESCRIPTION)
    search(OnnxDecoder(OnnxModel(folder / ENCODER), watched, description), sources, beam=BEAM)
    return watched.largest


class _Compared:
    """Two decoders side by side: the first one's search, and how far the second's scores are."""

    def __init__(self, onnx_decoder: OnnxDecoder, torch_decoder: TorchDecoder) -> None:
        self.onnx, self.torch = onnx_decoder, torch_decoder
        self.largest = 0.0

    def read(self, sources: Sequence[Features]) -> tuple["_Memories", int, tuple[int, int]]:
        """Read the sources twice."""
        memory, words, state = self.onnx.read(sources)
        other, fewer, _ = self.torch.read(sources)
        return _Memories(memory, other, fewer), words, state

    def step(
        self, memory: "_Memories", place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Take the step twice."""
        logs, recurrent = self.onnx.step(memory.onnx, place)
        seen = replace(place, copied=np.ascontiguousarray(place.copied[:, :, : memory.words]))
        others, _ = self.torch.step(memory.torch, seen)
        difference = np.abs(logs[:, :, : others.shape[2]] - others)[others > LIKELY]
        self.largest = max(self.largest, float(difference.max(initial=0.0)))
        return logs, recurrent


class _Memories:
    def __init__(self, onnx_memory: OnnxMemory, torch_memory: TorchMemory, words: int) -> None:
        self.onnx, self.torch, self.words = onnx_memory, torch_memory, words

    def select(self, rows: NDArray[np.int64]) -> "_Memories":
        return _Memories(self.onnx.select(rows), self.torch.select(rows), self.words)


def _check_close(network: PointerNetwork, folder: Path, sources: Sequence[Features]) -> None:
    compared = _Compared(open_decoder(folder), TorchDecoder(network, torch.device("cpu")))
    search(compared, sources, beam=BEAM)
    log.info("float graphs: log-probabilities at most %.1e from torch's", compared.largest)
    if not compared.largest < CLOSE:
        raise ParataxisError(
            f"The exported graph's log-probabilities differ from torch's by {compared.largest:.2g} "
            f"on the fixed sentences, more than {CLOSE}; nothing was written."
        )


def _check_equal(network: PointerNetwork, folder: Path, sources: Sequence[Features]) -> None:
    wanted = _best(TorchDecoder(network, torch.device("cpu")), sources)
    found = _best(open_decoder(folder), sources)
    equal = sum(a == b for a, b in zip(wanted, found, strict=True))
    log.info("int8: %d of %d fixed sentences as torch rewrites them", equal, len(sources))
    if equal < LEAST_EQUAL * len(sources):
        raise ParataxisError(
            f"The int8 model rewrites only {equal} of the {len(sources)} fixed sentences as torch "
            f"does, less than {LEAST_EQUAL:.0%}; nothing was written."
        )


def _best(decoder: Decoder, sources: Sequence[Features]) -> list[Any]:
    """What would be returned for each source: its best rewrite, or nothing to leave it whole."""
    return [
        found.hypotheses[0].actions if found.hypotheses and found.whole <= 0.5 else ()
        for found in search(decoder, sources, beam=BEAM)
    ]
