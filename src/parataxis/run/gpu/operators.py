"""The operators of the shipped ONNX graphs, written in torch, and in numpy for what is known.

Quantised rows are kept as signed numbers around their zero, which is what the products take.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

Array = NDArray[Any]
Value = Tensor | Array
"""A tensor on the device, or an array that is known on the host."""

_TYPES = {1: torch.float32, 2: torch.uint8, 3: torch.int8, 6: torch.int32, 7: torch.int64}
_TYPES |= {9: torch.bool, 10: torch.float16, 11: torch.float64}
_HOST_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}

SQRT_2 = math.sqrt(2.0)


def _ints(values: Array) -> list[int]:
    return [int(value) for value in np.ravel(values)]


# --- products -------------------------------------------------------------------------------------


def _whole(device: torch.device) -> torch.dtype:
    """The type in which whole numbers of seven bits are kept: the sums of their products stay
    below 2**24, so that float32 holds them exactly, in whatever order they are added."""
    return torch.bfloat16 if device.type == "cuda" else torch.float32


def _quantise(rows: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Rows in steps of a scale; ``zero`` is 128, and what is kept is what is above it."""
    if rows.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.quantised(rows, scale)
    return torch.round(rows / scale).clamp(-128, 127).to(_whole(rows.device))


def _quantised_rows(rows: Tensor, tiniest: Array, step: Array) -> tuple[Tensor, Tensor]:
    """Rows divided by their largest entry, in steps around zero, and these entries."""
    if rows.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.quantised_rows(rows, float(tiniest), float(step))
    scales = rows.abs().amax(-1, keepdim=True).clamp(min=float(tiniest))
    return torch.round(rows / scales / float(step)).to(_whole(rows.device)), scales


def _product(
    rows: Tensor,
    weight: Tensor,
    step: Array,
    scales: Tensor,
    zero: Tensor,
    weight_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """The product of quantised rows and weights, as float."""
    return _scaled_product(rows, weight, step, scales, None, bias)


def _scaled_product(
    rows: Tensor,
    weight: Tensor,
    step: Array,
    scales: Tensor,
    row_scales: Tensor | None,
    bias: Tensor | None = None,
) -> Tensor:
    """The same where each row has a scale of its own."""
    product = _whole_product(rows, weight)
    if rows.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.scaled(product, float(step), scales, row_scales, bias)
    found = product * (float(step) * scales)
    if row_scales is not None:
        found = found * row_scales
    return found if bias is None else found + bias


def _gelu(values: Tensor) -> Tensor:
    """On a CPU in the steps of the graph, which torch's own GELU rounds otherwise."""
    if values.is_cuda:
        return functional.gelu(values)
    return values * (torch.erf(values / SQRT_2) + 1.0) * 0.5


def _attention(scores: Tensor, divisor: Array, bias: Tensor) -> Tensor:
    """The softmax of scores over a number, plus a bias."""
    if scores.is_cuda:
        from parataxis.run.gpu import kernels

        return kernels.attention(scores, float(divisor), bias)
    return (scores / float(divisor) + bias).softmax(-1)


def _attended(
    queries: Tensor, keys: Tensor, values: Tensor, divisor: Array, bias: Tensor
) -> Tensor:
    """The mean of values, by how well their keys (columns) answer to each query."""
    if queries.is_cuda:
        from parataxis.run.gpu import kernels

        if queries.shape[-2] <= kernels.MOST_QUERIES and values.shape[-2] <= kernels.MOST_VALUES:
            return kernels.attended(queries, keys, values, float(divisor), bias)
    return _attention(queries @ keys, divisor, bias) @ values


def _whole_product(rows: Tensor, weight: Tensor) -> Tensor:
    weight = weight.to(rows.dtype)
    if rows.dtype == torch.float32:
        return rows @ weight
    flat = torch.mm(rows.reshape(-1, rows.shape[-1]), weight, out_dtype=torch.float32)
    return flat.reshape(*rows.shape[:-1], weight.shape[1])


def prepared(weight: Tensor) -> Tensor:
    """Quantised weights as the products take them."""
    return weight.to(_whole(weight.device))


def _not_quantised(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows as they are, with a scale of one around zero.

    The range of all rows of a sentence decides its steps on a CPU. In a batch it would be that of
    all sentences, so here the rows stay float: that is a little more exact.
    """
    return rows, rows.new_ones(()), rows.new_zeros(())


def _plain_product(rows: Tensor, weight: Tensor, zero: Tensor, weight_zero: Tensor) -> Tensor:
    return rows @ weight.to(rows.dtype)


def _float_product(
    rows: Tensor, weight: Tensor, scales: Tensor, bias: Tensor | None = None
) -> Tensor:
    """The product of float rows and quantised weights. On a GPU the rows are rounded to bfloat16,
    eight bits each for themselves, where the CPU takes eight bits of the largest."""
    return _scaled_product(rows.to(_whole(rows.device)), weight, np.ones(()), scales, None, bias)


def _unquantised(values: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return (values.to(torch.int32) - zero.to(torch.int32)).to(torch.float32) * scale


# --- shapes ---------------------------------------------------------------------------------------


def _reshape(values: Tensor, shape: Array, allowzero: int = 0) -> Tensor:
    wanted = _ints(shape)
    if not allowzero:
        wanted = [values.shape[place] if size == 0 else size for place, size in enumerate(wanted)]
    return values.reshape(wanted)


def _unsqueeze(values: Tensor, axes: Array) -> Tensor:
    rank = values.dim() + np.size(axes)
    for axis in sorted(axis % rank for axis in _ints(axes)):
        values = values.unsqueeze(axis)
    return values


def _squeeze(values: Tensor, axes: Array) -> Tensor:
    return values.squeeze(tuple(_ints(axes)))


def _slice(values: Tensor, starts: Array, ends: Array, axes: Array, steps: Array) -> Tensor:
    index: list[slice] = [slice(None)] * values.dim()
    parts = zip(_ints(starts), _ints(ends), _ints(axes), _ints(steps), strict=True)
    for start, end, axis, step in parts:
        index[axis] = slice(start, end, step)
    return values[tuple(index)]


def _split(values: Tensor, sizes: Array, axis: int = 0) -> tuple[Tensor, ...]:
    return torch.split(values, _ints(sizes), axis)


def _expand(values: Tensor, shape: Array) -> Tensor:
    wanted = np.broadcast_shapes(tuple(values.shape), tuple(_ints(shape)))
    return values.expand(wanted)


def _pad(values: Tensor, pads: Array, constant: Tensor, mode: bytes = b"constant") -> Tensor:
    ends = _ints(pads)
    rank = len(ends) // 2
    pairs = [pair for axis in reversed(range(rank)) for pair in (ends[axis], ends[axis + rank])]
    return functional.pad(values, pairs, value=float(constant))


def _flatten(values: Tensor, axis: int = 1) -> Tensor:
    return values.reshape(int(np.prod(values.shape[:axis])), -1)


def _fill(shape: Array, value: Array) -> tuple[Array]:
    return (np.full(_ints(shape), value.item(), dtype=value.dtype),)


# --- lookups --------------------------------------------------------------------------------------


def _gather(table: Tensor, index: Tensor, axis: int = 0) -> Tensor:
    if axis == 0:
        return functional.embedding(index, table) if table.dim() == 2 else table[index]
    return table.index_select(axis, index.reshape(-1)).reshape(
        *table.shape[:axis], *index.shape, *table.shape[axis + 1 :]
    )


def _gather_rows(table: Tensor, index: Tensor, batch_dims: int = 0) -> Tensor:
    """GatherND for the one shape the graphs have: rows of each source's own table."""
    return table.gather(1, index.expand(-1, -1, table.shape[-1]))


def _arg_max(values: Tensor, axis: int, keepdims: int, select_last_index: int = 0) -> Tensor:
    return values.argmax(axis, keepdim=bool(keepdims))


# --- the rest -------------------------------------------------------------------------------------


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


def _cast(values: Tensor, to: int) -> Tensor:
    return values.to(_TYPES[to])


def _range(start: Array, end: Array, step: Array) -> tuple[Array]:
    return (np.arange(start.item(), end.item(), step.item(), dtype=np.int64),)


def _where(condition: Array, if_so: Array, if_not: Array) -> tuple[Array]:
    return (np.where(condition, if_so, if_not),)


_Operator = Callable[..., Tensor | tuple[Tensor, ...]]


def _of(operator: _Operator, *host: int) -> tuple[_Operator, Sequence[int]]:
    """An operator, and the places of its inputs that it takes as known arrays."""
    return operator, host


DEVICE: dict[str, tuple[_Operator, Sequence[int]]] = {
    "Abs": _of(torch.abs),
    "Add": _of(torch.add),
    "And": _of(torch.logical_and),
    "ArgMax": _of(_arg_max),
    "Attended": _of(_attended, 3),
    "Attention": _of(_attention, 1),
    "Cast": _of(_cast),
    "Clip": _of(_clip),
    "Concat": _of(lambda *parts, axis: torch.cat(parts, axis)),
    "DequantizeLinear": _of(_unquantised),
    "Div": _of(torch.div),
    "DynamicQuantizeLinear": _of(_not_quantised),
    "Equal": _of(torch.eq),
    "Erf": _of(torch.erf),
    "Expand": _of(_expand, 1),
    "Flatten": _of(_flatten),
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
    "NonZero": _of(lambda values: values.nonzero().t()),
    "Not": _of(torch.logical_not),
    "Or": _of(torch.logical_or),
    "Pad": _of(_pad, 1, 2),
    "QuantizeLinear": _of(_quantise),
    "QuantisedRows": _of(_quantised_rows, 1, 2),
    "ReduceMax": _of(lambda values, axes, keepdims: values.amax(axes, keepdim=bool(keepdims))),
    "Relu": _of(torch.relu),
    "Reshape": _of(_reshape, 1),
    "ScaledProduct": _of(_scaled_product, 2),
    "Sigmoid": _of(torch.sigmoid),
    "Slice": _of(_slice, 1, 2, 3, 4),
    "Softmax": _of(lambda values, axis=-1: values.softmax(axis)),
    "Split": _of(_split, 1),
    "Squeeze": _of(_squeeze, 1),
    "Sub": _of(torch.sub),
    "Transpose": _of(lambda values, perm: values.permute(perm)),
    "Unsqueeze": _of(_unsqueeze, 1),
    "Where": _of(torch.where),
}
"""Every operator on tensors."""

HOST: dict[str, Callable[..., tuple[Value, ...]]] = {
    "Add": lambda a, b: (a + b,),
    "Cast": lambda values, to: (values.astype(_HOST_TYPES[to]),),
    "Concat": lambda *parts, axis: (np.concatenate(parts, axis),),
    "ConstantOfShape": _fill,
    "Div": lambda a, b: (a // b if a.dtype == np.int64 else a / b,),
    "Equal": lambda a, b: (a == b,),
    "Gather": lambda values, index, axis=0: (np.take(values, index, axis),),
    "Mul": lambda a, b: (a * b,),
    "Range": _range,
    "Reshape": lambda values, shape, allowzero=0: (values.reshape(_ints(shape)),),
    "Shape": lambda values, start=0, end=None: (np.array(values.shape[start:end], np.int64),),
    "Slice": lambda values, starts, ends, axes, steps: (
        values[_ints(starts)[0] : _ints(ends)[0] : _ints(steps)[0]],
    ),
    "Squeeze": lambda values, axes: (np.squeeze(values, tuple(_ints(axes))),),
    "Sub": lambda a, b: (a - b,),
    "Unsqueeze": lambda values, axes: (np.expand_dims(values, tuple(_ints(axes))),),
    "Where": _where,
}
"""The operators on what is known."""
