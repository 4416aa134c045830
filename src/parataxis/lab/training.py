"""Settings of a training run: a TOML file, of which single settings can be changed."""

import argparse
import logging
import sys
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import Tensor, nn

from parataxis.errors import InputError, ParataxisError


def read_settings(path: Path, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read settings; ``changes`` override single ones by name ("epochs", "sizes.layers")."""
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    for name, value in (changes or {}).items():
        table, _, key = name.rpartition(".")
        target = settings.get(table) if table else settings
        if not isinstance(target, dict) or not isinstance(target.get(key), int | float):
            raise InputError(f"{path.name} has no number called {name!r} that could be changed.")
        try:
            target[key] = type(target[key])(float(value))
        except ValueError as error:
            raise InputError(f"{name!r} must be a number, not {value!r}.") from error
    return settings


# Running one step of a training from the command line.


def run_step(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, progress: TextIO
) -> int:
    """Run the step that the arguments name, with ``run`` of their options; the exit code.

    Progress goes to a stream; a user's mistake ends in one sentence and exit code 2.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=progress)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except ParataxisError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


# Averages of weights over the steps of a training run, which do better than the last weights.


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


# Writing a torch module as an ONNX graph, the same way for every model.


def export_graph(
    graph: nn.Module,
    path: Path,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    axes: Mapping[str, Mapping[int, str]],
) -> None:
    """Write the graph that the module computes for inputs like these; ``axes`` may vary in size."""
    with warnings.catch_warnings():
        # The exporter that torch calls legacy gives a smaller and faster graph; torch is pinned.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
