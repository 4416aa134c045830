"""Invented people in a small study: all gets done, whatever they get up to."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [study]")
pytest.importorskip("yaml", reason="needs the extra [study]")

from parataxis.cli.main import main
from parataxis.studies.items import read_items
from parataxis.studies.records import HUMAN
from parataxis.studies.rubric import available_rubrics, load_rubric, outcomes, problems
from parataxis.studies.simulation import Clock, Habits, Simulated, Truth, rate, simulate, write
from parataxis.studies.store import Store
from parataxis.studies.study import load_study

EXPECTED = {"misses": True, "adds": True, "wrong-split": True, "split-further": True}
SOURCES = [f"Town {n}, which lies on a river, has {n + 3} old bridges." for n in range(4)]
YAML = """
rubric: six-criteria
items: items.jsonl
write: {sources: sources.txt, writers: 2}
rate: {raters: 3}
qualification: {test: test.jsonl, pass_mark: 0.5}
attention: {items: attention.jsonl, every: 3, on_failure: void}
consent: You may stop at any time.
background: [{id: age, kind: number, text: "How old are you?", required: true}]
panel: {completion_code: C0DE}
lease_minutes: 10
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    def write_lines(name: str, records: list[dict[str, object]]) -> None:
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / name).write_text(lines, encoding="utf-8")

    (tmp_path / "sources.txt").write_text("\n".join(SOURCES), encoding="utf-8")
    items: list[dict[str, object]] = [
        {"id": str(n), "source": source, "simple": [source], "splitter": splitter}
        for n, source in enumerate(SOURCES)
        for splitter in ("source", "rules")  # several systems have the ids of the corpus
    ]
    write_lines("items.jsonl", items)
    pair = {"source": "It rained, so we left.", "simple": ["A B."], "splitter": "x"}
    write_lines("test.jsonl", [{"id": f"t{n}", **pair, "expected": {"misses": True}} for n in "12"])
    write_lines("attention.jsonl", [{"id": f"a{n}", **pair, "expected": EXPECTED} for n in "1234"])
    (tmp_path / "pilot.yaml").write_text(YAML, encoding="utf-8")
    return tmp_path / "pilot.yaml"


def _run(study: Path, people: int, seed: int = 1) -> tuple[Store, Simulated]:
    described = load_study(study)
    items = read_items(described)
    clock = Clock()
    store = Store.open(str(study.with_suffix(".db")), clock=clock)
    store.create(described, items)
    rubric = load_rubric(described.rubric)
    return store, simulate(store, rubric, items, clock, people=people, seed=seed)


def test_simulation_all_gets_done(study: Path) -> None:
    store, found = _run(study, 12)
    with store:
        phases = found.overview.phases
        assert {kind: phase.share for kind, phase in phases.items()} == {
            "write": 1.0,
            "rate": 1.0,
            "expert": 1.0,
        }
        assert (found.abandoned, found.undone, found.excluded) == (1, 1, 1)
        items = store.export_items()
        ratings = store.export_ratings()
        assert set(Counter(rating.item for rating in ratings).values()) == {3}
        writers = {item.id: (item.model_extra or {}).get("writer") for item in items}
        assert all(writers[rating.item] != rating.rater for rating in ratings)
        assert sum(item.splitter == HUMAN for item in items) <= 2 * len(SOURCES)
        assert {item.id for item in items} >= {"0@source", "0@rules"}
        assert len(store.export_ratings(experts=True)) == found.expert
        assert sum(bool(person.panel) for person in store.people()) == 1
        assert len(store.people()) == found.people + 1  # the expert


def test_simulation_too_few_people_end_too(study: Path) -> None:
    store, found = _run(study, 2)
    with store:
        assert found.overview.phases["rate"].share < 1


@pytest.mark.parametrize("name", [each.name for each in available_rubrics()])
def test_simulation_answers_fit_every_rubric(name: str) -> None:
    rubric = load_rubric(name)
    truth = Truth(rubric, seed=3)
    chance = random.Random(1)
    for source, simple in [(SOURCES[0], ("Town 0 lies.", "It is big.")), ("A b.", ("A b.",))]:
        identical = simple == (source,)
        right = truth(source, simple, identical=identical)
        assert right == truth(source, simple, identical=identical)
        for care in (1, 0.5, 0):
            habits = Habits(care=care, bias=1)
            given = rate(rubric, right, habits, chance, identical=identical)
            assert problems(rubric, given, identical=identical) == {}
            assert care < 1 or given == right


def test_simulation_a_careful_rater_sees_a_lost_fact() -> None:
    rubric = load_rubric("six-criteria")
    truth = Truth(rubric, seed=1)
    source = "Ann, who was born in 1950, paints."
    lost = truth(source, ["Ann was born.", "Ann paints."], identical=False)
    kept = truth(source, ["Ann was born in 1950.", "Ann paints."], identical=False)
    assert (lost["misses"], kept["misses"]) == (True, False)
    assert outcomes(rubric, kept, identical=False) == {"correct": True}


def test_simulation_writers() -> None:
    chance = random.Random(1)
    pool = {"Ann, who left, is back.": [["Ann left.", "Ann is back."]]}
    careful, careless = Habits(care=1), Habits(care=0)
    given = write("Ann, who left, is back.", pool, careful, chance, 2)
    assert given == {"rewrite": "Ann left. Ann is back."}
    assert write("Ann, who left, is back.", pool, careless, chance, 2) != given
    assert write("It rained.", {}, careful, chance, 2) == {"flag": "simple"}
    assert write("Ann, who left, is back.", {}, careful, chance, 2) == {
        "rewrite": "Ann, who left. Is back."
    }


def test_simulation_command_writes_what_the_report_reads(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = study.parent / "out"
    given = ["simulate", str(study), "--words-only", "-n", "10", "-o", str(out)]
    assert main(["study", *given]) == 0
    assert "10 people" in capsys.readouterr().out
    files = ["--items", str(out / "items.jsonl"), "--ratings", str(out / "ratings.jsonl")]
    assert main(["study", "report", *files]) == 0
    assert "Agreement" in capsys.readouterr().out
    assert main(["study", *given]) == 2
    assert "exists already; name another folder" in capsys.readouterr().err


def test_simulation_experts_are_asked_about_a_sample(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write_text(YAML.replace("items: items.jsonl\n", ""), encoding="utf-8")
    store, found = _run(study, 12)
    store.close()
    out = study.parent / "out"
    assert main(["study", "export", str(study), "-o", str(out)]) == 0
    files = ["--items", str(out / "items.jsonl"), "--ratings", str(out / "ratings.jsonl")]
    given = [*files, "--each", "100", "--ask", str(study), "-o", str(out / "sample.jsonl")]
    assert main(["study", "sample", *given]) == 0
    new = found.overview.phases["rate"].items - found.expert
    assert f"The experts of the study are asked about {new} more" in capsys.readouterr().err
