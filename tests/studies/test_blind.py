"""Items that do not tell whose rewrites they are, and the key that does."""

import csv
import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.evaluate.corpora.example import Example
from parataxis.rewrite.jsonl import read_rewrites
from parataxis.studies.blind import Blinded, blind, write_study

EXAMPLES = [Example(f"Source {number} , a long one .", (), f"test:{number}") for number in range(9)]
SYSTEMS = {
    name: [(f"{name} says {number} .", "It 's long .") for number in range(9)]
    for name in ("copynet", "pointer", "rules")
}


def blinded(sources: int = 9, seed: int = 1) -> Blinded:
    return blind(EXAMPLES, SYSTEMS, sources=sources, seed=seed)


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_blind_the_key_opens_every_item(sources: int, seed: int) -> None:
    found = blinded(sources, seed)
    assert len({item.id for item in found.items}) == len(found.items) == 3 * min(sources, 9)
    by_id = {example.id: place for place, example in enumerate(EXAMPLES)}
    for item, row in zip(found.items, found.key, strict=True):
        assert (item.id, item.splitter) == (row.id, row.splitter)
        place = by_id[row.example]
        assert item.source == f"Source {place}, a long one."
        assert item.simple == (f"{row.system} says {place}.", "It's long.")
    shown = [row.example for row in found.key]
    assert all(len(set(shown[at : at + 3])) == 1 for at in range(0, len(shown), 3))
    assert len({(row.splitter, row.system) for row in found.key}) == 3


def test_blind_order_says_nothing_about_the_system() -> None:
    places = [[row.system for row in blinded(seed=seed).key][::3] for seed in range(10)]
    counts = {name: sum(each.count(name) for each in places) for name in SYSTEMS}
    assert all(20 < count < 40 for count in counts.values()), counts  # of 90, each about 30
    assert {blinded(seed=seed).key[0].splitter for seed in range(10)} == {
        *("system-1", "system-2", "system-3")
    }


def test_blind_the_same_seed_gives_the_same_study() -> None:
    assert blinded() == blinded()
    assert blinded() != blinded(seed=2)


def test_blind_writes_items_that_are_rewrites_and_the_key_elsewhere(tmp_path: Path) -> None:
    folder, key = tmp_path / "study", tmp_path / "key.csv"
    write_study(blinded(2), "gms", folder, key)
    assert {path.name for path in folder.iterdir()} == {"items.jsonl", "study.yaml"}
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert tuple(read_rewrites(lines, "items.jsonl")) == blinded(2).items
    assert all(set(json.loads(line)) == {"id", "source", "simple", "splitter"} for line in lines)
    yaml = (folder / "study.yaml").read_text(encoding="utf-8").splitlines()
    assert [line for line in yaml if not line.startswith("#")] == [
        *("rubric: gms", "items: items.jsonl")
    ]
    with key.open(newline="", encoding="utf-8") as stream:
        rows = [tuple(row) for row in csv.reader(stream)]
    assert rows == [("id", "splitter", "system", "example"), *blinded(2).key]
