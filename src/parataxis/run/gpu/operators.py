"""The operators of the shipped ONNX graphs, and those that replace several of them, in torch.

Quantised rows are kept as signed numbers around zero, which is what the products take. On a GPU
the kernels of :mod:`parataxis.run.gpu.kernels` do what would take torch several passes.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

_TYPES = {1: torch.float32, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64}
_TYPES |= {9: torch.bool, 10: torch.float16, 11: torch.float64}


def _ints(values: Tensor) -> list[int]:
    """The numbers of a tensor on the host; a tensor on the device would make it wait."""
    if values.is_cuda:
        raise RuntimeError("an operator needs a shape that only the device knows")
    return [int(value) for value in values.reshape(-1).tolist()]


def _exact(device: torch.device) -> torch.dtype:
    """The type for integers of eight bits: sums of their products stay below 2**24, so that float32
    holds them exactly, in whatever order they are added."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def _quantise(rows: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Rows in steps of a scale; ``zero`` is always 128, and rows are kept around zero instead."""
    if rows.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.quantised(rows, scale)
    return torch.round(rows / scale).clamp(-128, 127).to(_exact(rows.device))


def _quantised_rows(rows: Tensor, tiniest: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    """Rows divided by their largest absolute entry, in steps around zero; and these entries."""
    if rows.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.quantised_rows(rows, float(tiniest), float(step))
    scales = rows.abs().amax(-1, keepdim=True).clamp(min=float(tiniest))
    return torch.round(rows / scales / float(step)).to(_exact(rows.device)), scales


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
    from parataxis.run.gpu import kernels

    flat = torch.mm(rows.reshape(-1, rows.shape[-1]), weight, out_dtype=torch.float32)
    product = flat.reshape(*rows.shape[:-1], weight.shape[1])
    return kernels.scaled(product, float(step), scales, row_scales, bias)


def _product(
    rows: Tensor,
    weight: Tensor,
    step: Tensor,
    scales: Tensor,
    zero: Tensor,
    weight_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    return _scaled_product(rows, weight, step, scales, None, bias)


def _float_product(
    rows: Tensor, weight: Tensor, scales: Tensor, bias: Tensor | None = None
) -> Tensor:
    """The product of float rows and quantised weights. On a GPU each number of the rows is rounded
    to bfloat16, with eight bits of its own; the CPU takes eight bits of the largest number."""
    return _scaled_product(rows.to(_exact(rows.device)), weight, 1.0, scales, None, bias)


def prepared(weight: Tensor) -> Tensor:
    """Quantised weights as the products take them."""
    return weight.to(_exact(weight.device))


def _not_quantised(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows as they are, with the scale one and the zero point zero.

    On a CPU the range of all rows of a sentence decides its steps. In a batch it would be the range
    of all sentences, so here the rows stay float, which is slightly more exact.
    """
    return rows, rows.new_ones(()), rows.new_zeros(())


def _plain_product(rows: Tensor, weight: Tensor, zero: Tensor, weight_zero: Tensor) -> Tensor:
    return rows @ weight.to(rows.dtype)


def _dequantised(values: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return (values.to(torch.int32) - zero.to(torch.int32)).to(torch.float32) * scale


def _gelu(values: Tensor) -> Tensor:
    """On a CPU in the steps of the graph, which torch's own GELU rounds differently."""
    if values.is_cuda:
        return functional.gelu(values)
    return values * (torch.erf(values / math.sqrt(2.0)) + 1.0) * 0.5


def _attention(scores: Tensor, divisor: Tensor, bias: Tensor) -> Tensor:
    """The softmax of scores divided by a number, plus a bias."""
    if scores.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.attention(scores, float(divisor), bias)
    return (scores / float(divisor) + bias).softmax(-1)


def _attended(
    queries: Tensor, keys: Tensor, values: Tensor, divisor: Tensor, bias: Tensor
) -> Tensor:
    """Attention: the mean of values, weighted by the products of queries and keys (columns)."""
    if queries.is_cuda:
        from parataxis.run.gpu import kernels

        if queries.shape[-2] <= kernels.MOST_QUERIES and values.shape[-2] <= kernels.MOST_VALUES:
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


def _expand(values: Tensor, shape: Tensor) -> Tensor:
    return values.expand(np.broadcast_shapes(tuple(values.shape), tuple(_ints(shape))))


def _pad(values: Tensor, pads: Tensor, constant: Tensor, mode: bytes = b"constant") -> Tensor:
    ends = _ints(pads)
    rank = len(ends) // 2
    pairs = [pair for axis in reversed(range(rank)) for pair in (ends[axis], ends[axis + rank])]
    return functional.pad(values, pairs, value=float(constant))


def _shape(values: Tensor, start: int = 0, end: int | None = None) -> Tensor:
    return torch.tensor(values.shape[start:end], dtype=torch.int64)


def _range(start: Tensor, end: Tensor, step: Tensor) -> Tensor:
    return torch.arange(start.item(), end.item(), step.item(), dtype=torch.int64)


def _gather(table: Tensor, index: Tensor, axis: int = 0) -> Tensor:
    if axis == 0:
        return functional.embedding(index, table) if table.dim() == 2 else table[index]
    return table.index_select(axis, index.reshape(-1)).reshape(
        *table.shape[:axis], *index.shape, *table.shape[axis + 1 :]
    )


def _gather_rows(table: Tensor, index: Tensor, batch_dims: int = 0) -> Tensor:
    """GatherND, as the graphs use it: rows of the table of each source."""
    return table.gather(1, index.expand(-1, -1, table.shape[-1]))


def _arg_max(values: Tensor, axis: int, keepdims: int, select_last_index: int = 0) -> Tensor:
    return values.argmax(axis, keepdim=bool(keepdims))


def _layer_norm(
    values: Tensor,
    weight: Tensor,
    bias: Tensor,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    return functional.layer_norm(values, weight.shape, weight, bias, epsilon)


def _clip(values: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    if low is not None:
        values = torch.maximum(values, low)
    return values if high is None else torch.minimum(values, high)


def _divide(values: Tensor, by: Tensor) -> Tensor:
    is_whole = not (values.is_floating_point() or by.is_floating_point())
    return torch.div(values, by, rounding_mode="floor" if is_whole else None)


_Operator = Callable[..., Tensor | tuple[Tensor, ...]]


def _of(operator: _Operator, *host: int) -> tuple[_Operator, Sequence[int]]:
    """An operator, and the numbers of the inputs that it takes on the host."""
    return operator, host


OPERATORS: dict[str, tuple[_Operator, Sequence[int]]] = {
    "Abs": _of(torch.abs),
    "Add": _of(torch.add),
    "ArgMax": _of(_arg_max),
    "Attended": _of(_attended, 3),
    "Attention": _of(_attention, 1),
    "Cast": _of(lambda values, to: values.to(_TYPES[to])),
    "Clip": _of(_clip),
    "Concat": _of(lambda *parts, axis: torch.cat(parts, axis)),
    "ConstantOfShape": _of(lambda shape, value: value.expand(_ints(shape)), 0),
    "DequantizeLinear": _of(_dequantised),
    "Div": _of(_divide),
    "DynamicQuantizeLinear": _of(_not_quantised),
    "Equal": _of(torch.eq),
    "Erf": _of(torch.erf),
    "Expand": _of(_expand, 1),
    "FloatProduct": _of(_float_product),
    "Gather": _of(_gather),
    "GatherElements": _of(lambda values, index, axis=0: values.gather(axis, index)),
    "GatherND": _of(_gather_rows),
    "Gelu": _of(_gelu),
    "Greater": _of(torch.gt),
    "GreaterOrEqual": _of(torch.ge),
    "LayerNormalization": _of(_layer_norm),
    "Less": _of(torch.lt),
    "LogSoftmax": _of(lambda values, axis=-1: values.log_softmax(axis)),
    "MatMul": _of(torch.matmul),
    "MatMulInteger": _of(_plain_product),
    "MatMulIntegerToFloat": _of(_product, 2),
    "Max": _of(torch.maximum),
    "Mul": _of(torch.mul),
    "Pad": _of(_pad, 1, 2),
    "QuantizeLinear": _of(_quantise),
    "QuantisedRows": _of(_quantised_rows, 1, 2),
    "Range": _of(_range, 0, 1, 2),
    "ReduceMax": _of(lambda values, axes, keepdims: values.amax(axes, keepdim=bool(keepdims))),
    "Relu": _of(torch.relu),
    "Reshape": _of(_reshape, 1),
    "ScaledProduct": _of(_scaled_product, 2),
    "Shape": _of(_shape),
    "Sigmoid": _of(torch.sigmoid),
    "Slice": _of(_slice, 1, 2, 3, 4),
    "Softmax": _of(lambda values, axis=-1: values.softmax(axis)),
    "Split": _of(lambda values, sizes, axis=0: torch.split(values, _ints(sizes), axis), 1),
    "Sub": _of(torch.sub),
    "Transpose": _of(lambda values, perm: values.permute(perm)),
    "Unsqueeze": _of(_unsqueeze, 1),
    "Where": _of(torch.where),
}
