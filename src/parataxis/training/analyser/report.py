"""Every accuracy figure of an analyser in one table: ``python -m ... evaluate``."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.labels import read_labels
from parataxis.syntax.onnx import OnnxModel
from parataxis.syntax.wordpieces import WordPieces
from parataxis.training.analyser.evaluate import Accuracy, evaluate
from parataxis.training.analyser.treebank import gold_sentences

__all__ = ["report"]


def report(data: Path, part: str, model: Path | None, weights: Path | None) -> None:
    """Print the accuracy of the shipped model, or of the one in ``model``, on EWT and GUM."""
    analyser = load_analyser() if model is None else _load(model / "analyser.onnx", model)
    table = Table("", *Accuracy.NAMES, title=f"F1 in percent, {part} sets")
    for bank in ("ewt", "gum"):
        gold = list(gold_sentences(data, bank, part))

        def row(name: str, scored: Analyser, tokens: str, predicates: str) -> None:
            accuracy = evaluate(scored, gold, tokens=tokens, predicates=predicates)  # noqa: B023
            roles = any(s.has_roles for s in gold)  # noqa: B023
            shown = [f"{accuracy[n]:.2f}" if roles or n not in ROLES else "" for n in table_names]
            table.add_row(f"{bank}, {name}", *shown)  # noqa: B023

        if weights is not None:
            with tempfile.TemporaryDirectory() as folder:
                from parataxis.training.analyser.export import export_float

                export_float(weights, Path(folder) / "exact.onnx")
                exact = _load(Path(folder) / "exact.onnx", model)
                row("gold tokens, before int8", exact, "gold", "gold")
        row("gold tokens and predicates", analyser, "gold", "gold")
        row("gold tokens, own predicates", analyser, "gold", "own")
        row("raw text, own tokens", analyser, "own", "own")
    Console(file=sys.stdout, width=120).print(table)


ROLES = ("predicates", "roles", "r-arg")
table_names = Accuracy.NAMES


def _load(path: Path, folder: Path | None) -> Analyser:
    shipped = folder or Path(__file__).parents[2] / "syntax" / "model"
    return Analyser(
        OnnxModel(path),
        read_labels(shipped / "analyser.json"),
        WordPieces(shipped / "tokenizer.json"),
    )
