"""Averages of weights over the steps of a training run, which do better than the last weights."""

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["Average"]


class Average:
    """An exponential moving average of weights, with a warm start."""

    def __init__(self, weights: Mapping[str, Tensor], decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.state = {name: weight.detach().clone() for name, weight in weights.items()}

    @torch.no_grad()
    def update(self, weights: Mapping[str, Tensor]) -> None:
        """Move the average towards the present weights."""
        self.steps += 1
        share = 1 - min(self.decay, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(
            list(self.state.values()), [weights[name].detach() for name in self.state], share
        )
