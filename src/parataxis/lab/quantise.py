"""Int8 weights in an ONNX graph, in a way that keeps each row of a batch to itself.

onnxruntime's own dynamic quantisation takes one scale for a whole tensor of activations, so that
the result of one sentence depends on its neighbours. Here every row has its own scale, or all rows
have one that was measured beforehand, and the sums in between are whole numbers: a row gives the
same bits alone and in any batch.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from parataxis.syntax.onnx import Arrays, OnnxModel

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
HEADROOM = 1.1
"""How much larger the inputs of products may get than those that were watched."""
TINIEST = 1e-12
"""Instead of the largest entry of a row of zeros."""

MICROSOFT = "com.microsoft"


def quantise(model: onnx.ModelProto, largest: Mapping[str, float] | None = None) -> onnx.ModelProto:
    """A copy of a graph (opset 13 to 17) with the weights of its products and tables as int8.

    ``largest`` gives the largest entries of inputs of products, by name, where they are known. To
    use them is faster than to look for the largest entry of every row; what is larger is cut off.
    """
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    _Rewriter(copied.graph, largest or {}).run()
    if all(entry.domain != MICROSOFT for entry in copied.opset_import):
        copied.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    return copied


def product_inputs(model: onnx.ModelProto) -> list[str]:
    """The names of the inputs of products, whose largest entries :func:`quantise` may be given."""
    rewriter = _Rewriter(model.graph, {})
    products = (node.input[0] for node in model.graph.node if rewriter.is_product(node))
    return list(dict.fromkeys(products))


class WatchedModel:
    """A graph whose products are watched while it runs: ``largest`` has the largest entries of
    their inputs so far, with some headroom, for :func:`quantise`."""

    def __init__(self, path: Path) -> None:
        graph = onnx.load(str(path))
        self.largest = dict.fromkeys(product_inputs(graph), 0.0)
        graph.graph.output.extend(map(helper.make_empty_tensor_value_info, self.largest))
        with tempfile.TemporaryDirectory() as name:
            onnx.save(graph, str(Path(name) / path.name))
            self._model = OnnxModel(Path(name) / path.name)

    def __call__(self, inputs: Arrays) -> Arrays:
        outputs = self._model(inputs)
        for name, value in self.largest.items():
            self.largest[name] = max(value, HEADROOM * float(np.abs(outputs[name]).max()))
        return outputs


class _Rewriter:
    def __init__(self, graph: onnx.GraphProto, largest: Mapping[str, float]) -> None:
        self.graph, self.largest = graph, largest
        self.weights = {entry.name: entry for entry in graph.initializer}
        self.sums = self._sums()
        self.merged: set[str] = set()
        """Sums that products have taken over."""
        self.rows: dict[str, tuple[str, str]] = {}
        """Quantised inputs by name, with their scales: products of the same input share them."""
        self.stored: set[str] = set()

    def _sums(self) -> dict[str, tuple[str, str]]:
        """What is added to tensors that nothing else reads: by the tensor's name, a row of
        constants and the name of the sum."""
        readers = Counter(name for node in self.graph.node for name in node.input)
        readers.update(output.name for output in self.graph.output)
        found = {}
        for node in self.graph.node:
            if node.op_type == "Add":
                for tensor, constants in (node.input, reversed(node.input)):
                    if self._holds(constants, 1, dimensions=1) and readers[tensor] == 1:
                        found[tensor] = (constants, node.output[0])
        return found

    def run(self) -> None:
        nodes = [new for node in self.graph.node for new in self._rewrite(node)]
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        used = {name for node in nodes for name in node.input}
        kept = [entry for entry in self.graph.initializer if entry.name in used]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)

    def is_product(self, node: onnx.NodeProto) -> bool:
        """Whether a node multiplies rows with enough constants, and adds at most a row of them."""
        options = _options(node)
        return (
            node.op_type in ("MatMul", "Gemm")
            and self._holds(node.input[1], SMALLEST)
            and all(self._holds(name, 1, dimensions=1) for name in node.input[2:])
            and options.get("alpha", 1.0) == options.get("beta", 1.0) == 1.0
            and not options.get("transA")
        )

    def _holds(self, name: str, count: int, dimensions: int = 2) -> bool:
        """Whether a name refers to at least that many constants."""
        entry = self.weights.get(name)
        return (
            entry is not None
            and entry.data_type == onnx.TensorProto.FLOAT
            and len(entry.dims) == dimensions
            and int(np.prod(entry.dims)) >= count
        )

    def _rewrite(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        if node.op_type == "Add" and node.output[0] in self.merged:
            return
        if self.is_product(node):
            yield from self._product(node)
        elif (
            node.op_type == "Gather"
            and self._holds(node.input[0], SMALLEST_TABLE)
            and not _options(node).get("axis")
        ):
            yield from self._lookup(node.input[0], node.input[1], node.output[0])
        else:
            yield node

    def _product(self, node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
        rows, weight = node.input[:2]
        if rows not in self.rows:
            yield from self._quantised_rows(rows)
        quantised, scales = self.rows[rows]
        small, small_scales = self._quantised_weight(
            weight, flip=bool(_options(node).get("transB"))
        )
        bias, output = self._bias(node)
        if rows in self.largest:
            inputs = [quantised, small, scales, small_scales, "row_zero", "", bias]
            yield _times(inputs if bias else inputs[:5], output)
            return
        unscaled, unbiased = f"{output}_unscaled", f"{output}_unbiased" if bias else output
        yield _times([quantised, small, "row_step", small_scales, "row_zero"], unscaled)
        yield helper.make_node("Mul", [unscaled, scales], [unbiased])
        if bias:
            yield helper.make_node("Add", [unbiased, bias], [output])

    def _bias(self, node: onnx.NodeProto) -> tuple[str, str]:
        """The constants that are added to a product, if any, and the name of the result."""
        if len(node.input) > 2:
            return node.input[2], node.output[0]
        bias, output = self.sums.get(node.output[0], ("", node.output[0]))
        if bias:
            self.merged.add(output)
        return bias, output

    def _quantised_weight(self, weight: str, *, flip: bool) -> tuple[str, str]:
        values = numpy_helper.to_array(self.weights[weight])
        steps, scales = _steps(values.T if flip else values, WEIGHT_STEPS, axis=0)
        name = f"{weight}_flipped" if flip else weight
        return self._store(f"{name}_int8", steps), self._store(f"{name}_scales", scales[0])

    def _quantised_rows(self, rows: str) -> Iterator[onnx.NodeProto]:
        """Rows in whole steps of their known scale, or divided by their largest entry first."""
        zero = self._store("row_zero", np.uint8(ROW_ZERO))
        absolute, largest, scales, divided, quantised = (
            f"{rows}_{part}" for part in ("absolute", "largest", "scales", "divided", "uint8")
        )
        self.rows[rows] = quantised, scales
        if rows in self.largest:
            self._store(scales, np.float32(self.largest[rows] / ROW_STEPS))
            yield helper.make_node("QuantizeLinear", [rows, scales, zero], [quantised])
            return
        step = self._store("row_step", np.float32(1.0 / ROW_STEPS))
        tiniest = self._store("tiniest", np.float32(TINIEST))
        yield helper.make_node("Abs", [rows], [absolute])
        yield helper.make_node("ReduceMax", [absolute], [largest], axes=[-1], keepdims=1)
        yield helper.make_node("Max", [largest, tiniest], [scales])
        yield helper.make_node("Div", [rows, scales], [divided])
        yield helper.make_node("QuantizeLinear", [divided, step, zero], [quantised])

    def _lookup(self, table: str, places: str, output: str) -> Iterator[onnx.NodeProto]:
        steps, scales = _steps(numpy_helper.to_array(self.weights[table]), TABLE_STEPS, axis=1)
        small, small_scales = (
            self._store(f"{table}_rows_int8", steps),
            self._store(f"{table}_rows_scales", scales),
        )
        unscaled, as_float, found = (f"{output}_{part}" for part in ("int8", "unscaled", "scales"))
        yield helper.make_node("Gather", [small, places], [unscaled])
        yield helper.make_node("Cast", [unscaled], [as_float], to=onnx.TensorProto.FLOAT)
        yield helper.make_node("Gather", [small_scales, places], [found])
        yield helper.make_node("Mul", [as_float, found], [output])

    def _store(self, name: str, values: NDArray[np.generic] | np.generic) -> str:
        if name not in self.stored:
            self.stored.add(name)
            self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name


def _options(node: onnx.NodeProto) -> dict[str, object]:
    return {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}


def _times(inputs: list[str], output: str) -> onnx.NodeProto:
    """The product of int8 numbers, as float: only onnxruntime's own operator does it at once."""
    return helper.make_node("MatMulIntegerToFloat", inputs, [output], domain=MICROSOFT)


def _steps(
    values: NDArray[np.float32], most: int, axis: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers from ``-most`` to ``most``, and what to multiply them with, one along axis."""
    largest = np.maximum(np.abs(values).max(axis=axis, keepdims=True), np.float32(TINIEST))
    scales = (largest / np.float32(most)).astype(np.float32)
    return np.rint(values / scales).astype(np.int8), scales


def read_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """The weights in a graph that :func:`quantise` or onnxruntime's own quantisation has made, as
    float numbers and by their names in torch: a start for more training.

    Products have lost the names of their weights; they are found by the bias that is added.
    """
    graph = onnx.load(str(path)).graph
    stored = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    readers = {name: node for node in graph.node for name in node.input}
    found = {name: values for name, values in stored.items() if values.dtype == np.float32}
    for name in stored:
        table = name.removesuffix("_rows_int8").removesuffix("_quantized")
        if table != name and table.endswith(".weight"):
            found[table] = _floats(stored, name)
    for node in graph.node:
        if node.op_type.startswith("MatMul") and node.input[1] in stored:
            bias = _bias_name(node, readers)
            if bias:
                weight = _floats(stored, node.input[1])
                found[bias.removesuffix("bias") + "weight"] = np.ascontiguousarray(weight.T)
    return {name.removeprefix("network."): values for name, values in found.items()}


def _floats(stored: Mapping[str, NDArray[np.generic]], name: str) -> NDArray[np.float32]:
    values = np.asarray(stored[name], dtype=np.float32)
    if name.endswith("_int8"):
        return values * np.asarray(stored[name.removesuffix("_int8") + "_scales"], np.float32)
    if name.endswith("_quantized"):
        base = name.removesuffix("_quantized")
        zero, scale = (np.asarray(stored[base + part]) for part in ("_zero_point", "_scale"))
        return np.asarray((values - zero) * scale, dtype=np.float32)
    return values


def _bias_name(node: onnx.NodeProto, readers: Mapping[str, onnx.NodeProto]) -> str | None:
    """The bias that is added to a product, at once or after it was scaled."""
    while node.op_type != "Add":
        for name in node.input[2:]:
            if name.endswith(".bias"):
                return name
        following = readers.get(node.output[0])
        if following is None or following.op_type not in ("Add", "Cast", "Mul"):
            return None
        node = following
    return next((name for name in node.input if name.endswith(".bias")), None)
