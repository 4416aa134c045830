"""The graphs give the same numbers with torch as with onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from parataxis.errors import ParataxisError
from parataxis.run.gpu import graph as graph_module
from parataxis.run.gpu.graph import Node, TorchGraph, fused
from parataxis.run.gpu.models import DeviceModels
from parataxis.splitters.pointer.actions import read_source
from parataxis.splitters.pointer.model import ENCODER
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import OnnxModel, shipped_folder
from parataxis.text.tokens import tokenize

CPU = torch.device("cpu")


def _inputs(sentence: str) -> dict[str, np.ndarray]:
    pieces = read_source([token.text for token in tokenize(sentence)]).pieces
    parts = {"pieces": pieces.ids, "shapes": pieces.shapes, "first": pieces.first}
    return {name: np.array([values], dtype=np.int64) for name, values in parts.items()}


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def test_graph_encoder_gives_the_numbers_of_onnxruntime(models: DeviceModels) -> None:
    inputs = _inputs("Ann left early.")
    wanted = OnnxModel(shipped_folder("pointer") / ENCODER)(inputs)
    found = models.searcher.encoder(_tensors(inputs))
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        # Where a last bit differs, a step of int8 may; most numbers are the same.
        assert np.abs(found[name].numpy() - array).mean() < 0.01


def test_graph_trees_have_the_heads_of_onnxruntime(models: DeviceModels) -> None:
    inputs = _inputs("The mill that we saw burned down.")
    words = inputs["first"].shape[1] - 1
    inputs["forced"] = np.zeros((1, words), dtype=np.float32)
    wanted = OnnxModel(shipped_folder("analyser") / TREES)(inputs)
    found = models.trees.graph(_tensors(inputs))
    for name in ("upos", "xpos", "feats"):
        assert found[name].tolist() == wanted[name].tolist()
    assert found["arcs"].argmax(-1).tolist() == wanted["arcs"].argmax(-1).tolist()


def test_graph_fused_operators_change_nothing(
    models: DeviceModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = _tensors(_inputs("The bridge, which was built in 1932, is long."))
    monkeypatch.setattr(graph_module, "fused", lambda nodes, outputs: list(nodes))
    plain = TorchGraph(shipped_folder("pointer") / ENCODER, CPU)
    monkeypatch.undo()
    together = models.searcher.encoder
    assert len(together._nodes) < 0.7 * len(plain._nodes)
    wanted, found = plain(inputs), together(inputs)
    for name, tensor in wanted.items():
        assert torch.equal(found[name], tensor), name


def test_graph_a_value_that_is_asked_for_is_not_fused_away() -> None:
    nodes = [
        Node("Div", ["x", "c"], ["d"]),
        Node("Add", ["d", "b"], ["a"]),
        Node("Softmax", ["a"], ["s"]),
    ]
    assert [node.kind for node in fused(nodes, ["s"])] == ["Attention"]
    assert [node.kind for node in fused(nodes, ["s", "a"])] == ["Div", "Add", "Softmax"]


def _saved(path: Path, nodes: list[onnx.NodeProto]) -> Path:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array([-1, 2], dtype=np.int64), "pairs")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return path


def test_graph_shapes_are_known_without_asking_the_device(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Reshape", ["x", "pairs"], ["twos"]),
        helper.make_node("Relu", ["twos"], ["positive"]),
        helper.make_node("Reshape", ["positive", "shape"], ["y"]),
    ]
    graph = TorchGraph(_saved(tmp_path / "g.onnx", nodes), CPU)
    found = graph({"x": torch.tensor([[1.0, -2.0, 3.0, -4.0]])})
    assert found["y"].tolist() == [[1.0, 0.0, 3.0, 0.0]]


def test_graph_never_reads_a_value_back_from_the_device() -> None:
    meta = torch.device("meta")  # its tensors have shapes, but no values
    inputs = {name: tensor.to(meta) for name, tensor in _tensors(_inputs("It rained.")).items()}
    found = TorchGraph(shipped_folder("pointer") / ENCODER, meta)(inputs)
    assert found["keys_0"].shape[2] == inputs["first"].shape[1] - 1


def test_graph_an_unknown_operator_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path / "g.onnx", [helper.make_node("Tan", ["x"], ["y"])])
    with pytest.raises(ParataxisError, match=r"g\.onnx has operators unknown here: Tan\."):
        TorchGraph(path, CPU)
