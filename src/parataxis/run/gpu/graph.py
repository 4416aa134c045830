"""Puts operators of a graph together that torch does at once.

The patterns are those that :mod:`parataxis.lab.quantise` writes, and the error function that
makes a GELU. What they compute stays the same; a GPU reads and writes each number once, not five
times.
"""

import gc
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor

from parataxis.errors import ParataxisError
from parataxis.run.gpu.operators import DEVICE, HOST, Value, prepared


@dataclass
class Node:
    """One operator: the names of what it takes and makes."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any] = field(default_factory=dict)


def fused(nodes: Sequence[Node], outputs: Iterable[str]) -> list[Node]:
    """The same graph in fewer operators."""
    found = list(nodes)
    wanted = set(outputs)
    for pattern in (_quantised_rows, _scaled_product, _float_product, _gelu, _attention, _attended):
        found = _used(_replaced(found, wanted, pattern), wanted)
    return found


def _used(nodes: Sequence[Node], outputs: set[str]) -> list[Node]:
    """The nodes on which the outputs depend."""
    needed = set(outputs)
    kept = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return kept[::-1]


class _View:
    """A graph, seen from one of its nodes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.makers = {name: node for node in nodes for name in node.outputs}
        self.takers: dict[str, list[Node]] = {}
        for node in nodes:
            for name in node.inputs:
                self.takers.setdefault(name, []).append(node)

    def maker(self, name: str, kind: str) -> Node | None:
        """What makes a value, if it is of this kind."""
        node = self.makers.get(name)
        return node if node is not None and node.kind == kind else None

    def taker(self, node: Node, kind: str) -> Node | None:
        """What alone takes the result of a node, if it is of this kind."""
        takers = self.takers.get(node.outputs[0], [])
        return takers[0] if len(takers) == 1 and takers[0].kind == kind else None


_Match = tuple[Node, list[Node]]
"""What takes the place of the last of some nodes."""


def _replaced(
    nodes: list[Node], outputs: set[str], pattern: Callable[[Node, _View], _Match | None]
) -> list[Node]:
    view = _View(nodes)
    gone: set[int] = set()
    instead: dict[int, Node] = {}
    for node in nodes:
        match = pattern(node, view)
        if match is None:
            continue
        new, old = match
        if any(name in outputs for part in old[:-1] for name in part.outputs):
            continue
        gone.update(map(id, old[:-1]))
        instead[id(old[-1])] = new
    return [instead.get(id(node), node) for node in nodes if id(node) not in gone]


def _quantised_rows(last: Node, view: _View) -> _Match | None:
    """Rows divided by their largest entry, in steps."""
    if last.kind != "QuantizeLinear":
        return None
    divided = view.maker(last.inputs[0], "Div")
    scales = divided and view.maker(divided.inputs[1], "Max")
    largest = scales and view.maker(scales.inputs[0], "ReduceMax")
    absolute = largest and view.maker(largest.inputs[0], "Abs")
    if not (divided and scales and largest and absolute):
        return None
    rows = divided.inputs[0]
    if absolute.inputs[0] != rows or largest.options.get("axes") != [-1]:
        return None
    inputs = [rows, scales.inputs[1], last.inputs[1]]
    new = Node("QuantisedRows", inputs, [last.outputs[0], scales.outputs[0]])
    return new, [absolute, largest, scales, divided, last]


def _scaled_product(first: Node, view: _View) -> _Match | None:
    """A product of quantised rows, times the scales of the rows, plus constants."""
    if first.kind != "MatMulIntegerToFloat" or len(first.inputs) != 5:
        return None
    scaled = view.taker(first, "Mul")
    if scaled is None or scaled.inputs[0] != first.outputs[0]:
        return None
    parts = [*first.inputs[:4], scaled.inputs[1]]
    summed = view.taker(scaled, "Add")
    if summed is None or summed.inputs[0] != scaled.outputs[0]:
        return Node("ScaledProduct", parts, scaled.outputs), [first, scaled]
    return Node("ScaledProduct", [*parts, summed.inputs[1]], summed.outputs), [
        first,
        scaled,
        summed,
    ]


def _float_product(first: Node, view: _View) -> _Match | None:
    """A product of rows that are quantised as they come, times the scales of the columns, plus a
    constant: the rows can stay as they are."""
    if first.kind != "MatMulInteger":
        return None
    rows = view.maker(first.inputs[0], "DynamicQuantizeLinear")
    cast = view.taker(first, "Cast")
    scaled = cast and view.taker(cast, "Mul")
    scales = scaled and view.maker(scaled.inputs[1], "Mul")
    if not (rows and cast and scaled and scales) or scales.inputs[0] != rows.outputs[1]:
        return None
    parts = [rows.inputs[0], first.inputs[1], scales.inputs[1]]
    summed = view.taker(scaled, "Add")
    if summed is None or summed.inputs[0] in view.makers:
        return Node("FloatProduct", parts, scaled.outputs), [first, cast, scaled]
    return Node("FloatProduct", [*parts, summed.inputs[0]], summed.outputs), [
        first,
        cast,
        scaled,
        summed,
    ]


def _gelu(middle: Node, view: _View) -> _Match | None:
    """x / sqrt 2, erf, plus 1, times x, times a half."""
    if middle.kind != "Erf":
        return None
    divided = view.maker(middle.inputs[0], "Div")
    added = view.taker(middle, "Add")
    times = added and view.taker(added, "Mul")
    halved = times and view.taker(times, "Mul")
    if not (divided and added and times and halved) or divided.inputs[0] not in times.inputs:
        return None
    return Node("Gelu", [divided.inputs[0]], halved.outputs), [
        divided,
        middle,
        added,
        times,
        halved,
    ]


def _attention(last: Node, view: _View) -> _Match | None:
    """Scores divided by a number, plus a bias, softmax."""
    if last.kind != "Softmax" or last.options.get("axis", -1) != -1:
        return None
    added = view.maker(last.inputs[0], "Add")
    divided = added and view.maker(added.inputs[0], "Div")
    if not (added and divided):
        return None
    inputs = [divided.inputs[0], divided.inputs[1], added.inputs[1]]
    return Node("Attention", inputs, last.outputs), [divided, added, last]


def _attended(last: Node, view: _View) -> _Match | None:
    """Queries times keys, softmax, times values."""
    softened = view.maker(last.inputs[0], "Attention") if last.kind == "MatMul" else None
    scores = softened and view.maker(softened.inputs[0], "MatMul")
    if not (softened and scores) or view.taker(softened, "MatMul") is not last:
        return None
    inputs = [*scores.inputs, last.inputs[1], *softened.inputs[1:]]
    return Node("Attended", inputs, last.outputs), [scores, softened, last]


# Runs a shipped ONNX graph with torch, operator by operator, so that it can use a GPU.
#
# The products of int8 numbers are whole numbers and come out the same on every device; what is left
# to differ from onnxruntime on a CPU are the last bits of the float operators in between. Where a
# graph takes the range of int8 numbers from the whole input, they stay floats instead.
#
# Arrays of numpy are known on the host (shapes, axes, constants), tensors lie on the device. An
# operator whose inputs are all known is computed at once by numpy, so that the device is never
# asked for a shape.

_PRODUCTS = ("FloatProduct", "MatMulIntegerToFloat", "ScaledProduct")
"""Operators whose second input are quantised weights."""


class TorchGraph:
    """An ONNX file whose weights lie on a device."""

    def __init__(self, path: Path, device: torch.device) -> None:
        graph = onnx.load(str(path)).graph
        self.device = device
        self.outputs = [output.name for output in graph.output]
        self._moved: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}
        self._constants: dict[str, Value] = {
            entry.name: self._constant(numpy_helper.to_array(entry)) for entry in graph.initializer
        }
        nodes = [_read(node) for node in graph.node if node.op_type != "Constant"]
        self._nodes = fused(nodes, self.outputs)
        for node in graph.node:
            if node.op_type == "Constant":
                array = numpy_helper.to_array(node.attribute[0].t)
                self._constants[node.output[0]] = self._constant(array)
        unknown = sorted({node.kind for node in self._nodes} - DEVICE.keys() - HOST.keys())
        if unknown:
            raise ParataxisError(f"{path.name} has operators unknown here: {', '.join(unknown)}.")
        for name in {node.inputs[1] for node in self._nodes if node.kind in _PRODUCTS}:
            self._constants[name] = prepared(self._on_device(self._constants[name]))
        self._last_use = self._last_uses()

    @torch.no_grad()
    def __call__(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Run the graph once."""
        values: dict[str, Value] = dict(inputs)
        for place, node in enumerate(self._nodes):
            given = [self._value(values, name) for name in node.inputs]
            found = self._run(node, given)
            values.update(zip(node.outputs, found, strict=False))
            for name in self._last_use[place]:
                values.pop(name, None)
        return {name: self._on_device(values[name]) for name in self.outputs}

    def _run(self, node: Node, given: list[Value | None]) -> tuple[Value, ...]:
        known = all(not isinstance(value, Tensor) for value in given)
        if node.kind in HOST and (known or node.kind == "Shape"):
            return HOST[node.kind](*given, **node.options)
        operator, is_host = DEVICE.get(node.kind, (None, ()))
        if operator is None or any(isinstance(given[place], Tensor) for place in is_host):
            raise RuntimeError(f"{node.outputs[0]} needs a shape that only the device knows")
        moved = [
            value if value is None or place in is_host else self._on_device(value)
            for place, value in enumerate(given)
        ]
        result = operator(*moved, **node.options)
        return result if isinstance(result, tuple) else (result,)

    def _value(self, values: Mapping[str, Value], name: str) -> Value | None:
        if not name:
            return None
        return values[name] if name in values else self._constants[name]

    def _constant(self, array: NDArray[Any]) -> Value:
        """Weights lie on the device; shapes, axes and single numbers stay on the host."""
        if array.ndim == 0 or (array.dtype == np.int64 and array.size <= 8):
            return array
        return torch.from_numpy(array.copy()).to(self.device)

    def _on_device(self, value: Value) -> Tensor:
        """The value as a tensor; what was moved once is kept, for it comes again."""
        if isinstance(value, Tensor):
            return value
        key = (value.dtype.str, value.shape, value.tobytes())
        if key not in self._moved:
            self._moved[key] = torch.from_numpy(np.array(value)).to(self.device)
        return self._moved[key]

    def _last_uses(self) -> list[list[str]]:
        """For each node what is not needed after it, so that memory can be used again."""
        last: dict[str, int] = {}
        for place, node in enumerate(self._nodes):
            for name in (*node.inputs, *node.outputs):
                last[name] = place
        free: list[list[str]] = [[] for _ in self._nodes]
        for name, place in last.items():
            if name not in self.outputs:
                free[place].append(name)
        return free


def _read(node: onnx.NodeProto) -> Node:
    options: dict[str, Any] = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            value = numpy_helper.to_array(value)
        options[attribute.name] = value
    return Node(node.op_type, list(node.input), list(node.output), options)


# Work on tensors that lie at fixed places: on a GPU it is recorded once and then played back, so
# that hundreds of operators cost the host as little as one.

_one_at_a_time = threading.Lock()
"""Threads may play recordings side by side, but not make them."""


class Recording:
    """What ``work`` does, again and again. Recordings that are never played at the same time can
    share a pool of memory."""

    def __init__(self, work: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            with _one_at_a_time:
                self._record(pool)

    def __call__(self) -> None:
        """Do it once more."""
        if self._graph is None:
            self._work()
        else:
            self._graph.replay()

    def _record(self, pool: Any) -> None:
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # what is made on first use is made before the recording
            self._work()
            self._work()
        torch.cuda.current_stream().wait_stream(aside)
        gc.collect()
        self._graph = torch.cuda.CUDAGraph()
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
            self._work()


def current(device: torch.device) -> AbstractContextManager[object]:
    """Makes a device the one on which this thread starts kernels and makes streams."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def new_pool(device: torch.device) -> Any:
    """Memory that recordings can share."""
    return torch.cuda.graph_pool_handle() if device.type == "cuda" else None
