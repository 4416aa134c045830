"""Runs a shipped ONNX graph with torch, so that it can use a GPU.

Products of int8 numbers are integers and come out the same on every device; only the last bits of
the float operators between them can differ from onnxruntime on a CPU. Where a graph takes the range
of int8 numbers from the whole input, the numbers stay float instead.

Shapes, axes and single numbers are tensors on the host. An operator whose inputs are all on the
host is computed there, so that the device is never asked for a shape.
"""

import gc
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor

from parataxis.errors import ParataxisError
from parataxis.run.gpu.fuse import Node, fused
from parataxis.run.gpu.operators import OPERATORS, prepared

_PRODUCTS = ("FloatProduct", "MatMulIntegerToFloat", "ScaledProduct")
"""Operators whose second input are quantised weights."""


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
        """Run the graph once."""
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
        operator, host_inputs = OPERATORS[node.kind]
        is_known = not any(self._is_on_device(each) for each in given if each is not None)
        is_host = (is_known and node.kind != "Expand") or node.kind == "Shape"
        if not is_host:  # an expanded tensor is large, so it is made on the device
            given = [
                each if each is None or place in host_inputs else self._on_device(each)
                for place, each in enumerate(given)
            ]
        result = operator(*given, **node.options)
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
    that hundreds of operators cost the host as little as one.

    Recordings that are never replayed at the same time can share a memory pool.
    """

    def __init__(self, work: Callable[[], None], device: torch.device, pool: Any = None) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        if device.type == "cuda":
            with _recording:
                self._record(pool)

    def __call__(self) -> None:
        """Do the work once more."""
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
