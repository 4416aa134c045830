"""Triton kernels for operators that would take torch several passes over the memory.

Triton compiles each kernel once and caches it on disk.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

MOST_QUERIES, MOST_VALUES = 8, 128
"""The limits of :func:`attended`: hypotheses of a beam, words of a source."""

_BLOCK = 1024  # how many numbers one program of a kernel works on
_WIDEST = 128


@triton.jit
def _rounded(values):
    """Round half to even, for numbers below 2**22."""
    magic = 12582912.0  # 1.5 * 2**23: float32 has only integers from there on
    return (values + magic) - magic


@triton.jit
def _quantise(
    rows, steps, scales, tiniest, step, width, count, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = (row < count)[:, None] & (at < width)[None, :]
    place = row[:, None] * width + at[None, :]
    values = tl.load(rows + place, mask=inside, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(values), axis=1), tiniest)
    divided = tl.div_rn(tl.div_rn(values, scale[:, None]), step)
    tl.store(steps + place, _rounded(divided).to(tl.bfloat16), mask=inside)
    tl.store(scales + row, scale, mask=row < count)


@triton.jit
def _quantise_by(rows, steps, scale, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    divided = tl.div_rn(tl.load(rows + at, mask=inside, other=0.0), tl.load(scale))
    within = tl.minimum(tl.maximum(divided, -128.0), 127.0)
    tl.store(steps + at, _rounded(within).to(tl.bfloat16), mask=inside)


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
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < count)[:, None] & (at < width)[None, :]
    place = row[:, None] * width + at[None, :]
    scale = step * tl.load(columns + at, mask=at < width, other=0.0)
    found = tl.load(products + place, mask=inside) * scale[None, :]
    if HAS_ROWS:
        found = found * tl.load(rows + row, mask=row < count, other=0.0)[:, None]
    if HAS_BIAS:
        found = found + tl.load(bias + at, mask=at < width, other=0.0)[None, :]
    tl.store(results + place, found, mask=inside)


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
    count,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    batch, head, step = row // (heads * steps), (row // steps) % heads, row % steps
    at = tl.arange(0, BLOCK)
    inside = (row < count)[:, None] & (at < width)[None, :]
    place = row[:, None] * width + at[None, :]
    values = tl.div_rn(tl.load(scores + place, mask=inside, other=0.0), divisor)
    biased = (batch * by_batch + head * by_head + step * by_step)[:, None] + at[None, :] * by_column
    values = values + tl.load(bias + biased, mask=inside, other=0.0)
    values = tl.where((at < width)[None, :], values, -float("inf"))
    raised = tl.exp(values - tl.max(values, axis=1)[:, None])
    tl.store(results + place, raised / tl.sum(raised, axis=1)[:, None], mask=inside)


@triton.jit
def _attend(
    queries,
    keys,
    values,
    bias,
    results,
    divisor,
    heads,
    width,
    query_batch,
    query_head,
    query_step,
    key_batch,
    key_head,
    key_column,
    key_word,
    value_batch,
    value_head,
    value_word,
    bias_batch,
    bias_head,
    bias_step,
    bias_word,
    STEPS: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    batch, head = (tl.program_id(0) // heads).to(tl.int64), tl.program_id(0) % heads
    at, word = tl.arange(0, SIZE), tl.arange(0, BLOCK)
    inside = word < width
    places = keys + batch * key_batch + head * key_head
    places = places + word[:, None] * key_word + at[None, :] * key_column
    key = tl.load(places, mask=inside[:, None], other=0.0)
    places = values + batch * value_batch + head * value_head
    places = places + word[:, None] * value_word + at[None, :]
    value = tl.load(places, mask=inside[:, None], other=0.0)
    for step in range(STEPS):
        query = tl.load(queries + batch * query_batch + head * query_head + step * query_step + at)
        scores = tl.div_rn(tl.sum(key * query[None, :], axis=1), divisor)
        place = bias + batch * bias_batch + head * bias_head + step * bias_step
        scores = scores + tl.load(place + word * bias_word, mask=inside, other=0.0)
        scores = tl.where(inside, scores, -float("inf"))
        raised = tl.exp(scores - tl.max(scores, axis=0))
        shares = raised / tl.sum(raised, axis=0)
        found = tl.sum(value * shares[:, None], axis=0)
        tl.store(results + ((batch * heads + head) * STEPS + step) * SIZE + at, found)


def _rows_of(block: int) -> int:
    """How many rows of a block size one program works on."""
    return max(1, 2 * _BLOCK // block)


def quantised(rows: Tensor, scale: Tensor) -> Tensor:
    rows = rows.contiguous()
    steps = torch.empty_like(rows, dtype=torch.bfloat16)
    count = rows.numel()
    if count:
        _quantise_by[(triton.cdiv(count, _BLOCK),)](rows, steps, scale, count, BLOCK=_BLOCK)
    return steps


def quantised_rows(rows: Tensor, tiniest: float, step: float) -> tuple[Tensor, Tensor]:
    """Rows divided by their largest absolute entry, quantised around zero; and these entries."""
    rows = rows.contiguous()
    width = rows.shape[-1]
    steps = torch.empty_like(rows, dtype=torch.bfloat16)
    scales = rows.new_empty((*rows.shape[:-1], 1))
    if rows.numel():
        count, block = rows.numel() // width, triton.next_power_of_2(width)
        together = _rows_of(block)
        _quantise[(triton.cdiv(count, together),)](
            rows, steps, scales, tiniest, step, width, count, ROWS=together, BLOCK=block
        )
    return steps, scales


def scaled(
    products: Tensor, step: float, columns: Tensor, rows: Tensor | None, bias: Tensor | None
) -> Tensor:
    """Products times the scales of their columns and rows, plus a bias for each column."""
    results = torch.empty_like(products)
    width = products.shape[-1]
    if products.numel():
        count, block = products.numel() // width, min(_WIDEST, triton.next_power_of_2(width))
        together = _rows_of(block)
        _scale[(triton.cdiv(count, together), triton.cdiv(width, block))](
            products,
            results,
            columns,
            columns if rows is None else rows,
            columns if bias is None else bias,
            step,
            width,
            count,
            HAS_ROWS=rows is not None,
            HAS_BIAS=bias is not None,
            ROWS=together,
            BLOCK=block,
        )
    return results


def attention(scores: Tensor, divisor: float, bias: Tensor) -> Tensor:
    """The softmax of scores (batch, heads, steps, words) divided by a number, plus a bias."""
    scores = scores.contiguous()
    results = torch.empty_like(scores)
    _, heads, steps, width = scores.shape
    strides = bias.expand(scores.shape).stride()
    if scores.numel():
        count, block = scores.numel() // width, triton.next_power_of_2(width)
        together = _rows_of(block)
        _soften[(triton.cdiv(count, together),)](
            scores,
            results,
            bias,
            divisor,
            heads,
            steps,
            width,
            *strides,
            count,
            ROWS=together,
            BLOCK=block,
        )
    return results


def attended(queries: Tensor, keys: Tensor, values: Tensor, divisor: float, bias: Tensor) -> Tensor:
    """Attention of queries (batch, heads, steps, size) to keys (batch, heads, size, words) and
    values (batch, heads, words, size): scores are divided by a number, then a bias (batch, heads,
    steps, words) is added."""
    batch, heads, steps, size = queries.shape
    width = values.shape[-2]
    queries, values = (
        part if part.stride(-1) == 1 else part.contiguous() for part in (queries, values)
    )
    results = queries.new_empty((batch, heads, steps, size))
    strides = bias.expand(batch, heads, steps, width).stride()
    if results.numel():
        _attend[(batch * heads,)](
            queries,
            keys,
            values,
            bias,
            results,
            divisor,
            heads,
            width,
            *queries.stride()[:3],
            *keys.stride(),
            *values.stride()[:3],
            *strides,
            STEPS=steps,
            SIZE=size,
            BLOCK=triton.next_power_of_2(width),
        )
    return results
