"""Compares the default splitter with the time that its multiply-adds alone would take.

The products of the ONNX graphs are counted for the shapes that occurred. Each is then timed in a
graph of one operator, so the floor is the time that would remain if everything but the products
were free.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from parataxis.checks import Checker
from parataxis.checks.verifier import MODEL, Verifier
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer import model as shipped
from parataxis.syntax.analyser import TREES, Analyser, load_analyser
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import Arrays, Model, OnnxModel, shipped_folder
from timing.sentences import Item

__all__ = ["Product", "Rates", "floor", "products"]

INT8 = frozenset(("MatMulInteger", "MatMulIntegerToFloat"))
FLOAT = frozenset(("MatMul", "Gemm"))
LARGE = 1024
"""The size of the square matrices that give the best rate of a machine."""
LEAST_SECONDS = 0.01
"""How long each product is repeated to time it."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """``count`` products of a (rows, inner) with an (inner, columns) matrix."""

    kind: str
    count: int
    rows: int
    inner: int
    columns: int

    @property
    def multiply_adds(self) -> int:
        return self.count * self.rows * self.inner * self.columns

    def rounded(self) -> "Product":
        """A product of nearly the same size, so that few kinds need to be timed: the rows are
        rounded to quarters of a power of two."""
        step = max(1, 2 ** (self.rows.bit_length() - 3))
        rows, count = -(-self.rows // step) * step, 2 ** (self.count - 1).bit_length()
        return Product(self.kind, count, rows, self.inner, self.columns)


def products(model: onnx.ModelProto, shapes: Mapping[str, Shape]) -> list[Product]:
    """The products of a graph, given the shapes of their inputs, constants included."""
    found = []
    for node in model.graph.node:
        if node.op_type not in INT8 | FLOAT:
            continue
        left, right = shapes[node.input[0]], shapes[node.input[1]]
        options = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
        if options.get("transB"):
            right = (*right[:-2], right[-1], right[-2])
        kind = "int8" if node.op_type in INT8 else "float"
        inner, columns = right[-2:]
        rows = int(np.prod(left[:-1]))
        # A matrix of constants takes all rows at once; others are multiplied one by one.
        count = int(np.prod(right[:-2]))
        if rows and count:
            found.append(Product(kind, count, rows // count, inner, columns))
    return found


class Counted:
    """A model that counts the products of each run, and its total CPU time."""

    def __init__(self, path: Path) -> None:
        self._model = OnnxModel(path)
        self._graph = onnx.load(str(path))
        self._constants = {entry.name: tuple(entry.dims) for entry in self._graph.graph.initializer}
        self._watched = self._watching(path)
        self._known: dict[tuple[Shape, ...], list[Product]] = {}
        self.products: Counter[Product] = Counter()
        self.seconds = 0.0

    def _watching(self, path: Path) -> Model:
        """The same graph with the inputs of its products as further outputs."""
        watched = onnx.load(str(path))
        kinds = INT8 | FLOAT
        given = {entry.name for entry in watched.graph.input} | set(self._constants)
        given |= {entry.name for entry in watched.graph.output}
        names = [
            name
            for node in watched.graph.node
            if node.op_type in kinds
            for name in node.input[:2]
            if name not in given
        ]
        self._names = list(dict.fromkeys(names))
        watched.graph.output.extend(map(helper.make_empty_tensor_value_info, self._names))
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "watched.onnx"
            onnx.save(watched, str(target))
            return OnnxModel(target)

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run the model once."""
        start = time.process_time()
        outputs = self._model(inputs)
        self.seconds += time.process_time() - start
        key = tuple(array.shape for array in inputs.values())
        if key not in self._known:
            seen = {name: array.shape for name, array in self._watched(inputs).items()}
            shapes = {name: array.shape for name, array in inputs.items()}
            self._known[key] = products(self._graph, {**self._constants, **shapes, **seen})
        self.products.update(self._known[key])
        return outputs


def floor(items: Sequence[Item], beam: int, rates: "Rates") -> dict[str, object]:
    """Milliseconds a sentence, on one core: of each model, of all, and of their products alone."""
    parts = {
        "encoder": Counted(shipped_folder("pointer") / shipped.ENCODER),
        "decoder": Counted(shipped_folder("pointer") / shipped.DECODER),
        "analyser": Counted(shipped_folder("analyser") / TREES),
        "verifier": Counted(shipped_folder("verifier") / MODEL),
    }
    description = shipped.PointerDescription.read(shipped_folder("pointer") / shipped.DESCRIPTION)
    decoder = shipped.OnnxDecoder(parts["encoder"], parts["decoder"], description)
    labels = read_labels(shipped_folder("analyser") / "analyser.json")
    texts = [item.text for item in items]

    def rewrite() -> float:
        trees = Analyser(parts["analyser"], labels, lambda text: load_analyser().frames(text))
        verifier = Verifier(parts["verifier"])
        splitter = PointerSplitter(trees, decoder, Checker(trees), verifier, beam=beam)
        start = time.process_time()
        for _ in splitter.pipe(texts):
            pass
        return time.process_time() - start

    rewrite()  # counts the products of all shapes, so that only what is timed runs below
    for part in parts.values():
        part.seconds = 0.0
        part.products.clear()
    whole = rewrite()
    each = 1000 / len(texts)
    return {
        "beam": beam,
        "sentences": len(texts),
        "whole": each * whole,
        "best_rates": {kind: rates.best(kind) for kind in ("int8", "float")},
        "parts": {
            name: {
                "multiply_adds": {
                    kind: sum(
                        p.multiply_adds * n for p, n in part.products.items() if p.kind == kind
                    )
                    / len(texts)
                    for kind in ("int8", "float")
                },
                "measured": each * part.seconds,
                "floor": each * rates.seconds(part.products.items()),
            }
            for name, part in parts.items()
        },
    }


class Rates:
    """How long products take on this machine, one thread, through onnxruntime."""

    def __init__(self) -> None:
        self._known: dict[Product, float] = {}
        self._call = _timed(_single(Product("float", 1, 1, 1, 1)))
        """What it takes to call onnxruntime at all, which is no part of a product."""

    def seconds(self, counted: Iterable[tuple[Product, int]]) -> float:
        """The time of all these products."""
        return sum(times * self._seconds(product) for product, times in counted)

    def best(self, kind: str) -> float:
        """Multiply-adds a second with large square matrices."""
        large = Product(kind, 1, LARGE, LARGE, LARGE)
        return large.multiply_adds / self._seconds(large)

    def _seconds(self, product: Product) -> float:
        like = product.rounded()
        if like not in self._known:
            taken = _timed(_single(like))
            self._known[like] = max(taken - self._call, taken / 10)
        return self._known[like] * product.multiply_adds / like.multiply_adds


def _single(product: Product) -> Callable[[], object]:
    """A run of a graph with a single product."""
    random = np.random.default_rng(0)
    left = (product.count, product.rows, product.inner)
    right = (product.inner, product.columns)
    if product.kind == "int8":
        weight = random.integers(-63, 64, right, dtype=np.int8)
        constants = [onnx.numpy_helper.from_array(weight, "right")]
        constants.append(onnx.numpy_helper.from_array(np.array(128, dtype=np.uint8), "zero"))
        node = helper.make_node("MatMulInteger", ["left", "right", "zero"], ["out"])
        inputs = [helper.make_tensor_value_info("left", TensorProto.UINT8, left)]
        feeds: dict[str, NDArray[Any]] = {"left": random.integers(0, 256, left, dtype=np.uint8)}
        kind = TensorProto.INT32
    else:
        constants = []
        node = helper.make_node("MatMul", ["left", "right"], ["out"])
        both = {"left": left, "right": (product.count, *right)}
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in both.items()
        ]
        feeds = {name: random.random(shape, dtype=np.float32) for name, shape in both.items()}
        kind = TensorProto.FLOAT
    output = helper.make_tensor_value_info("out", kind, (*left[:-1], product.columns))
    graph = helper.make_graph([node], "product", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.onnx"
        onnx.save(model, str(path))
        loaded = OnnxModel(path)
    return lambda: loaded(feeds)


def _timed(run: Callable[[], object]) -> float:
    """The minimum CPU time of one run."""
    run()
    best, spent = float("inf"), 0.0
    while spent < LEAST_SECONDS:
        start = time.process_time()
        run()
        taken = time.process_time() - start
        best, spent = min(best, taken), spent + max(taken, 1e-6)
    return best
