"""Int8 weights in an ONNX graph, in a way that keeps each row of a batch to itself.

onnxruntime's own dynamic quantisation takes one scale for a whole tensor of activations, so that
the result of one sentence depends on its neighbours. Here every row has its own scale, and the
sums in between are whole numbers: a row gives the same bits alone and in any batch.
"""

from collections.abc import Iterator

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

__all__ = ["quantise"]

SMALLEST = 4096
"""Products with fewer weights stay as they are: nothing would be gained."""
SMALLEST_TABLE = 2**20
"""So do tables with fewer entries: looking up a row is no faster in int8, only smaller."""

WEIGHT_STEPS = 63
"""Seven-bit weights: on processors without VNNI the int8 kernels saturate otherwise."""
TABLE_STEPS = 127
ROW_STEPS = 127
ROW_ZERO = 128
"""Activations are stored from 1 to 255, because onnxruntime has no fast kernel for signed ones."""
TINIEST = 1e-12
"""Instead of the largest entry of a row of zeros."""

MICROSOFT = "com.microsoft"


def quantise(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of a graph (opset 13 to 17) with the weights of its products and tables as int8."""
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    _Rewriter(copied.graph).run()
    if all(entry.domain != MICROSOFT for entry in copied.opset_import):
        copied.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    return copied


class _Rewriter:
    def __init__(self, graph: onnx.GraphProto) -> None:
        self.graph = graph
        self.weights = {entry.name: entry for entry in graph.initializer}
        self.rows: dict[str, tuple[str, str]] = {}
        """Quantised inputs by name, with their scales: products of the same input share them."""
        self.stored: set[str] = set()

    def run(self) -> None:
        nodes = [new for node in self.graph.node for new in self._rewrite(node)]
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        used = {name for node in nodes for name in node.input}
        kept = [entry for entry in self.graph.initializer if entry.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)

    def _rewrite(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        options = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
        if node.op_type == "MatMul" and self._holds(node.input[1], SMALLEST):
            yield from self._product(node.input[0], node.input[1], node.output[0])
        elif node.op_type == "Gemm" and self._holds(node.input[1], SMALLEST) and _plain(options):
            bias = node.input[2] if len(node.input) > 2 else ""
            product = f"{node.output[0]}_product" if bias else node.output[0]
            flipped = bool(options.get("transB"))
            yield from self._product(node.input[0], node.input[1], product, flipped=flipped)
            if bias:
                yield helper.make_node("Add", [product, bias], [node.output[0]])
        elif (
            node.op_type == "Gather"
            and self._holds(node.input[0], SMALLEST_TABLE)
            and not options.get("axis")
        ):
            yield from self._lookup(node.input[0], node.input[1], node.output[0])
        else:
            yield node

    def _holds(self, name: str, count: int) -> bool:
        """Whether a name stands for a matrix of at least so many constants."""
        entry = self.weights.get(name)
        return (
            entry is not None
            and entry.data_type == onnx.TensorProto.FLOAT
            and len(entry.dims) == 2
            and int(np.prod(entry.dims)) >= count
        )

    def _product(
        self, rows: str, weight: str, output: str, *, flipped: bool = False
    ) -> Iterator[onnx.NodeProto]:
        values = numpy_helper.to_array(self.weights[weight])
        values = values.T if flipped else values
        steps, scales = _steps(values, WEIGHT_STEPS, axis=0)
        name = f"{weight}_flipped" if flipped else weight
        self._store(f"{name}_int8", steps)
        self._store(f"{name}_scales", scales[0])
        self._store("row_zero", np.uint8(ROW_ZERO))
        self._store("row_step", np.float32(1.0 / ROW_STEPS))
        if rows not in self.rows:
            yield from self._quantised_rows(rows)
        quantised, row_scales = self.rows[rows]
        yield helper.make_node(
            "MatMulIntegerToFloat",
            [quantised, f"{name}_int8", "row_step", f"{name}_scales", "row_zero"],
            [f"{output}_unscaled"],
            domain=MICROSOFT,
        )
        yield helper.make_node("Mul", [f"{output}_unscaled", row_scales], [output])

    def _quantised_rows(self, rows: str) -> Iterator[onnx.NodeProto]:
        """Each row divided by its largest entry, in whole steps."""
        self._store("tiniest", np.float32(TINIEST))
        absolute, largest, scales, divided, quantised = (
            f"{rows}_{part}" for part in ("absolute", "largest", "scales", "divided", "uint8")
        )
        self.rows[rows] = quantised, scales
        yield helper.make_node("Abs", [rows], [absolute])
        yield helper.make_node("ReduceMax", [absolute], [largest], axes=[-1], keepdims=1)
        yield helper.make_node("Max", [largest, "tiniest"], [scales])
        yield helper.make_node("Div", [rows, scales], [divided])
        yield helper.make_node("QuantizeLinear", [divided, "row_step", "row_zero"], [quantised])

    def _lookup(self, table: str, places: str, output: str) -> Iterator[onnx.NodeProto]:
        steps, scales = _steps(numpy_helper.to_array(self.weights[table]), TABLE_STEPS, axis=1)
        self._store(f"{table}_rows_int8", steps)
        self._store(f"{table}_rows_scales", scales)
        unscaled, as_float, found = (f"{output}_{part}" for part in ("int8", "unscaled", "scales"))
        yield helper.make_node("Gather", [f"{table}_rows_int8", places], [unscaled])
        yield helper.make_node("Cast", [unscaled], [as_float], to=onnx.TensorProto.FLOAT)
        yield helper.make_node("Gather", [f"{table}_rows_scales", places], [found])
        yield helper.make_node("Mul", [as_float, found], [output])

    def _store(self, name: str, values: NDArray[np.generic] | np.generic) -> None:
        if name not in self.stored:
            self.stored.add(name)
            self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))


def _plain(options: dict[str, object]) -> bool:
    """Whether a Gemm is only a product and a sum."""
    return (
        options.get("alpha", 1.0) == 1.0
        and options.get("beta", 1.0) == 1.0
        and not options.get("transA")
    )


def _steps(
    values: NDArray[np.float32], most: int, axis: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers from ``-most`` to ``most``, and what to multiply them with, one along axis."""
    largest = np.maximum(np.abs(values).max(axis=axis, keepdims=True), np.float32(TINIEST))
    scales = (largest / np.float32(most)).astype(np.float32)
    return np.rint(values / scales).astype(np.int8), scales
