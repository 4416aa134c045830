"""The page of reproduced tables (benchmarks/reproduction.py) and what it is made of."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from parataxis.evaluate.corpora.example import Example

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program() -> ModuleType:
    path = ROOT / "benchmarks" / "reproduction.py"
    spec = importlib.util.spec_from_file_location("reproduction", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reproduction_page_has_every_section(program: ModuleType) -> None:
    for section in program.RECORDED["sections"].values():
        assert f"### {section['title']}\n" in PAGE
        assert section["text"].strip() in PAGE, "run benchmarks/reproduction.py"
        for line in section.get("command", "").strip().splitlines():
            assert f"    {line}\n" in PAGE
    for text in program.RECORDED["texts"].values():
        assert text.strip() in PAGE, "run benchmarks/reproduction.py"


def test_reproduction_rows_are_as_long_as_their_header(program: ModuleType) -> None:
    for table in program.RECORDED.values():
        if "header" in table:
            assert {len(row) for row in table["rows"]} == {len(table["header"])}


def test_reproduction_swaps_source_and_output(program: ModuleType) -> None:
    """A copy of the source has the same SARI either way; a rewrite has not."""
    source, simple = "Ann sang and Ben left .", ("Ann sang .", "Ben left .")
    examples = [Example(source, (simple,), "1")]
    right, swapped = (
        lambda written: program.scores(["sari-hub"], examples, [written])[0],
        lambda written: program.swapped_sari(examples, [written]),
    )
    assert right((source,)) == swapped((source,))
    assert float(right(simple)) == pytest.approx(100.0)
    assert float(swapped(simple)) < 100.0
