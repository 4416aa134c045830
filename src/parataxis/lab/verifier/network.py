"""The verifier as a torch module, and its export to one int8 ONNX graph.

The network is an encoder over the source and the prefix tree of its rewrites, with a head that
scores every word piece and one for the faults of each sentence. An export is refused if its outputs
differ from those of torch.
"""

import logging
import math
import shutil
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from parataxis.checks.verifier import OUTPUTS as FAULT_OUTPUTS
from parataxis.checks.verifier import RewriteVerdict, Verifier, read
from parataxis.errors import InputError, ParataxisError
from parataxis.lab.encoder import Encoder, EncoderSize, Layer
from parataxis.lab.quantise import WatchedModel, quantise, read_weights
from parataxis.lab.training import TorchModel, export_graph, load_weights, save_weights
from parataxis.syntax.onnx import Model, OnnxModel, write_description

log = logging.getLogger(__name__)


class VerifierNetwork(nn.Module):
    """Estimates the teacher's log-probability of every word piece of the rewrites of a source, and
    the faults of each simple sentence at the piece that ends it."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.roles = nn.Embedding(2, encoder.size.width)
        self.heads = nn.Linear(encoder.size.width, 1)
        self.faults = nn.Linear(encoder.size.width, FAULT_OUTPUTS)
        nn.init.zeros_(self.roles.weight)
        for head in (self.heads, self.faults):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.constant_(head.bias, -2.0)

    def forward(
        self, pieces: Tensor, shapes: Tensor, places: Tensor, source: Tensor, unseen: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The scores (batch, pieces) and the logits of faults (batch, pieces, kinds); those of the
        source are meaningless. ``source`` is the number of its pieces, ``unseen`` (batch, pieces,
        pieces) is the attention mask."""
        encoder = self.encoder
        role = (torch.arange(pieces.shape[1], device=pieces.device) >= source[:, None]).long()
        states = encoder.words(pieces) + encoder.places(places) + encoder.shapes(shapes)
        states = encoder.dropout(encoder.norm(states + self.roles(role)))
        bias = unseen[:, None]
        for layer in encoder.layers:
            states = _layer(layer, states, bias)  # type: ignore[arg-type]
        return -nn.functional.softplus(self.heads(states)[..., 0]), self.faults(states)


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


def load_graph(path: Path, layers: int) -> VerifierNetwork:
    """A network that starts from int8 weights: the shipped verifier, or the first layers of the
    shipped analyser, which knows syntax and word shapes, under new heads."""
    network = VerifierNetwork(Encoder(EncoderSize(layers=layers)))
    state, known = network.state_dict(), read_weights(path)
    missing = [name for name in state if name.startswith("encoder.") and name not in known]
    if missing:
        raise InputError(f"{path} has no weights for {', '.join(missing[:3])}.")
    found = {name: torch.from_numpy(known[name].copy()) for name in state if name in known}
    # The analyser has heads of the same names and other shapes.
    found = {name: each for name, each in found.items() if each.shape == state[name].shape}
    network.load_state_dict(state | found)
    return network


def save_network(network: VerifierNetwork, path: Path) -> None:
    """Write everything that :func:`load_network` needs."""
    save_weights(network, path, encoder=network.encoder.size)


def load_network(path: Path) -> VerifierNetwork:
    """Load what :func:`save_network` wrote."""

    def build(stored: dict[str, Any]) -> VerifierNetwork:
        return VerifierNetwork(Encoder(EncoderSize(**stored["encoder"])))

    return load_weights(path, build).eval()


# Export --------------------------------------------------------------------------------------

LARGEST = 25_000_000
"""The maximum size of the file, in bytes."""
CLOSE = 1e-2
"""The maximum mean difference from torch's scores in the float graph."""
CLOSE_INT8 = 0.35
"""The maximum mean difference in the int8 graph."""
OUTPUTS = ("scores", "faults")
Cases = Sequence[tuple[str, list[tuple[str, ...]]]]


def export(weights: Path, output: Path) -> None:
    """Write the file, or raise :class:`ParataxisError` and write nothing."""
    network = load_network(weights)
    cases = fixed_rewrites()
    with tempfile.TemporaryDirectory() as name:
        exact, small = Path(name) / "exact.onnx", Path(name) / "small.onnx"
        export_float(network, exact)
        wanted = _verdicts(TorchModel(network, OUTPUTS, torch.device("cpu")), cases)
        _check(exact, cases, wanted, CLOSE)
        watched = WatchedModel(exact)
        _verdicts(watched, cases)
        onnx.save(quantise(onnx.load(str(exact)), watched.largest), str(small))
        _check(small, cases, wanted, CLOSE_INT8)
        size = small.stat().st_size
        if size > LARGEST:
            raise ParataxisError(
                f"The verifier has {size / 1e6:.1f} MB, more than the {LARGEST / 1e6:.0f} MB that "
                "may ship; train one with fewer layers."
            )
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(small, output)
    write_description(output.parent, "verifier")
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


def export_float(network: VerifierNetwork, path: Path) -> None:
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
    export_graph(network.eval(), path, inputs, OUTPUTS, axes)


def _verdicts(model: Model, cases: Cases) -> list[list[RewriteVerdict]]:
    verifier = Verifier(model)
    return [verifier(source, rewrites) for source, rewrites in cases]


def _check(
    path: Path, cases: Cases, wanted: Sequence[Sequence[RewriteVerdict]], close: float
) -> None:
    found = _verdicts(OnnxModel(path), cases)
    by_score, by_fault = [], []
    for own, others in zip(found, wanted, strict=True):
        # Only differences between the scores of one source matter.
        by_score += [
            abs((one.score - own[0].score) - (other.score - others[0].score))
            for one, other in zip(own, others, strict=True)
        ]
        by_fault += [
            float(np.abs(one.faults - other.faults).mean())
            for one, other in zip(own, others, strict=True)
        ]
    gap, fault_gap = np.mean(by_score), np.mean(by_fault)
    log.info("%s: scores %.4f and faults %.4f from torch's", path.name, gap, fault_gap)
    if not (gap < close and fault_gap < close / 5):
        raise ParataxisError(
            f"The exported graph's scores differ from torch's by {gap:.2g} on average and its "
            f"probabilities by {fault_gap:.2g}, more than {close} and {close / 5}; nothing was "
            "written."
        )
