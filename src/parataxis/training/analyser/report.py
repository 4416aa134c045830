"""Every accuracy figure of an analyser in one table: ``python -m ... evaluate``."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from parataxis.syntax.analyser import Analyser
from parataxis.syntax.labels import read_labels
from parataxis.syntax.onnx import SHIPPED, OnnxModel
from parataxis.training.analyser.evaluate import Accuracy, evaluate
from parataxis.training.analyser.treebank import gold_sentences

__all__ = ["report"]


ROLES = ("predicates", "roles", "r-arg")
"""What only EWT has gold annotation for."""


def report(data: Path, part: str, model: Path | None, weights: Path | None) -> None:
    """Print the accuracy of the shipped model, or of the one in ``model``, on EWT and GUM.

    ``weights`` adds a row for the same network before int8.
    """
    folder = model or SHIPPED
    with tempfile.TemporaryDirectory() as scratch:
        systems = [("int8", _load(folder / "analyser.onnx", folder))]
        if weights is not None:
            from parataxis.training.analyser.export import export_float

            export_float(weights, Path(scratch) / "exact.onnx")
            systems.insert(0, ("float", _load(Path(scratch) / "exact.onnx", folder)))
        table = Table("", *Accuracy.NAMES, title=f"F1 in percent, {part} sets")
        for bank in ("ewt", "gum"):
            gold = list(gold_sentences(data, bank, part))
            roles = any(sentence.has_roles for sentence in gold)
            shown = Accuracy.NAMES if roles else Accuracy.NAMES[: -len(ROLES)]
            for name, analyser in systems:
                for tokens, predicates in SETTINGS if roles else SETTINGS[::2]:
                    accuracy = evaluate(analyser, gold, tokens=tokens, predicates=predicates)
                    label = f"{bank} {name}, {tokens} tokens, {predicates} predicates"
                    table.add_row(label, *(f"{accuracy[figure]:.2f}" for figure in shown))
    Console(file=sys.stdout, width=130).print(table)


SETTINGS = (("gold", "gold"), ("gold", "own"), ("own", "own"))
"""Whose tokens and whose predicates; own tokens are those of the raw text."""


def _load(path: Path, folder: Path) -> Analyser:
    return Analyser(OnnxModel(path), read_labels(folder / "analyser.json"))
