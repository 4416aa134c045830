"""The open benchmark: its data, and what may be submitted to it (benchmarks/leaderboard.py)."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from parataxis.errors import InputError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from leaderboard import BENCHMARK, check_leaks, page, read_sources, read_submission

sys.path.pop()  # benchmarks/datasets.py must not be found in place of the package datasets

EXAMPLES = read_sources(BENCHMARK / "sources.jsonl")


def submitted(path: Path, **changes: object) -> Path:
    """A file in which each source is left whole, with changes by id; None drops a line."""
    records = {example.id: {"id": example.id, "simple": [example.source]} for example in EXAMPLES}
    lines = [changes.get(id_.replace("-", "_"), record) for id_, record in records.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None))
    return path


def test_leaderboard_has_500_sources_with_three_references() -> None:
    assert len({example.source for example in EXAMPLES}) == len(EXAMPLES) == 500
    assert {len(example.references) for example in EXAMPLES} == {3}
    records = map(json.loads, (BENCHMARK / "sources.jsonl").read_text().splitlines())
    assert set(Counter(record["domain"] for record in records).values()) == {50}


def test_leaderboard_shares_no_source_with_the_published_training_data() -> None:
    rewrites = BENCHMARK.parent / "rewrites"
    for name in ("original.jsonl", "levels.jsonl"):
        check_leaks(rewrites / name, EXAMPLES)


def test_leaderboard_refuses_a_training_set_with_a_source(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text(f"It rained.\n{EXAMPLES[7].source}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train.txt:2 is too near to a source"):
        check_leaks(path, EXAMPLES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a_001": None}, r"mine.jsonl has no rewrite of a-001\."),
        ({"a_001": {"id": "a-002", "simple": ["It rained."]}}, "a-002 is there twice"),
        ({"a_001": {"id": "a-001", "simple": [" "]}}, "has no simple sentences"),
        ({"a_001": {"id": "a-001"}}, 'needs "id" and "simple"'),
    ],
)
def test_leaderboard_says_what_is_wrong_with_a_submission(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_submission(submitted(tmp_path / "mine.jsonl", **changes), EXAMPLES)


def test_leaderboard_takes_a_whole_submission(tmp_path: Path) -> None:
    system = read_submission(submitted(tmp_path / "mine.jsonl"), EXAMPLES)
    assert (system.name, len(system.rewrites)) == ("mine", 500)


def test_leaderboard_page_has_all_systems_and_ratings() -> None:
    pytest.importorskip("sacrebleu")
    head, *rest = page(EXAMPLES)
    assert "| pointer |" in head.replace("**", "")
    assert any("## Blind ratings" in part for part in rest)
