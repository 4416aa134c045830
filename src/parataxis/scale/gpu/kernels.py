"""Kernels for a GPU, where torch would read and write the same numbers several times.

Triton compiles each of them once and remembers it on the disk.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["attention", "quantised_rows", "scaled"]

_BLOCK = 1024


@triton.jit
def _rounded(values):
    """The nearest whole number, the even one of two; for numbers below 2**22."""
    magic = 12582912.0  # 1.5 * 2**23, above which float32 has whole numbers only
    return (values + magic) - magic


@triton.jit
def _quantise(rows, steps, scales, tiniest, step, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(rows + row * width + at, mask=at < width, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(values), axis=0), tiniest)
    divided = tl.div_rn(tl.div_rn(values, scale), step)
    tl.store(steps + row * width + at, _rounded(divided).to(tl.bfloat16), mask=at < width)
    tl.store(scales + row, scale)


@triton.jit
def _scale(
    products,
    results,
    columns,
    rows,
    bias,
    step,
    width,
    count,
    HAS_ROWS: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    column = at % width
    found = tl.load(products + at, mask=inside) * (step * tl.load(columns + column, mask=inside))
    if HAS_ROWS:
        found = found * tl.load(rows + at // width, mask=inside)
    if HAS_BIAS:
        found = found + tl.load(bias + column, mask=inside)
    tl.store(results + at, found, mask=inside)


@triton.jit
def _soften(
    scores,
    results,
    bias,
    divisor,
    heads,
    steps,
    width,
    by_batch,
    by_head,
    by_step,
    by_column,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    batch, head, step = row // (heads * steps), (row // steps) % heads, row % steps
    at = tl.arange(0, BLOCK)
    inside = at < width
    values = tl.div_rn(tl.load(scores + row * width + at, mask=inside, other=0.0), divisor)
    place = bias + batch * by_batch + head * by_head + step * by_step
    values = values + tl.load(place + at * by_column, mask=inside, other=0.0)
    values = tl.where(inside, values, -float("inf"))
    raised = tl.exp(values - tl.max(values, axis=0))
    tl.store(results + row * width + at, raised / tl.sum(raised, axis=0), mask=inside)


def quantised_rows(rows: Tensor, tiniest: float, step: float) -> tuple[Tensor, Tensor]:
    """Rows divided by their largest entry, in steps around zero, and these entries."""
    rows = rows.contiguous()
    width = rows.shape[-1]
    steps = torch.empty_like(rows, dtype=torch.bfloat16)
    scales = rows.new_empty((*rows.shape[:-1], 1))
    if rows.numel():
        block = triton.next_power_of_2(width)
        _quantise[(rows.numel() // width,)](rows, steps, scales, tiniest, step, width, BLOCK=block)
    return steps, scales


def scaled(
    products: Tensor, step: float, columns: Tensor, rows: Tensor | None, bias: Tensor | None
) -> Tensor:
    """Products times the scales of their columns and rows, plus a bias for each column."""
    results = torch.empty_like(products)
    count = products.numel()
    if count:
        _scale[(triton.cdiv(count, _BLOCK),)](
            products,
            results,
            columns,
            columns if rows is None else rows,
            columns if bias is None else bias,
            step,
            products.shape[-1],
            count,
            HAS_ROWS=rows is not None,
            HAS_BIAS=bias is not None,
            BLOCK=_BLOCK,
        )
    return results


def attention(scores: Tensor, divisor: float, bias: Tensor) -> Tensor:
    """The softmax of scores (batch, heads, steps, words) over a number, plus a bias."""
    scores = scores.contiguous()
    results = torch.empty_like(scores)
    _, heads, steps, width = scores.shape
    strides = bias.expand(scores.shape).stride()
    if scores.numel():
        _soften[(scores.numel() // width,)](
            scores,
            results,
            bias,
            divisor,
            heads,
            steps,
            width,
            *strides,
            BLOCK=triton.next_power_of_2(width),
        )
    return results
