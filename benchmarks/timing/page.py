"""Writes docs/benchmarks.md and its figures from a file of results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parataxis.evaluate.figures import draw_svg

__all__ = ["curve", "page", "write_page"]

Results = Mapping[str, Any]

CURVES = {
    "cores": ("threads", "Cores", "In batches, analysis and checks included."),
    "batches": ("sources in a batch", "Batches", "The search alone, on one core."),
    "lengths": ("words of the source", "Length", "Analysis and checks included, beam 4."),
    "documents": (
        "sentences of the document",
        "Documents",
        "`Splitter.split`, segmentation included.",
    ),
}


def write_page(results: Results, docs: Path) -> None:
    """Write the page and its figures into the documentation folder."""
    images = docs / "images"
    images.mkdir(exist_ok=True)
    for name, (label, _, _) in CURVES.items():
        (images / f"speed-{name}.svg").write_text(
            curve(results["curves"][name], label), encoding="utf-8"
        )
    (docs / "benchmarks.md").write_text(page(results), encoding="utf-8")


def curve(lines: Mapping[str, Mapping[str, float]], label: str) -> str:
    """A figure of sentences per second, as SVG."""

    def draw(axes: Any) -> None:
        for name, points in lines.items():
            where = [float(place) for place in points]
            axes.plot(where, list(points.values()), marker="o", markersize=3, label=name)
        axes.set_xlabel(label)
        axes.set_ylabel("sentences a second")
        axes.set_ylim(bottom=0)
        places = [float(place) for points in lines.values() for place in points]
        if max(places) >= 16 * min(places):
            axes.set_xscale("log")
            axes.minorticks_off()
        axes.set_xticks(sorted(set(places)), [f"{place:g}" for place in sorted(set(places))])

    return draw_svg(draw, height=2.4) + "\n"


def page(results: Results) -> str:
    """The page as Markdown."""
    machine, systems = results["machine"], results["systems"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    parts = [
        "# Benchmarks",
        "The speed of the splitters and of the analyser, compared with other systems in the same "
        "run. `python benchmarks/speed.py --page` measures everything and writes this page; "
        "[benchmarks](../benchmarks/README.md) lists what that needs. Machines differ, so compare "
        "the ratios. [How it was made fast](speed.md) lists what each change gained.",
        f"Measured {results['date']} on {machine['processor']} ({machine['architecture']}, "
        f"{', '.join(machine['int8']) or 'no int8 instructions'}), {results['threads']} of "
        f"{machine['cores']} cores, {machine['gigabytes']} GB, {machine['system']}, "
        f"Python {machine['python']}; {versions}.",
        f"{results['sentences']['count']} sentences of {results['sentences']['words']:.1f} words, "
        f"for T5 {results['sentences']['pieces_in']:.1f} word pieces in and "
        f"{results['sentences']['pieces_out']:.1f} out; slow systems had fewer sentences of the "
        f"same lengths. Medians of {results['rounds']} rounds; each system runs once in a round.",
        "## Splitters",
        _speeds(systems["ours"]),
        "*Alone* means one sentence at a time; *p50* and *p95* are the percentiles of its latency. "
        "`pointer, model only` is without analysis and checks.",
        "## Comparison with T5",
        "The T5 models have random weights, because speed does not depend on them, and write as "
        "many word pieces as the references have. *Ratio* is the speed of `pointer`, with analysis "
        "and checks, divided by the speed of that system at the same beam.",
        _against(systems["t5"], systems["ours"]),
        "## The analyser",
        _analysers(systems["analysers"]),
        "## Curves",
        *(
            f"**{title}.** {text}\n\n![{title}: sentences a second](images/speed-{name}.svg)\n\n"
            + _points(results["curves"][name], label)
            for name, (label, title, text) in CURVES.items()
        ),
        "## A new process",
        "Wall-clock time of a whole process that works on one sentence, and its peak memory. The "
        "last rows split many sentences in windows of up to 256, which bounds the memory.",
        _table(
            ("", "seconds", "MB"),
            (
                (name, f"{each['seconds']:.2f}", f"{each['megabytes']:.0f}")
                for name, each in results["fresh"].items()
            ),
        ),
        "## The floor",
        _floor_text(results["floors"]),
        *map(_floor, results["floors"]),
        "## Checking for regressions",
        "`python benchmarks/speed.py --check` measures these ratios again, in interleaved rounds, "
        "and fails if one is more than 10 % lower. Shared machines are noisy: on two cores of one, "
        "the ratio in batches at beam 1 differed by a fifth between runs (0.87 and 1.09), so "
        "measure again before you trust a drop:",
        _table(
            ("ratio", "recorded"),
            ((name, f"{value:.2f}") for name, value in results["ratios"].items()),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [f"| {' | '.join(head)} |", f"|---{'|--:' * (len(head) - 1)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _beam(system: Results) -> str:
    return "" if system["beam"] is None else str(system["beam"])


def _ms(value: float) -> str:
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.3g} ms"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _speeds(systems: Sequence[Results]) -> str:
    return _table(
        ("", "beam", "alone, sentences/s", "p50", "p95", "in batches, sentences/s"),
        (
            (
                each["name"],
                _beam(each),
                _rate(each["alone"]),
                _ms(each["p50"]),
                _ms(each["p95"]),
                _rate(each["batched"]),
            )
            for each in systems
        ),
    )


def _against(systems: Sequence[Results], ours: Sequence[Results]) -> str:
    own = {each["beam"]: each for each in ours if each["name"] == "pointer"}
    return _table(
        ("", "beam", "alone, sentences/s", "p50", "ratio", "in batches, sentences/s", "ratio"),
        (
            (
                each["name"],
                _beam(each),
                _rate(each["alone"]),
                _ms(each["p50"]),
                f"{own[each['beam']]['alone'] / each['alone']:.1f}",
                _rate(each["batched"]),
                f"{own[each['beam']]['batched'] / each['batched']:.1f}",
            )
            for each in systems
        ),
    )


def _analysers(systems: Sequence[Results]) -> str:
    own = systems[0]
    return _table(
        ("", "alone, sentences/s", "in batches, sentences/s", "ratio in batches"),
        (
            (
                each["name"],
                _rate(each["alone"]),
                _rate(each["batched"]),
                f"{own['batched'] / each['batched']:.2f}",
            )
            for each in systems
        ),
    )


def _points(lines: Mapping[str, Mapping[str, float]], label: str) -> str:
    places = list(next(iter(lines.values())))
    return _table(
        (label, *places),
        ((name, *(_rate(points[place]) for place in places)) for name, points in lines.items()),
    )


def _floor_text(floors: Sequence[Results]) -> str:
    best = floors[0]["best_rates"]
    return (
        "The time that the multiply-adds of the models alone would take: the products of the ONNX "
        "graphs are counted for the shapes that occurred, and each is timed separately with "
        "onnxruntime. Milliseconds of CPU time for a sentence, on one core. With matrices of "
        f"1024 x 1024 this core reaches {best['int8'] / 1e9:,.0f} billion multiply-adds a second "
        f"in int8 and {best['float'] / 1e9:,.0f} in float; the small matrices of a sentence are "
        "slower."
    )


def _floor(found: Results) -> str:
    parts = found["parts"]
    rows = [
        (
            name,
            f"{each['multiply_adds']['int8'] / 1e6:.0f}",
            f"{each['multiply_adds']['float'] / 1e6:.1f}",
            f"{each['floor']:.2f}",
            f"{each['measured']:.2f}",
            f"{each['measured'] / each['floor']:.1f}",
        )
        for name, each in parts.items()
    ]
    models = sum(each["measured"] for each in parts.values())
    floor = sum(each["floor"] for each in parts.values())
    rows.append(("Python", "", "", "", f"{found['whole'] - models:.2f}", ""))
    rows.append(
        ("total", "", "", f"{floor:.2f}", f"{found['whole']:.2f}", f"{found['whole'] / floor:.1f}")
    )
    return f"Beam {found['beam']}:\n\n" + _table(
        ("", "int8, millions", "float, millions", "floor", "measured", "times the floor"), rows
    )
