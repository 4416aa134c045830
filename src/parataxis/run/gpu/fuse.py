"""Fuses operators of an ONNX graph into larger ones that need fewer passes over the memory.

The patterns are the quantised products that :mod:`parataxis.lab.quantise` writes, attention, and
the error function that makes a GELU. The numbers stay the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Node:
    """One operator: the names of its inputs and outputs, and its attributes."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any] = field(default_factory=dict)


def fused(nodes: Sequence[Node], outputs: Iterable[str]) -> list[Node]:
    """The same graph with fewer operators."""
    found = list(nodes)
    wanted = set(outputs)
    for pattern in (_quantised_rows, _scaled_product, _float_product, _gelu, _attention, _attended):
        found = _needed(_replaced(found, wanted, pattern), wanted)
    return found


def _needed(nodes: Sequence[Node], outputs: set[str]) -> list[Node]:
    """The nodes on which the outputs depend."""
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
        """The nodes on a path of (number of the input, kind) upwards; [] where there is none."""
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
    """Queries times keys, softmax, times values."""
    old = near.before(last, (0, "Attention"), (0, "MatMul")) if last.kind == "MatMul" else []
    if not old or near.after(old[0], "MatMul") != [last]:
        return None
    softened, scores = old
    inputs = [*scores.inputs, last.inputs[1], *softened.inputs[1:]]
    return Node("Attended", inputs, last.outputs), [scores, softened, last]
