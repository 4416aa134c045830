"""Writing a torch module as an ONNX graph, the same way for every model."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

__all__ = ["export_graph"]


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
