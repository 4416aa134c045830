"""Runs a shipped ONNX graph with torch, operator by operator, so that it can use a GPU.

The products of int8 numbers are whole numbers and come out the same on every device; what is left
to differ from onnxruntime on a CPU are the last bits of the float operators in between. Where a
graph takes the range of int8 numbers from the whole input, they stay floats instead.

Arrays of numpy are known on the host (shapes, axes, constants), tensors lie on the device. An
operator whose inputs are all known is computed at once by numpy, so that the device is never asked
for a shape.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor

from parataxis.errors import ParataxisError
from parataxis.scale.gpu.fuse import Node, fused
from parataxis.scale.gpu.operators import DEVICE, HOST, Value, prepared

__all__ = ["TorchGraph"]

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
