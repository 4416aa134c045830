"""``parataxis claims``: the pipeline of ``split`` with a record for each claim."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parataxis import Claim

Run = Callable[..., Any]

LEASE = "If the tenant fails to pay, the landlord may end the lease and keep the deposit."


def records(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_claims_of_a_file_know_their_places(run: Run, tmp_path: Path) -> None:
    text = f"\n# Lease\n\n{LEASE} It\nrained.\n"
    file = tmp_path / "lease.txt"
    file.write_text(text)
    found = [Claim.model_validate(each) for each in records(run("claims", str(file)).out)]
    assert [claim.text for claim in found] == [
        "Lease",
        "If the tenant fails to pay, the landlord may end the lease.",
        "If the tenant fails to pay, the landlord may keep the deposit.",
        "It rained.",
    ]
    assert {claim.document for claim in found} == {str(file)}
    assert [claim.id for claim in found] == [
        f"{file}:2:3#1",
        f"{file}:4:1#1",
        f"{file}:4:1#2",
        f"{file}:4:82#1",
    ]
    assert [text[claim.start : claim.end] for claim in found] == [
        "Lease",
        LEASE,
        LEASE,
        "It\nrained.",
    ]
    assert text[slice(*found[2].spans[1])] == "keep the deposit."


def test_claims_of_records_keep_their_columns(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    rows = [
        {"id": "n1", "text": "Ann sang, and Bob left. It rained.", "year": 1999, "start": "x"},
        {"id": "n2", "body": "nothing"},
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    result = run("claims", str(file), "--column", "text")
    assert result.code == 3
    *claims, problem = records(result.out)
    assert [(each["id"], each["document"], each["text"], each["year"]) for each in claims] == [
        ("n1:1#1", "n1", "Ann sang.", 1999),
        ("n1:1#2", "n1", "Bob left.", 1999),
        ("n1:2#1", "n1", "It rained.", 1999),
    ]
    assert [each["start"] for each in claims] == [0, 0, 24]
    assert problem["error"] == 'the record has no "text"'
    assert "text" not in problem


def test_claims_are_written_as_parquet_and_text(run: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "notes.jsonl"
    file.write_text(json.dumps({"id": "n1", "source": LEASE, "year": 1999}) + "\n")
    output = tmp_path / "claims.parquet"
    assert run("claims", str(file), "-o", str(output)).code == 0
    rows = parquet.read_table(output).to_pylist()
    lines = records(run("claims", str(file)).out)
    assert [{k: v for k, v in row.items() if v is not None} for row in rows] == lines
    assert run("claims", str(file), "-f", "text").out.splitlines() == [
        "If the tenant fails to pay, the landlord may end the lease.",
        "If the tenant fails to pay, the landlord may keep the deposit.",
    ]


def test_claims_can_be_resumed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(f"{LEASE}\n")
    output = tmp_path / "claims.jsonl"
    assert run("claims", str(file), "-o", str(output), "--resume").code == 0
    assert len(records(output.read_text())) == 2
    again = run("claims", str(file), "-o", str(output), "--resume")
    assert "nothing is left to do" in again.err


def test_claims_need_a_splitter_with_levels(run: Run) -> None:
    result = run("claims", LEASE, "--splitter", "rules")
    assert result.code == 2
    assert "has no levels" in result.err


def test_claims_get_names_if_asked(run: Run) -> None:
    text = "Ann Reed was a chemist. She died in 1994."
    assert run("claims", text, "-f", "text").out.splitlines()[1] == "She died in 1994."
    result = run("claims", text, "--names")
    assert [(each["text"], each["context"]) for each in records(result.out)] == [
        ("Ann Reed was a chemist.", []),
        ("Ann Reed died in 1994.", [[0, 8]]),
    ]
