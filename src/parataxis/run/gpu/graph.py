"""Runs a shipped ONNX graph with torch, so that it can use a GPU.

Products of int8 numbers are integers and come out the same on every device; only the last bits of
the float operators between them can differ from onnxruntime on a CPU. Where a graph takes the range
of int8 numbers from the whole input, the numbers stay float instead.

Shapes, axes and single numbers are tensors on the host. An operator whose inputs are all on the
host is computed there, so that the device is never asked for a shape.

Operators are fused into larger ones that need fewer passes over the memory: the quantised products
that :mod:`parataxis.lab.quantise` writes, attention, and the error function that makes a GELU. The
numbers stay the same.
"""

import gc
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor

from parataxis.errors import ParataxisError
from parataxis.run.gpu.operators import HOST_INPUTS, OPERATORS, prepared

_PRODUCTS = ("FloatProduct", "MatMulIntegerToFloat", "ScaledProduct")
"""Operators whose second input are quantised weights."""


@dataclass
class Node:
    """One operator: the names of its inputs and outputs, and its attributes."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any] = field(default_factory=dict)


def fused(nodes: Sequence[Node], outputs: Iterable[str]) -> list[Node]:
    found = list(nodes)
    wanted = set(outputs)
    for pattern in (_quantised_rows, _scaled_product, _float_product, _gelu, _attention, _attended):
        found = _needed(_replaced(found, wanted, pattern), wanted)
    return found


def _needed(nodes: Sequence[Node], outputs: set[str]) -> list[Node]:
    needed = set(outputs)
    kept = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return kept[::-1]


class _Neighbours:
    """Finds the nodes before and after a node."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.makers = {name: node for node in nodes for name in node.outputs}
        self._takers: dict[str, list[Node]] = {}
        for node in nodes:
            for name in node.inputs:
                self._takers.setdefault(name, []).append(node)

    def before(self, node: Node, *path: tuple[int, str]) -> list[Node]:
        """The nodes on a path of (index of the input, kind) upwards; [] if there is none."""
        found: list[Node] = []
        for place, kind in path:
            maker = self.makers.get(node.inputs[place])
            if maker is None or maker.kind != kind:
                return []
            found.append(maker)
            node = maker
        return found

    def after(self, node: Node, *kinds: str) -> list[Node]:
        """The nodes of these kinds downwards, each the only user of the one before; or []."""
        found: list[Node] = []
        for kind in kinds:
            takers = self._takers.get(node.outputs[0], [])
            if len(takers) != 1 or takers[0].kind != kind:
                return []
            found += takers
            node = takers[0]
        return found


_Match = tuple[Node, list[Node]]
"""A new node, and the nodes that it replaces; it stands in the place of the last of them."""


def _replaced(
    nodes: list[Node], outputs: set[str], pattern: Callable[[Node, _Neighbours], _Match | None]
) -> list[Node]:
    near = _Neighbours(nodes)
    gone: set[int] = set()
    instead: dict[int, Node] = {}
    for node in nodes:
        match = pattern(node, near)
        if match is None:
            continue
        new, old = match
        if any(name in outputs for part in old[:-1] for name in part.outputs):
            continue
        gone.update(map(id, old[:-1]))
        instead[id(old[-1])] = new
    return [instead.get(id(node), node) for node in nodes if id(node) not in gone]


def _quantised_rows(last: Node, near: _Neighbours) -> _Match | None:
    """Rows divided by their largest absolute entry, then quantised."""
    if last.kind != "QuantizeLinear":
        return None
    old = near.before(last, (0, "Div"), (1, "Max"), (0, "ReduceMax"), (0, "Abs"))
    if not old:
        return None
    divided, scales, largest, absolute = old
    rows = divided.inputs[0]
    if absolute.inputs[0] != rows or largest.options.get("axes") != [-1]:
        return None
    inputs = [rows, scales.inputs[1], last.inputs[1]]
    return Node("QuantisedRows", inputs, [last.outputs[0], scales.outputs[0]]), [*old[::-1], last]


def _scaled_product(first: Node, near: _Neighbours) -> _Match | None:
    """A product of quantised rows, times the scales of the rows, plus a bias."""
    if first.kind != "MatMulIntegerToFloat" or len(first.inputs) != 5:
        return None
    after = near.after(first, "Mul")
    if not after or after[0].inputs[0] != first.outputs[0]:
        return None
    inputs = [*first.inputs[:4], after[0].inputs[1]]
    return _with_bias(Node("ScaledProduct", inputs, after[0].outputs), [first, *after], near)


def _float_product(first: Node, near: _Neighbours) -> _Match | None:
    """A product of rows that are quantised on the fly, times the scales of the columns, plus a
    bias: the rows can stay float."""
    after = near.after(first, "Cast", "Mul") if first.kind == "MatMulInteger" else []
    rows = near.before(first, (0, "DynamicQuantizeLinear")) if after else []
    scales = near.before(after[-1], (1, "Mul")) if rows else []
    if not scales or scales[0].inputs[0] != rows[0].outputs[1]:
        return None
    inputs = [rows[0].inputs[0], first.inputs[1], scales[0].inputs[1]]
    return _with_bias(Node("FloatProduct", inputs, after[-1].outputs), [first, *after], near)


def _with_bias(product: Node, old: list[Node], near: _Neighbours) -> _Match:
    """The product together with the constant that is added to it, where there is one."""
    after = near.after(product, "Add")
    bias = [name for each in after for name in each.inputs if name not in near.makers]
    if not bias:
        return product, old
    return Node(product.kind, [*product.inputs, *bias], after[0].outputs), [*old, *after]


def _gelu(middle: Node, near: _Neighbours) -> _Match | None:
    """x / sqrt 2, erf, plus 1, times x, times a half."""
    before = near.before(middle, (0, "Div")) if middle.kind == "Erf" else []
    after = near.after(middle, "Add", "Mul", "Mul") if before else []
    if not after or before[0].inputs[0] not in after[1].inputs:
        return None
    return Node("Gelu", before[0].inputs[:1], after[-1].outputs), [*before, middle, *after]


def _attention(last: Node, near: _Neighbours) -> _Match | None:
    """Scores divided by a number, plus a bias, softmax."""
    if last.kind != "Softmax" or last.options.get("axis", -1) != -1:
        return None
    old = near.before(last, (0, "Add"), (0, "Div"))
    if not old:
        return None
    added, divided = old
    inputs = [*divided.inputs, added.inputs[1]]
    return Node("Attention", inputs, last.outputs), [divided, added, last]


def _attended(last: Node, near: _Neighbours) -> _Match | None:
    old = near.before(last, (0, "Attention"), (0, "MatMul")) if last.kind == "MatMul" else []
    if not old or near.after(old[0], "MatMul") != [last]:
        return None
    softened, scores = old
    inputs = [*scores.inputs, last.inputs[1], *softened.inputs[1:]]
    return Node("Attended", inputs, last.outputs), [scores, softened, last]


class TorchGraph:
    """An ONNX file whose weights lie on a device."""

    def __init__(self, path: Path, device: torch.device) -> None:
        graph = onnx.load(str(path)).graph
        self.device = device
        self.outputs = [output.name for output in graph.output]
        self._moved: dict[tuple[torch.dtype, torch.Size, bytes], Tensor] = {}
        constants = {each.name: each for each in graph.initializer}
        constants |= {
            node.output[0]: node.attribute[0].t for node in graph.node if node.op_type == "Constant"
        }
        self._constants = {name: self._constant(each) for name, each in constants.items()}
        nodes = [_read(node) for node in graph.node if node.op_type != "Constant"]
        self._nodes = fused(nodes, self.outputs)
        unknown = sorted({node.kind for node in self._nodes} - OPERATORS.keys())
        if unknown:
            raise ParataxisError(f"{path.name} has operators unknown here: {', '.join(unknown)}.")
        for name in {node.inputs[1] for node in self._nodes if node.kind in _PRODUCTS}:
            self._constants[name] = prepared(self._on_device(self._constants[name]))
        self._last_use = self._last_uses()

    @torch.no_grad()
    def __call__(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        values = dict(inputs)
        for place, node in enumerate(self._nodes):
            given = [
                (values[name] if name in values else self._constants[name]) if name else None
                for name in node.inputs
            ]
            found = self._run(node, given)
            values.update(zip(node.outputs, found, strict=False))
            for name in self._last_use[place]:
                values.pop(name, None)
        return {name: self._on_device(values[name]) for name in self.outputs}

    def _run(self, node: Node, given: list[Tensor | None]) -> tuple[Tensor, ...]:
        host_inputs = HOST_INPUTS.get(node.kind, ())
        is_known = not any(self._is_on_device(each) for each in given if each is not None)
        is_host = (is_known and node.kind != "Expand") or node.kind == "Shape"
        if not is_host:  # an expanded tensor is large, so it is made on the device
            given = [
                each if each is None or place in host_inputs else self._on_device(each)
                for place, each in enumerate(given)
            ]
        result = OPERATORS[node.kind](*given, **node.options)
        return result if isinstance(result, tuple) else (result,)

    def _constant(self, constant: onnx.TensorProto) -> Tensor:
        """A constant: weights lie on the device; shapes, axes and single numbers on the host."""
        tensor = torch.from_numpy(numpy_helper.to_array(constant).copy())
        is_host = tensor.dim() == 0 or (tensor.dtype == torch.int64 and tensor.numel() <= 8)
        return tensor if is_host else tensor.to(self.device)

    def _on_device(self, value: Tensor) -> Tensor:
        """The tensor on the device; host tensors are moved once, because they recur in each run."""
        if self._is_on_device(value):
            return value
        key = (value.dtype, value.shape, value.numpy().tobytes())
        if key not in self._moved:
            self._moved[key] = value.to(self.device)
        return self._moved[key]

    def _is_on_device(self, value: Tensor) -> bool:
        return value.device.type == self.device.type

    def _last_uses(self) -> list[list[str]]:
        """The values that are not needed after each node, so that their memory can be reused."""
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
            value = torch.from_numpy(numpy_helper.to_array(value).copy())
        options[attribute.name] = value
    return Node(node.op_type, list(node.input), list(node.output), options)


_recording = threading.Lock()
"""Threads may replay recordings in parallel, but only one may record at a time."""


class Recording:
    """Work on tensors at fixed addresses: a GPU records it once as a CUDA graph and replays it, so
    that hundreds of operators cost the host as little as one. Recordings that are never replayed at
    the same time can share a memory pool."""

    def __init__(self, work: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            with _recording:
                self._record(pool)

    def __call__(self) -> None:
        if self._graph is None:
            self._work()
        else:
            self._graph.replay()

    def _record(self, pool: Any) -> None:
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # warm-up: lazy initialisation must not be recorded
            self._work()
            self._work()
        torch.cuda.current_stream().wait_stream(aside)
        gc.collect()
        self._graph = torch.cuda.CUDAGraph()
        # Other threads may use the GPU meanwhile.
        with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
            self._work()


def current(device: torch.device) -> AbstractContextManager[object]:
    """Make a device the one on which this thread starts kernels and creates streams."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def new_pool(device: torch.device) -> Any:
    """A memory pool that recordings can share."""
    return torch.cuda.graph_pool_handle() if device.type == "cuda" else None
