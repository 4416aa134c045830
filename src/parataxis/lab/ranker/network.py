"""The ranker as a torch module, and its export to one int8 ONNX graph.

The network is an encoder over the source and the prefix tree of its rewrites, with a head that
scores every word piece. An export is refused if its scores differ from those of torch.
"""

import logging
import math
import re
import shutil
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

from parataxis.checks.ranker import Ranker, read
from parataxis.errors import ParataxisError
from parataxis.lab.encoder import Encoder, EncoderSize, Layer
from parataxis.lab.quantise import product_inputs, quantise
from parataxis.lab.training import export_graph, load_weights, save_weights
from parataxis.syntax.onnx import OnnxModel

log = logging.getLogger(__name__)


class RankerNetwork(nn.Module):
    """Estimates the teacher's log-probability of every word piece of the rewrites of a source."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.roles = nn.Embedding(2, encoder.size.width)
        self.heads = nn.Linear(encoder.size.width, 1)
        nn.init.zeros_(self.roles.weight)
        nn.init.normal_(self.heads.weight, std=0.02)
        nn.init.constant_(self.heads.bias, -2.0)

    def forward(
        self, pieces: Tensor, shapes: Tensor, places: Tensor, source: Tensor, unseen: Tensor
    ) -> Tensor:
        """The scores (batch, pieces); those of the source are meaningless. ``source`` is the number
        of its pieces, ``unseen`` (batch, pieces, pieces) is the attention mask."""
        encoder = self.encoder
        role = (torch.arange(pieces.shape[1], device=pieces.device) >= source[:, None]).long()
        states = encoder.words(pieces) + encoder.places(places) + encoder.shapes(shapes)
        states = encoder.dropout(encoder.norm(states + self.roles(role)))
        bias = unseen[:, None]
        for layer in encoder.layers:
            states = _layer(layer, states, bias)  # type: ignore[arg-type]
        return -nn.functional.softplus(self.heads(states)[..., 0])


def _layer(layer: Layer, states: Tensor, bias: Tensor) -> Tensor:
    """Run a layer of the encoder; in training and on a GPU with the fused attention kernel."""
    if not layer.training and not states.is_cuda:
        return layer(states, bias)  # type: ignore[no-any-return]
    own = layer.attention
    batch, length, width = states.shape

    def split(projected: Tensor) -> Tensor:
        return projected.view(batch, length, own.heads, width // own.heads).transpose(1, 2)

    query = split(own.query(states))
    mixed = nn.functional.scaled_dot_product_attention(
        query,
        split(own.key(states)),
        split(own.value(states)),
        attn_mask=bias.to(query.dtype),
        dropout_p=own.dropout.p if layer.training else 0.0,
        scale=1 / math.sqrt(width // own.heads),
    )
    mixed = own.output(mixed.transpose(1, 2).reshape(batch, length, width))
    states = layer.attention_norm(states + layer.dropout(mixed))
    inner = layer.outer(nn.functional.gelu(layer.inner(states)))
    return layer.output_norm(states + layer.dropout(inner))  # type: ignore[no-any-return]


def analyser_encoder(graph: Path, layers: int, dropout: float = 0.1) -> Encoder:
    """The first layers of the shipped analyser's encoder, which knows syntax and word shapes.

    Their int8 weights are read from the ONNX graph, which is good enough for a start.
    """
    model = onnx.load(str(graph))
    stored = {entry.name: numpy_helper.to_array(entry) for entry in model.graph.initializer}
    state: dict[str, Tensor] = {}

    def constant(name: str, values: Any) -> None:
        state[name] = torch.from_numpy(values.copy()).float()

    prefix = "network.encoder."
    for name, values in stored.items():
        if name.startswith(prefix) and re.search(r"\.(bias|weight)$", name):
            constant(name.removeprefix(prefix), values)
    for table in ("words", "places", "shapes"):
        name = f"{prefix}{table}.weight"
        steps = stored[f"{name}_quantized"].astype("float32") - stored[f"{name}_zero_point"]
        constant(f"{table}.weight", steps * stored[f"{name}_scale"])
    for node in model.graph.node:
        match = re.fullmatch(r"/encoder/(layers\.\d+/.+)/MatMul_quant", node.name)
        if match and node.op_type == "MatMulInteger":
            base = node.input[1].removesuffix("_quantized")
            steps = stored[node.input[1]].astype("float32") - stored[f"{base}_zero_point"]
            constant(match[1].replace("/", ".") + ".weight", (steps * stored[f"{base}_scale"]).T)
    wanted = {k: v for k, v in state.items() if not _is_above(k, layers)}
    encoder = Encoder(EncoderSize(layers=layers), dropout)
    missing = encoder.state_dict().keys() - wanted.keys()
    if missing:
        raise ParataxisError(f"{graph} has no weights for {', '.join(sorted(missing)[:3])}.")
    encoder.load_state_dict(wanted)
    return encoder


def _is_above(name: str, layers: int) -> bool:
    match = re.match(r"layers\.(\d+)\.", name)
    return match is not None and int(match[1]) >= layers


def save_network(network: RankerNetwork, path: Path) -> None:
    """Write everything that :func:`load_network` needs."""
    save_weights(network, path, encoder=network.encoder.size)


def load_network(path: Path) -> RankerNetwork:
    """Load what :func:`save_network` wrote."""

    def build(stored: dict[str, Any]) -> RankerNetwork:
        return RankerNetwork(Encoder(EncoderSize(**stored["encoder"])))

    return load_weights(path, build).eval()


# Export --------------------------------------------------------------------------------------

LARGEST = 25_000_000
"""The maximum size of the file, in bytes."""
CLOSE = 1e-2
"""The maximum mean difference from torch's scores in the float graph."""
CLOSE_INT8 = 0.35
"""The maximum mean difference in the int8 graph."""
HEADROOM = 1.1
"""How much larger the inputs of products may get than on the fixed rewrites."""

Cases = Sequence[tuple[str, list[tuple[str, ...]]]]


def export(weights: Path, output: Path) -> None:
    """Write the file, or raise :class:`ParataxisError` and write nothing."""
    network = load_network(weights)
    cases = fixed_rewrites()
    with tempfile.TemporaryDirectory() as name:
        exact, small = Path(name) / "exact.onnx", Path(name) / "small.onnx"
        export_float(network, exact)
        wanted = [_torch_scores(network, *case) for case in cases]
        _check(exact, cases, wanted, CLOSE)
        onnx.save(quantise(onnx.load(str(exact)), _largest_inputs(exact, cases)), str(small))
        _check(small, cases, wanted, CLOSE_INT8)
        size = small.stat().st_size
        if size > LARGEST:
            raise ParataxisError(
                f"The ranker has {size / 1e6:.1f} MB, more than the {LARGEST / 1e6:.0f} MB that "
                "may ship; train one with fewer layers."
            )
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(small, output)
    log.info("wrote %s (%.1f MB)", output, size / 1e6)


def fixed_rewrites() -> Cases:
    """The sources on which an export is compared with torch, each with itself and with all cuts at
    a comma as rewrites."""
    text = (files("parataxis.lab.pointer") / "export_sentences.txt").read_text("utf-8")
    cases = []
    for line in text.splitlines():
        cuts = [
            (line[:place] + ".", line[place + 1 :].strip())
            for place, mark in enumerate(line)
            if mark == "," and line[place + 1 :].strip()
        ]
        cases.append((line, [(line,), *cuts]))
    return cases


def export_float(network: RankerNetwork, path: Path) -> None:
    """Write the graph with float weights."""
    reading = read("It rained, and we left.", [["It rained.", "We left."], ["It rained."]])
    inputs = {
        "pieces": torch.from_numpy(reading.pieces[None]),
        "shapes": torch.from_numpy(reading.shapes[None]),
        "places": torch.from_numpy(reading.places[None]),
        "source": torch.tensor([reading.source]),
        "unseen": torch.from_numpy(reading.unseen()[None]),
    }
    axes = {name: {0: "batch", 1: "length"} for name in inputs}
    axes["source"] = {0: "batch"}
    axes["unseen"][2] = "length"
    export_graph(network.eval(), path, inputs, ["scores"], axes)


def _torch_scores(
    network: RankerNetwork, source: str, rewrites: Sequence[Sequence[str]]
) -> NDArray[np.float32]:
    def run(inputs: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.float32]]:
        with torch.no_grad():
            found = network(*(torch.from_numpy(value) for value in inputs.values()))
        return {"scores": found.numpy()}

    return Ranker(run)(source, rewrites)  # type: ignore[arg-type]


def _check(path: Path, cases: Cases, wanted: Sequence[NDArray[np.float32]], close: float) -> None:
    ranker = Ranker(OnnxModel(path))
    gaps = []
    for (source, rewrites), scores in zip(cases, wanted, strict=True):
        found = ranker(source, rewrites)
        # Only differences between rewrites of one source matter.
        gaps.append(np.abs((found - found[0]) - (scores - scores[0])).mean())
    log.info("%s: scores %.4f from torch's on average", path.name, np.mean(gaps))
    if not np.mean(gaps) < close:
        raise ParataxisError(
            f"The exported graph's scores differ from torch's by {np.mean(gaps):.2g} on average, "
            f"more than {close}; nothing was written."
        )


def _largest_inputs(path: Path, cases: Cases) -> dict[str, float]:
    """The largest entries of the inputs of products, which hardly depend on the sentence."""
    graph = onnx.load(str(path))
    names = product_inputs(graph)
    graph.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, names))
    largest = dict.fromkeys(names, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(graph, str(Path(folder) / "watched.onnx"))
        model = OnnxModel(Path(folder) / "watched.onnx")

        def run(inputs: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[np.float32]]:
            outputs = model(inputs)
            for name in names:
                largest[name] = max(largest[name], float(np.abs(outputs[name]).max()))
            return outputs

        for source, rewrites in cases:
            Ranker(run)(source, rewrites)  # type: ignore[arg-type]
    return {name: HEADROOM * value for name, value in largest.items()}
