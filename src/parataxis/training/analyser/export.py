"""From trained weights to the shipped files: one int8 ONNX model and its labels."""

import logging
import tempfile
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process

from parataxis.syntax.labels import write_labels
from parataxis.training.analyser.model import AnalyserGraph
from parataxis.training.analyser.train import load_network
from parataxis.training.graph import export_graph

__all__ = ["export", "export_float"]

log = logging.getLogger(__name__)


def export(weights: Path, output: Path) -> None:
    """Write ``analyser.onnx`` (int8) and ``analyser.json`` into ``output``."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        exact, prepared = Path(folder) / "exact.onnx", Path(folder) / "prepared.onnx"
        export_float(weights, exact)
        quant_pre_process(str(exact), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(
            str(prepared),
            str(output / "analyser.onnx"),
            weight_type=QuantType.QInt8,
            per_channel=True,
            # Seven-bit weights: on processors without VNNI the int8 kernels saturate otherwise.
            reduce_range=True,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        )
    _, labels = load_network(weights)
    write_labels(labels, output / "analyser.json")
    size = (output / "analyser.onnx").stat().st_size
    log.info("wrote %s (%.1f MB)", output / "analyser.onnx", size / 1e6)


def export_float(weights: Path, path: Path) -> None:
    """Write the model with its weights as they are."""
    network, _ = load_network(weights)
    # Two sentences of different length, each with a predicate, so that no axis looks constant.
    pieces = torch.tensor([[101, 2009, 15436, 1012, 102], [101, 2242, 3047, 102, 0]])
    inputs = (
        pieces,
        torch.tensor([[0, 2, 1, 6, 0], [0, 2, 1, 0, 0]]),
        torch.tensor([[0, 1, 2, 3], [0, 1, 2, 0]]),
        torch.tensor([[0.0, 1e4, 0.0], [0.0, 1e4, 0.0]]),
    )
    batch, length, words = "batch", "length", "words"
    export_graph(
        AnalyserGraph(network).eval(),
        path,
        dict(zip(AnalyserGraph.INPUTS, inputs, strict=True)),
        AnalyserGraph.OUTPUTS,
        {
            "pieces": {0: batch, 1: length},
            "shapes": {0: batch, 1: length},
            "first": {0: batch, 1: "nodes"},
            "forced": {0: batch, 1: words},
        },
    )
