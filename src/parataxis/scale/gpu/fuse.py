"""Puts operators of a graph together that torch does at once.

The patterns are those that :mod:`parataxis.training.quantise` writes, and the error function that
makes a GELU. What they compute stays the same; a GPU reads and writes each number once, not five
times.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Node", "fused"]


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
