"""A deeper network from a trained one: new encoder layers that at first change next to nothing.

A new layer starts as a copy of the one below it whose two results are zero, so only its
normalisations act. Their weights are fitted so that they give back what comes in, which succeeds
within a few percent. Training goes on from there.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from parataxis.training.encoder import Layer
from parataxis.training.pointer.examples import Example, ExampleSet
from parataxis.training.pointer.network import PointerNetwork

__all__ = ["grow"]

SAMPLE = 256
"""How many sources the normalisations are fitted on."""


@torch.no_grad()
def grow(
    network: PointerNetwork, above: Sequence[int], examples: Sequence[Example]
) -> PointerNetwork:
    """The network with one more encoder layer above each of the layers ``above``, from 0 on."""
    grown = copy.deepcopy(network).cpu().eval()
    encoder = grown.encoder
    sample = ExampleSet(examples[:SAMPLE], torch.device("cpu"))
    batch = sample.batch(np.arange(len(sample)))
    pieces, shapes, _ = batch.encoder_inputs()
    real = pieces > 0
    states = encoder(pieces, shapes, real.long())
    layers: list[Layer] = []
    for index, layer in enumerate(cast("list[Layer]", list(encoder.layers))):
        layers.append(layer)
        if index in above:
            layers.append(_idle(layer, states[index + 1][real]))
    encoder.layers = nn.ModuleList(layers)
    encoder.size = replace(encoder.size, layers=len(layers))
    return grown


def _idle(layer: Layer, states: Tensor) -> Layer:
    """A copy of a layer that gives back, nearly, the states (pieces, width) that come in."""
    idle = copy.deepcopy(layer)
    for linear in (idle.attention.output, idle.outer):
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
    for norm in (idle.attention_norm, idle.output_norm):
        states = _fit(norm, states)
    return idle


def _fit(norm: nn.LayerNorm, states: Tensor) -> Tensor:
    """Set a normalisation to give back the states, by least squares; what it makes of them."""
    plain = nn.functional.layer_norm(states, norm.normalized_shape, eps=norm.eps)
    centre, target = plain.mean(0), states.mean(0)
    spread = (plain - centre).square().sum(0)
    norm.weight.copy_(((plain - centre) * (states - target)).sum(0) / spread)
    norm.bias.copy_(target - norm.weight * centre)
    return plain * norm.weight + norm.bias
