"""From trained weights to the shipped bundle: two int8 ONNX graphs and their description.

Nothing is written unless the bundle rewrites a fixed set of sentences as torch does.
"""

import logging
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

from parataxis.errors import ParataxisError
from parataxis.splitters.pointer.features import Features, read_source
from parataxis.splitters.pointer.model import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    MEMORY_AXES,
    Description,
    OnnxDecoder,
    OnnxMemory,
    open_decoder,
    this_description,
)
from parataxis.splitters.pointer.search import Decoder, Place, search
from parataxis.syntax.onnx import Arrays, OnnxModel
from parataxis.text.tokens import tokenize
from parataxis.training.graph import export_graph
from parataxis.training.pointer.graphs import DecoderGraph, EncoderGraph
from parataxis.training.pointer.network import PointerNetwork
from parataxis.training.pointer.train import TorchDecoder, TorchMemory, load_network
from parataxis.training.quantise import product_inputs, quantise

__all__ = ["export", "export_float", "fixed_sources"]

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
HEADROOM = 1.1
"""How much larger than on the fixed sentences the inputs of the decoder's products may get."""


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
    log.info("wrote %s (%.1f MB)", output, size / 1e6)


def fixed_sources() -> list[Features]:
    """The sentences on which an export is compared with torch."""
    text = (files("parataxis.training.pointer") / "export_sentences.txt").read_text("utf-8")
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
    encoder = EncoderGraph(network).eval()
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
        DecoderGraph(network).eval(),
        folder / DECODER,
        {**place, **hidden, **memory},
        ["logs", "states"],
        axes,
    )
    this_description(layers, width).write(folder / DESCRIPTION)


def _largest_inputs(folder: Path, sources: Sequence[Features]) -> dict[str, float]:
    """The largest entries of the inputs of the decoder's products, while it rewrites the sources.

    Its layers normalise their inputs, so that these are much alike for all sentences; the
    encoder's are not.
    """
    graph = onnx.load(str(folder / DECODER))
    names = product_inputs(graph)
    graph.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, names))
    with tempfile.TemporaryDirectory() as name:
        onnx.save(graph, str(Path(name) / DECODER))
        watched = _Watched(OnnxModel(Path(name) / DECODER), names)
    description = Description.read(folder / DESCRIPTION)
    search(OnnxDecoder(OnnxModel(folder / ENCODER), watched, description), sources, beam=BEAM)
    return {name: HEADROOM * value for name, value in watched.largest.items()}


class _Watched:
    """A model, and the largest entries of some of its outputs so far."""

    def __init__(self, model: OnnxModel, names: Sequence[str]) -> None:
        self.model, self.largest = model, dict.fromkeys(names, 0.0)

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run the model once."""
        outputs = self.model(inputs)
        for name, value in self.largest.items():
            self.largest[name] = max(value, float(np.abs(outputs[name]).max()))
        return outputs


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
