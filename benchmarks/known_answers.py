"""Compares the metrics with published numbers, on the published files.

    python benchmarks/known_answers.py --data DATA

DATA holds ``report2019/`` (table 6 of the 2019 report) and ``bisect/`` (BiSECT's test set with the
outputs of four systems). docs/metrics.md describes the settings that reproduce them.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from parataxis.evaluate.metrics.protocol import ScoredItem, score_all
from parataxis.evaluate.metrics.registry import load_metric

REPORT = ("sentences-per-source", "tokens-per-sentence-2019", "fkgl-2019")
BISECT = ("sari", "bleu-lc")
SYSTEMS = ("dissim", "copy512_bisect", "our_model_bisect", "transformer_bisect")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the two corpora")
    data = parser.parse_args().data
    console = Console(width=110)

    table = Table("output", *REPORT, "fkgl", title="Table 6 of the 2019 report")
    sources = _lines(data / "report2019" / "sources2.txt")
    for name in ("websplit", "wikisplit"):
        outputs = _lines(data / "report2019" / f"pred_{name}2.txt")
        items = [
            ScoredItem(source, _sentences(output, "<::::>"))
            for source, output in zip(sources, outputs, strict=True)
        ]
        table.add_row(name, *_scores((*REPORT, "fkgl"), items))
    console.print(table)

    table = Table("system", *BISECT, title="BiSECT test, one reference")
    sources, references = (_lines(data / "bisect" / f"test.{end}") for end in ("src", "dst"))
    for system in ("source", *SYSTEMS):
        path = data / "bisect" / "outputs" / f"{system}.txt"
        outputs = sources if system == "source" else _lines(path)
        items = [
            ScoredItem(source, _sentences(output, "<SEP>"), (_sentences(reference, "<SEP>"),))
            for source, output, reference in zip(sources, outputs, references, strict=True)
        ]
        table.add_row(system, *_scores(BISECT, items))
    console.print(table)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _sentences(line: str, separator: str) -> tuple[str, ...]:
    """The simple sentences of a line, without the separator."""
    return tuple(part.strip() for part in line.split(separator) if part.strip())


def _scores(names: Sequence[str], items: Sequence[ScoredItem]) -> list[str]:
    found = score_all([load_metric(name) for name in names], items)
    return [f"{one.value:.2f}" for one in found]


if __name__ == "__main__":
    main()
