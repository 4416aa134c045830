"""The label inventories of the analyser, stored beside the model as ``analyser.json``."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Labels", "read_labels", "write_labels"]


@dataclass(frozen=True)
class Labels:
    """The labels of each head, in the order of the model's output numbers.

    ``feats`` holds whole feature bundles ("Number=Sing|Person=3"); ``roles`` holds role labels,
    which the model tags as O, B-first, I-first, B-second, I-second and so on.
    """

    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    deprels: tuple[str, ...]
    roles: tuple[str, ...]


def read_labels(path: Path) -> Labels:
    """Read the inventories that :func:`write_labels` wrote."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return Labels(**{name: tuple(values) for name, values in stored.items()})


def write_labels(labels: Labels, path: Path) -> None:
    """Write the inventories as JSON."""
    path.write_text(json.dumps(asdict(labels), indent=1) + "\n", encoding="utf-8")
