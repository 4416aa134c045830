"""The operators of the shipped ONNX graphs, and those that replace several of them, in torch.

Quantised rows are kept as signed numbers around zero, which is what the products take. On a GPU
the kernels of :mod:`parataxis.run.gpu.kernels` do what would take torch several passes.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

if torch.cuda.is_available():
    from parataxis.run.gpu import kernels

_TYPES = {1: torch.float32, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64}
_TYPES |= {9: torch.bool, 10: torch.float16, 11: torch.float64}


def _ints(values: Tensor) -> list[int]:
    """The numbers of a tensor on the host; reading one from the device would make it wait."""
    if values.is_cuda:
        raise RuntimeError("an operator needs a shape that only the device knows")
    return [int(value) for value in values.reshape(-1).tolist()]


def prepared(values: Tensor) -> Tensor:
    """Integers of eight bits as the products take them: sums of their products stay below 2**24, so
    float32 holds them exactly, in whatever order they are added."""
    return values.to(torch.bfloat16 if values.device.type == "cuda" else torch.float32)


def _quantise(rows: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Rows in steps of a scale; ``zero`` is always 128, and rows are kept around zero instead."""
    if rows.is_cuda:
        return kernels.quantised(rows, scale)
    return prepared(torch.round(rows / scale).clamp(-128, 127))


def _quantised_rows(rows: Tensor, tiniest: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    """Rows divided by their largest absolute entry, in steps around zero; and these entries."""
    if rows.is_cuda:
        return kernels.quantised_rows(rows, float(tiniest), float(step))
    scales = rows.abs().amax(-1, keepdim=True).clamp(min=float(tiniest))
    return prepared(torch.round(rows / scales / float(step))), scales


def _scaled_product(
    rows: Tensor,
    weight: Tensor,
    step: Tensor | float,
    scales: Tensor,
    row_scales: Tensor | None,
    bias: Tensor | None = None,
) -> Tensor:
    """The product of quantised rows and weights, times their scales, as float."""
    weight = weight.to(rows.dtype)
    if not rows.is_cuda:
        found = (rows @ weight) * (float(step) * scales)
        if row_scales is not None:
            found = found * row_scales
        return found if bias is None else found + bias
    flat = torch.mm(rows.reshape(-1, rows.shape[-1]), weight, out_dtype=torch.float32)
    product = flat.reshape(*rows.shape[:-1], weight.shape[1])
    return kernels.scaled(product, float(step), scales, row_scales, bias)


def _float_product(
    rows: Tensor, weight: Tensor, scales: Tensor, bias: Tensor | None = None
) -> Tensor:
    """The product of float rows and quantised weights. On a GPU each number of the rows is rounded
    to bfloat16, with eight bits of its own; the CPU takes eight bits of the largest number."""
    return _scaled_product(prepared(rows), weight, 1.0, scales, None, bias)


def _gelu(values: Tensor) -> Tensor:
    """On a CPU in the steps of the graph, which torch's own GELU rounds differently."""
    if values.is_cuda:
        return functional.gelu(values)
    return values * (torch.erf(values / math.sqrt(2.0)) + 1.0) * 0.5


def _attention(scores: Tensor, divisor: Tensor, bias: Tensor) -> Tensor:
    """The softmax of scores divided by a number, plus a bias."""
    if scores.is_cuda:
        return kernels.attention(scores, float(divisor), bias)
    return (scores / float(divisor) + bias).softmax(-1)


def _attended(
    queries: Tensor, keys: Tensor, values: Tensor, divisor: Tensor, bias: Tensor
) -> Tensor:
    """Attention: the mean of values, weighted by the products of queries and keys (columns)."""
    steps, words = queries.shape[-2], values.shape[-2]
    if queries.is_cuda and steps <= kernels.MOST_QUERIES and words <= kernels.MOST_VALUES:
        return kernels.attended(queries, keys, values, float(divisor), bias)
    return _attention(queries @ keys, divisor, bias) @ values


def _reshape(values: Tensor, shape: Tensor, allowzero: int = 0) -> Tensor:
    wanted = _ints(shape)
    if not allowzero:
        wanted = [values.shape[place] if size == 0 else size for place, size in enumerate(wanted)]
    return values.reshape(wanted)


def _unsqueeze(values: Tensor, axes: Tensor) -> Tensor:
    rank = values.dim() + axes.numel()
    for axis in sorted(axis % rank for axis in _ints(axes)):
        values = values.unsqueeze(axis)
    return values


def _slice(values: Tensor, starts: Tensor, ends: Tensor, axes: Tensor, steps: Tensor) -> Tensor:
    index = [slice(None)] * values.dim()
    for start, end, axis, step in zip(*map(_ints, (starts, ends, axes, steps)), strict=True):
        index[axis] = slice(start, end, step)
    return values[tuple(index)]


def _pad(values: Tensor, pads: Tensor, constant: Tensor, mode: bytes = b"constant") -> Tensor:
    ends = _ints(pads)
    rank = len(ends) // 2
    pairs = [pair for axis in reversed(range(rank)) for pair in (ends[axis], ends[axis + rank])]
    return functional.pad(values, pairs, value=float(constant))


def _gather(table: Tensor, index: Tensor, axis: int = 0) -> Tensor:
    if axis == 0:
        return functional.embedding(index, table) if table.dim() == 2 else table[index]
    return table.index_select(axis, index.reshape(-1)).reshape(
        *table.shape[:axis], *index.shape, *table.shape[axis + 1 :]
    )


def _clip(values: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    if low is not None:
        values = torch.maximum(values, low)
    return values if high is None else torch.minimum(values, high)


def _divide(values: Tensor, by: Tensor) -> Tensor:
    is_whole = not (values.is_floating_point() or by.is_floating_point())
    return torch.div(values, by, rounding_mode="floor" if is_whole else None)


OPERATORS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "Abs": torch.abs,
    "Add": torch.add,
    "ArgMax": lambda values, axis, keepdims, **_: values.argmax(axis, keepdim=bool(keepdims)),
    "Attended": _attended,
    "Attention": _attention,
    "Cast": lambda values, to: values.to(_TYPES[to]),
    "Clip": _clip,
    "Concat": lambda *parts, axis: torch.cat(parts, axis),
    "ConstantOfShape": lambda shape, value: value.expand(_ints(shape)),
    "DequantizeLinear": lambda values, scale, zero: (values.int() - zero.int()).float() * scale,
    "Div": _divide,
    "Equal": torch.eq,
    "Erf": torch.erf,
    "Expand": lambda values, shape: values.expand(np.broadcast_shapes(values.shape, _ints(shape))),
    "FloatProduct": _float_product,
    "Gather": _gather,
    "GatherElements": lambda values, index, axis=0: values.gather(axis, index),
    # As the graphs use it: rows of the table of each source.
    "GatherND": lambda table, index, **_: table.gather(1, index.expand(-1, -1, table.shape[-1])),
    "Gelu": _gelu,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "LayerNormalization": lambda values, weight, bias, epsilon=1e-5, **_: functional.layer_norm(
        values, weight.shape, weight, bias, epsilon
    ),
    "Less": torch.lt,
    "LogSoftmax": lambda values, axis=-1: values.log_softmax(axis),
    "MatMul": torch.matmul,
    "MatMulIntegerToFloat": lambda rows, weight, step, scales, zero, weight_zero=None, bias=None: (
        _scaled_product(rows, weight, step, scales, None, bias)
    ),
    "Max": torch.maximum,
    "Mul": torch.mul,
    "Pad": _pad,
    "QuantizeLinear": _quantise,
    "QuantisedRows": _quantised_rows,
    "Range": lambda start, end, step: torch.arange(start.item(), end.item(), step.item()),
    "ReduceMax": lambda values, axes, keepdims: values.amax(axes, keepdim=bool(keepdims)),
    "Relu": torch.relu,
    "Reshape": _reshape,
    "ScaledProduct": _scaled_product,
    "Shape": lambda values, start=0, end=None: torch.tensor(values.shape[start:end]).long(),
    "Sigmoid": torch.sigmoid,
    "Slice": _slice,
    "Softmax": lambda values, axis=-1: values.softmax(axis),
    "Split": lambda values, sizes, axis=0: torch.split(values, _ints(sizes), axis),
    "Sub": torch.sub,
    "Transpose": lambda values, perm: values.permute(perm),
    "Unsqueeze": _unsqueeze,
    "Where": torch.where,
}

HOST_INPUTS = {
    "Attended": (3,),
    "Attention": (1,),
    "ConstantOfShape": (0,),
    "Expand": (1,),
    "MatMulIntegerToFloat": (2,),
    "Pad": (1, 2),
    "QuantisedRows": (1, 2),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "ScaledProduct": (2,),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Unsqueeze": (1,),
}
"""The inputs that operators take on the host, by index."""
