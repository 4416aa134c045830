"""From trained weights to the shipped files: an int8 ONNX graph, the part of it that finds tags and
trees, the weights of both, and the labels."""

import logging
import tempfile
from pathlib import Path

import onnx
import torch
from onnx.external_data_helper import set_external_data
from onnx.utils import Extractor
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process

from parataxis.lab.analyser.data import gold_sentences
from parataxis.lab.analyser.evaluate import Accuracy, evaluate
from parataxis.lab.analyser.model import AnalyserGraph
from parataxis.lab.analyser.train import load_network
from parataxis.lab.training import export_graph
from parataxis.report import Report, Table
from parataxis.syntax.analyser import TREES, WHOLE, Analyser
from parataxis.syntax.decoding import read_labels, write_labels
from parataxis.syntax.onnx import OnnxModel, shipped_folder, write_description

log = logging.getLogger(__name__)

WEIGHTS = "analyser.weights"
SMALLEST = 1024
"""Arrays of fewer bytes stay in the graphs."""
ALIGNED = 64
"""The place of an array in the file of weights is a multiple of this."""


def export(weights: Path, output: Path) -> None:
    """Write the graphs with their weights (int8), and ``analyser.json``, into ``output``."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        exact, prepared, small = (
            Path(folder) / f"{name}.onnx" for name in ("exact", "prepared", "small")
        )
        export_float(weights, exact)
        quant_pre_process(str(exact), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(
            str(prepared),
            str(small),
            weight_type=QuantType.QInt8,
            per_channel=True,
            # Seven-bit weights: on processors without VNNI the int8 kernels saturate otherwise.
            reduce_range=True,
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        )
        write_graphs(onnx.load(str(small)), output)
    _, labels = load_network(weights)
    write_labels(labels, output / "analyser.json")
    write_description(output, "analyser")
    size = (output / WEIGHTS).stat().st_size
    log.info("wrote %s (%.1f MB)", output / WEIGHTS, size / 1e6)


def write_graphs(whole: onnx.ModelProto, output: Path) -> None:
    """Write the whole graph, the part of it without roles, and one file with the weights of both.

    A graph without roles is worth a file of its own because onnxruntime always runs all of one,
    and the roles cost more than all the rest.
    """
    trees = Extractor(whole).extract_model(list(AnalyserGraph.INPUTS), list(AnalyserGraph.TREES))
    stored = bytearray()
    places: dict[str, tuple[int, int]] = {}
    for entry in whole.graph.initializer:
        if len(entry.raw_data) >= SMALLEST:
            stored.extend(bytes(-len(stored) % ALIGNED))
            places[entry.name] = len(stored), len(entry.raw_data)
            stored.extend(entry.raw_data)
    (output / WEIGHTS).write_bytes(stored)
    for graph, name in ((whole, WHOLE), (trees, TREES)):
        for entry in graph.graph.initializer:
            if entry.name in places:
                set_external_data(entry, WEIGHTS, *places[entry.name])
                entry.ClearField("raw_data")
        (output / name).write_bytes(graph.SerializeToString())


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


ROLES = ("predicates", "roles", "r-arg")
"""What only EWT has gold annotation for."""


def accuracy_report(data: Path, part: str, model: Path | None, weights: Path | None) -> Report:
    """A table of the accuracy of the shipped model, or of the one in ``model``, on EWT and GUM.

    ``weights`` adds rows for the same network before int8.
    """
    folder = model or shipped_folder("analyser")
    with tempfile.TemporaryDirectory() as scratch:
        systems = [("int8", _load(folder / "analyser.onnx", folder))]
        if weights is not None:
            export_float(weights, Path(scratch) / "exact.onnx")
            systems.insert(0, ("float", _load(Path(scratch) / "exact.onnx", folder)))
        rows = []
        for bank in ("ewt", "gum"):
            gold = list(gold_sentences(data, bank, part))
            roles = any(sentence.has_roles for sentence in gold)
            shown = Accuracy.NAMES if roles else Accuracy.NAMES[: -len(ROLES)]
            for name, analyser in systems:
                for tokens, predicates in SETTINGS if roles else SETTINGS[::2]:
                    accuracy = evaluate(analyser, gold, tokens=tokens, predicates=predicates)
                    label = f"{bank} {name}, {tokens} tokens, {predicates} predicates"
                    figures = [f"{accuracy[figure]:.2f}" for figure in shown]
                    rows.append([label, *figures, *[""] * (len(Accuracy.NAMES) - len(shown))])
    return Report(f"F1 in percent, {part} sets", [Table(("", *Accuracy.NAMES), rows)])


SETTINGS = (("gold", "gold"), ("gold", "own"), ("own", "own"))
"""Whose tokens and whose predicates; own tokens are those of the raw text."""


def _load(path: Path, folder: Path) -> Analyser:
    return Analyser(OnnxModel(path), read_labels(folder / "analyser.json"))
