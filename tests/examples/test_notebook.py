"""The notebook runs from top to bottom, and its outputs are those that it shows."""

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "tour.ipynb"

nbformat = pytest.importorskip("nbformat", reason="needs the extra [dev]")
nbclient = pytest.importorskip("nbclient", reason="needs the extra [dev]")
pytest.importorskip("ipykernel", reason="needs the extra [dev]")


def shown(cell: Any) -> str:
    """What a cell prints and returns, as text."""
    return "".join(
        each["text"] if each["output_type"] == "stream" else each["data"]["text/plain"]
        for each in cell.outputs
    )


def test_notebook_shows_what_it_does() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(fresh, timeout=300).execute()
    cells = [
        (old, new)
        for old, new in zip(stored.cells, fresh.cells, strict=True)
        if old.cell_type == "code"
    ]
    assert len(cells) >= 5
    for old, new in cells:
        assert shown(old)
        assert shown(new) == shown(old), old.source
