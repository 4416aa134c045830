"""The parts of benchmarks/speed.py that measure nothing: counting, comparing, the page."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

onnx = pytest.importorskip("onnx", reason="needs the extra [train]")
pytest.importorskip("matplotlib", reason="needs the extra [metrics]")

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from onnx import TensorProto, helper  # noqa: E402

from timing.compare import worse  # noqa: E402
from timing.floor import Product, products  # noqa: E402
from timing.measure import Runs, System, rounds_of  # noqa: E402
from timing.page import curve, page  # noqa: E402


def graph(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(list(nodes), "graph", [], [out]))


@pytest.mark.parametrize(
    ("node", "shapes", "expected"),
    [
        (
            helper.make_node("MatMulInteger", ["a", "w", "zero"], ["out"]),
            {"a": (2, 5, 3), "w": (3, 4)},
            Product("int8", 1, 10, 3, 4),
        ),
        (
            helper.make_node(
                "MatMulIntegerToFloat", ["a", "w", "s", "t"], ["out"], domain="com.microsoft"
            ),
            {"a": (7, 3), "w": (3, 4)},
            Product("int8", 1, 7, 3, 4),
        ),
        (
            helper.make_node("MatMul", ["a", "b"], ["out"]),
            {"a": (2, 6, 5, 3), "b": (2, 6, 3, 4)},
            Product("float", 12, 5, 3, 4),
        ),
        (
            helper.make_node("Gemm", ["a", "b"], ["out"], transB=1),
            {"a": (5, 3), "b": (4, 3)},
            Product("float", 1, 5, 3, 4),
        ),
    ],
)
def test_floor_counts_a_product(
    node: onnx.NodeProto, shapes: dict[str, tuple[int, ...]], expected: Product
) -> None:
    assert products(graph(node), shapes) == [expected]


def test_floor_counts_only_products_and_leaves_out_empty_ones() -> None:
    model = graph(
        helper.make_node("Add", ["a", "a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["c"]),
        helper.make_node("MatMul", ["nothing", "w"], ["out"]),
    )
    found = products(model, {"b": (2, 3), "w": (3, 4), "nothing": (0, 3)})
    assert [each.multiply_adds for each in found] == [24]


@pytest.mark.parametrize(
    ("count", "rows", "expected"),
    [(1, 1, (1, 1)), (3, 7, (4, 7)), (4, 9, (4, 10)), (12, 100, (16, 112)), (1, 1024, (1, 1024))],
)
def test_floor_times_products_of_nearly_the_same_size(
    count: int, rows: int, expected: tuple[int, int]
) -> None:
    assert Product("int8", count, rows, 3, 4).rounded() == Product("int8", *expected, 3, 4)


def test_compare_tolerates_ten_percent() -> None:
    recorded = {"same": 2.0, "better": 2.0, "a little worse": 2.0, "worse": 2.0, "gone": 2.0}
    now = {"same": 2.0, "better": 9.0, "a little worse": 1.81, "worse": 1.79}
    assert worse(recorded, now) == {"worse": (2.0, 1.79), "gone": (2.0, 0.0)}


def system(name: str, latencies: list[list[float]], totals: list[float]) -> System:
    runs = Runs(lambda _: None, lambda _: None)
    items = [None] * len(latencies[0])
    return System(name, 4, items, items, lambda: runs, latencies, totals)  # type: ignore[arg-type]


def test_measure_medians_over_the_rounds_and_ratios_within_them() -> None:
    own = system("own", [[0.1, 0.3], [0.1, 0.1], [9.0, 9.0]], [0.5, 0.25, 9.0])
    other = system("other", [[0.4, 0.4], [0.2, 0.2], [18.0, 18.0]], [1.0, 1.0, 18.0])
    assert own.alone == pytest.approx(5.0)
    assert own.batched == pytest.approx(4.0)
    assert own.quantile(0.5) == pytest.approx(300.0)
    assert rounds_of(own, other, "alone") == pytest.approx([2.0, 2.0, 2.0])
    assert rounds_of(own, other, "batched") == pytest.approx([2.0, 4.0, 2.0])


def results() -> dict[str, object]:
    def speed(name: str, beam: int | None, rate: float) -> dict[str, object]:
        figures = {"alone": rate, "p50": 1000 / rate, "p95": 2000 / rate, "batched": 3 * rate}
        return {"name": name, "beam": beam, "sentences": 9, **figures}

    part = {"multiply_adds": {"int8": 5e8, "float": 2e6}, "measured": 4.0, "floor": 2.0}
    lines = {"beam 4": {"1": 20.0, "2": 38.0}}
    return {
        "date": "2026-01-01",
        "machine": {
            "processor": "A processor",
            "architecture": "x86_64",
            "cores": 2,
            "int8": ["avx512_vnni"],
            "gigabytes": 8,
            "system": "Linux",
            "python": "3.11",
            "versions": {"onnxruntime": "1.0"},
        },
        "threads": 2,
        "rounds": 3,
        "sentences": {"count": 9, "words": 20.0, "pieces_in": 25.0, "pieces_out": 30.0},
        "systems": {
            "ours": [speed("pointer", 4, 20.0), speed("source", None, 5000.0)],
            "t5": [speed("T5-small, CTranslate2 int8", 4, 5.0)],
            "analysers": [speed("analyser", None, 100.0), speed("spaCy", None, 50.0)],
        },
        "ratios": {"pointer to T5-small, beam 4, alone": 4.0},
        "curves": dict.fromkeys(("cores", "batches", "lengths", "documents"), lines),
        "fresh": {"split, pointer": {"seconds": 1.2, "megabytes": 200.0}},
        "floors": [
            {
                "beam": 4,
                "sentences": 9,
                "whole": 14.0,
                "best_rates": {"int8": 4e11, "float": 8e10},
                "parts": {"encoder": part, "decoder": part},
            }
        ],
    }


@pytest.mark.parametrize(
    "line",
    [
        "| pointer | 4 | 20 | 50 ms | 100 ms | 60 |",
        "| source |  | 5,000 | 0.2 ms | 0.4 ms | 15,000 |",
        "| T5-small, CTranslate2 int8 | 4 | 5 | 200 ms | 4.0 | 15 | 4.0 |",
        "| spaCy | 50 | 150 | 2.00 |",
        "| encoder | 500 | 2.0 | 2.00 | 4.00 | 2.0 |",
        "| Python |  |  |  | 6.00 |  |",
        "| total |  |  | 4.00 | 14.00 | 3.5 |",
        "| threads | 1 | 2 |",
        "| beam 4 | 20 | 38 |",
    ],
)
def test_page_has_the_figures(line: str) -> None:
    assert line in page(results()).splitlines()


def test_page_draws_curves() -> None:
    picture = ElementTree.fromstring(curve({"alone": {"1": 2.0, "64": 9.0}}, "sources"))
    assert picture.tag.endswith("svg")
    assert "sources" in "".join(picture.itertext())
