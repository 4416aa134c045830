"""Int8 graphs: close to the float ones, and no row depends on another."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

onnx = pytest.importorskip("onnx", reason="needs the extra [train]")

import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from parataxis.lab.quantise import (  # noqa: E402
    SMALLEST_TABLE,
    product_inputs,
    quantise,
    read_weights,
)

CHANCE = np.random.default_rng(7)
WIDE, INNER = 96, 160


def weights(*shape: int) -> NDArray[np.float32]:
    return CHANCE.normal(size=shape).astype(np.float32)


def model(
    nodes: list[onnx.NodeProto], constants: dict[str, NDArray[np.float32]]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None] * 2)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(graph: onnx.ModelProto, x: NDArray[np.generic]) -> NDArray[np.float32]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return np.asarray(session.run(None, {"x": x})[0])


def operators(graph: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in graph.graph.node]


NETWORK = model(
    [
        helper.make_node("MatMul", ["x", "inner"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Gemm", ["b", "outer", "bias"], ["c"], transB=1),
        helper.make_node("MatMul", ["x", "side"], ["d"]),
        helper.make_node("Add", ["c", "d"], ["y"]),
    ],
    {
        "inner": weights(WIDE, INNER),
        "outer": weights(WIDE, INNER),
        "bias": weights(WIDE),
        "side": weights(WIDE, WIDE),
    },
)


def test_quantise_is_close_to_the_float_graph() -> None:
    x = weights(40, WIDE)
    exact, found = run(NETWORK, x), run(quantise(NETWORK), x)
    assert np.abs(found - exact).mean() < 0.03 * np.abs(exact).mean()
    assert not np.array_equal(found, exact)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_quantise_gives_a_row_the_same_bits_in_every_batch(size: int) -> None:
    # Rows of very different size, as would spoil one scale for all of them.
    x = weights(40, WIDE) * 10.0 ** CHANCE.integers(-3, 4, size=(40, 1)).astype(np.float32)
    graph = quantise(NETWORK)
    together = run(graph, x)
    for start in range(0, 40, size):
        rows = slice(start, start + size)
        assert np.array_equal(run(graph, x[rows]), together[rows])


def test_quantise_with_known_largest_entries() -> None:
    x = weights(40, WIDE).clip(-3, 3)
    assert product_inputs(NETWORK) == ["x", "b"]
    graph = quantise(NETWORK, {"x": 3.0, "b": 60.0})
    assert sorted(operators(graph)) == sorted(
        ["QuantizeLinear", "MatMulIntegerToFloat"] * 2 + ["MatMulIntegerToFloat", "Relu", "Add"]
    )
    exact, together = run(NETWORK, x), run(graph, x)
    assert np.abs(together - exact).mean() < 0.03 * np.abs(exact).mean()
    assert np.array_equal(run(graph, x[3:10]), together[3:10])


def test_quantise_cuts_off_what_is_larger_than_known() -> None:
    w = np.eye(WIDE, dtype=np.float32)
    graph = quantise(model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": w}), {"x": 2.0})
    assert run(graph, 5 * w) == pytest.approx(2 * w, rel=0.01)


@pytest.mark.parametrize("largest", [None, {"x": 4.0}], ids=["rows", "known"])
def test_quantise_adds_the_bias_once(largest: dict[str, float] | None) -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["bias", "product"], ["y"]),
    ]
    graph = model(nodes, {"w": weights(WIDE, WIDE), "bias": 100 * weights(WIDE)})
    x = np.zeros((2, WIDE), dtype=np.float32)
    assert np.array_equal(run(quantise(graph, largest), x), run(graph, x))


def test_quantise_shares_the_quantised_rows_of_one_input() -> None:
    graph = quantise(NETWORK)
    assert operators(graph).count("MatMulIntegerToFloat") == 3
    assert operators(graph).count("QuantizeLinear") == 2
    assert not {"MatMul", "Gemm"} & set(operators(graph))


def test_quantise_leaves_the_given_model_alone_and_drops_the_float_weights() -> None:
    before = NETWORK.SerializeToString()
    graph = quantise(NETWORK)
    assert NETWORK.SerializeToString() == before
    large = [e for e in graph.graph.initializer if np.prod(e.dims) >= WIDE * WIDE]
    assert {entry.data_type for entry in large} == {TensorProto.INT8}


def test_quantise_does_not_saturate() -> None:
    # All products of a column as large as they get, and of one sign: 384 * 127 * 63.
    ones = np.ones((384, 64), dtype=np.float32)
    graph = quantise(model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": ones}))
    x = np.stack([np.full(384, 3.0), np.full(384, -3.0)]).astype(np.float32)
    assert run(graph, x) == pytest.approx(x @ ones, rel=1e-5)


def test_quantise_of_a_row_of_zeros() -> None:
    x = np.zeros((2, WIDE), dtype=np.float32)
    assert np.array_equal(run(quantise(NETWORK), x), run(NETWORK, x))


def test_quantise_of_a_column_of_zeros() -> None:
    w = weights(WIDE, WIDE)
    w[:, 5] = 0.0
    graph = quantise(model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": w}))
    assert np.array_equal(run(graph, weights(3, WIDE))[:, 5], np.zeros(3))


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("MatMul", ["x", "small"], ["y"]),
        helper.make_node("MatMul", ["x", "x"], ["y"]),
        helper.make_node("Gemm", ["x", "large"], ["y"], alpha=0.5),
        helper.make_node("Gemm", ["x", "large"], ["y"], transA=1),
    ],
    ids=["few weights", "no weights", "scaled", "turned"],
)
def test_quantise_leaves_other_products(node: onnx.NodeProto) -> None:
    constants = {"small": weights(8, 8), "large": weights(WIDE, WIDE)}
    assert operators(quantise(model([node], constants))) == [node.op_type]


def test_quantise_of_a_table() -> None:
    rows = SMALLEST_TABLE // 256
    table = weights(rows, 256) * np.arange(1, rows + 1, dtype=np.float32)[:, None]
    nodes = [
        helper.make_node("Cast", ["x"], ["places"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "places"], ["y"]),
    ]
    graph = quantise(model(nodes, {"table": table}))
    x = np.array([[0, 5], [rows - 1, 5]], dtype=np.float32)
    found, exact = run(graph, x), table[x.astype(int)]
    assert found.shape == exact.shape
    step = np.abs(exact).max(axis=-1, keepdims=True) / 127
    assert (np.abs(found - exact) <= 0.51 * step).all()
    assert len(graph.SerializeToString()) < table.nbytes / 3.5


@pytest.mark.parametrize("largest", [None, {"x": 4.0}])
def test_read_weights_gives_the_names_of_torch(
    largest: dict[str, float] | None, tmp_path: Path
) -> None:
    weight, bias, head = weights(WIDE, INNER), weights(INNER), weights(INNER, 2)
    graph = model(
        [
            helper.make_node("MatMul", ["x", "onnx::MatMul_1"], ["a"]),
            helper.make_node("Add", ["network.inner.bias", "a"], ["b"]),
            helper.make_node("MatMul", ["b", "onnx::MatMul_2"], ["c"]),
            helper.make_node("Add", ["c", "head.bias"], ["y"]),
        ],
        {
            "onnx::MatMul_1": weight,
            "network.inner.bias": bias,
            "onnx::MatMul_2": head,
            "head.bias": weights(2),
        },
    )
    onnx.save(quantise(graph, largest), str(tmp_path / "graph.onnx"))
    found = read_weights(tmp_path / "graph.onnx")
    assert np.abs(found["inner.weight"] - weight.T).max() < 0.05
    assert np.array_equal(found["inner.bias"], bias)
    assert np.array_equal(found["head.weight"], head.T)  # too small for int8
