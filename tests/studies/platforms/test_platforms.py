"""Studies as the files of Mechanical Turk and Appen, and their results as records."""

import csv
import html
import json
import random
import re
import stat
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra [study]")

from parataxis.cli.main import main
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item
from parataxis.studies.platforms import PLATFORMS
from parataxis.studies.platforms.files import Design, key_file, pseudonym, written
from parataxis.studies.platforms.files import opaque as opaque_by
from parataxis.studies.platforms.results import ratings_of
from parataxis.studies.records import Rating, read_ratings
from parataxis.studies.rubric import available_rubrics, complete, load_rubric, writing
from parataxis.studies.simulation import Habits, rate
from parataxis.studies.study import ItemKind, Study

WHOLE = "Ann, who left, is back."
SOURCE = "Ghent, a city with 2 < 3 towers & a <b>moat</b> for ${price}, is old 🏰."
ITEMS = [
    {"id": "rules:1", "source": SOURCE, "simple": ["Ghent is a city.", "It is old."]},
    {"id": "rules:2", "source": "Ann left.", "simple": ["Ann left."]},
    {"id": "mine", "source": "Bo, who sat, ate.", "simple": ["Bo ate."], "writer": "W3"},
]
CONTROL = {"id": "att", "source": "A cat.", "simple": ["Seven."], "expected": {"meaning": 1}}
RATED = {
    "simplification": "3",
    "meaning": "3",
    "fluency": "2",
    "concerning": "no",
    "overall": "reject",
    "severity": "2",
    "corrected": "Ghent is old.",
    "needed": "yes",
}
MTURK = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds"]
APPEN = ["_unit_id", "_created_at", "_golden", "_id", "_started_at", "_tainted", "_worker_id"]
KEY = b"known to the organiser"


def opaque(item: str) -> str:
    return opaque_by(item, KEY)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    def write(name: str, records: Sequence[Mapping[str, object]]) -> None:
        lines = "".join(json.dumps({"splitter": "rules", **each}) + "\n" for each in records)
        (tmp_path / name).write_text(lines, encoding="utf-8")

    write("items.jsonl", ITEMS)
    (tmp_path / "pilot.platform-key").write_bytes(KEY)
    write("attention.jsonl", [CONTROL])
    (tmp_path / "sources.txt").write_text("Bo, who sat, ate.\nIt rained.\n", encoding="utf-8")
    (tmp_path / "pilot.yaml").write_text(
        "rubric: concise\nitems: items.jsonl\nwrite: {sources: sources.txt}\n"
        "attention: {items: attention.jsonl, on_failure: void}\n",
        encoding="utf-8",
    )
    return tmp_path / "pilot.yaml"


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    columns = dict.fromkeys(name for row in rows for name in row)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(columns), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _turk(worker: str, item: str, answers: Mapping[str, str], **others: str) -> dict[str, str]:
    row = dict.fromkeys(MTURK, "x") | {"AssignmentStatus": "Submitted", "WorkerId": worker}
    row |= {"SubmitTime": "Tue Mar 05 09:11:05 PST 2019", "WorkTimeInSeconds": "42"}
    row |= {"Input.item": opaque(item)} | others
    return row | {f"Answer.q_{name.replace('-', '_')}": text for name, text in answers.items()}


def _appen(worker: str, item: str, answers: Mapping[str, str], **others: str) -> dict[str, str]:
    row = dict.fromkeys(APPEN, "1") | {"_worker_id": worker, "_tainted": "false"}
    row |= {"_started_at": "2/25/2015 05:24:08", "_created_at": "2/25/2015 05:24:38"}
    row |= {"item": opaque(item)} | others
    return row | {f"q_{name.replace('-', '_')}": text for name, text in answers.items()}


def _ratings(study: Path, results: Path, platform: str, *others: str) -> list[Rating]:
    folder = study.parent / "back"
    given = ["from-platform", str(study), str(results), "-p", platform, "-o", str(folder)]
    assert main(["study", *given, *others]) == 0
    return list(read_ratings(folder / "ratings.jsonl"))


class _Fields(HTMLParser):
    """Names of fields, and whatever would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in ("input", "textarea", "cml:radios", "cml:textarea"):
            self.names.add(found["name"] or "")
        self.loaded += [f"{tag} {name}" for name in ("src", "href", "action") if name in found]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("rubric", [each.name for each in available_rubrics()] + ["write"])
def test_platforms_page_asks_all_and_loads_nothing(rubric: str, language: str) -> None:
    asked = writing() if rubric == "write" else load_rubric(rubric)
    kind = ItemKind.WRITE if rubric == "write" else ItemKind.RATE
    for name, platform in PLATFORMS.items():
        files = platform.files(Design(asked, kind, language), [])
        page = files["task.html" if name == "mturk" else "task.cml"]
        parser = _Fields()
        parser.feed(page)
        named = {"item"} if name == "mturk" else set()
        assert parser.names == {f"q_{q.id.replace('-', '_')}" for q in asked.questions} | named
        assert parser.loaded == []
        assert "http" not in page
        placeholders = {"source"} if kind is ItemKind.WRITE else {"source", "rewrite"}
        if name == "mturk":
            extra = {"item"} if kind is ItemKind.WRITE else {"item", "identical"}
            assert set(re.findall(r"\$\{(\w+)\}", page)) == placeholders | extra
        else:
            assert set(re.findall(r"\{\{ (\w+) \}\}", page)) == placeholders


def test_platforms_mturk_table_is_html_without_large_characters(study: Path) -> None:
    out = study.parent / "task"
    assert main(["study", "to-platform", str(study), "-p", "mturk", "-o", str(out)]) == 0
    text = (out / "items.csv").read_text(encoding="utf-8")
    assert text.isascii()
    assert "rules" not in text  # nobody sees whose rewrite it is
    rows = {row["item"]: row for row in csv.DictReader(text.splitlines())}
    assert set(rows) == {opaque(name) for name in ("rules:1", "rules:2", "mine", "att")}
    first = rows[opaque("rules:1")]
    assert "<" not in first["source"]
    assert "${" not in first["source"]
    assert html.unescape(first["source"]) == SOURCE
    assert (first["identical"], rows[opaque("rules:2")]["identical"]) == ("no", "yes")


@pytest.mark.parametrize("platform", list(PLATFORMS))
def test_platforms_ids_cannot_be_guessed_without_the_key(study: Path, platform: str) -> None:
    (study.parent / "pilot.platform-key").unlink()
    tables = []
    for folder in ("first", "again", "other"):
        out = study.parent / folder
        assert main(["study", "to-platform", str(study), "-p", platform, "-o", str(out)]) == 0
        with (out / "items.csv").open(encoding="utf-8", newline="") as stream:
            tables.append([row["item"] for row in csv.DictReader(stream)])
        if folder == "again":
            (study.parent / "pilot.platform-key").unlink()
    assert tables[0] == tables[1]
    assert not set(tables[0]) & set(tables[2])


@pytest.mark.parametrize("platform", list(PLATFORMS))
def test_platforms_tables_have_neither_formulas_nor_tags(study: Path, platform: str) -> None:
    texts = ["=1+1 is <b>two</b>.", "+1 is a number.", "-1 too.", "@Ann left."]
    (study.parent / "sources.txt").write_text("\n".join(texts), encoding="utf-8")
    out = study.parent / "task"
    given = ["to-platform", str(study), "-p", platform, "--phase", "write", "-o", str(out)]
    assert main(["study", *given]) == 0
    with (out / "items.csv").open(encoding="utf-8", newline="") as stream:
        cells = [row["source"] for row in csv.DictReader(stream)]
    assert {cell[0] for cell in cells} == {"&"}
    assert "<" not in "".join(cells)
    assert sorted(map(html.unescape, cells)) == sorted(texts)


def test_platforms_appen_test_questions(study: Path) -> None:
    out = study.parent / "task"
    assert main(["study", "to-platform", str(study), "-p", "appen", "-o", str(out)]) == 0
    with (out / "items.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["item"]: row for row in csv.DictReader(stream)}
    assert html.unescape(rows[opaque("rules:1")]["source"]) == SOURCE
    assert rows[opaque("rules:1")]["_golden"] == ""
    assert (rows[opaque("att")]["_golden"], rows[opaque("att")]["q_meaning_gold"]) == ("TRUE", "1")


def test_platforms_appen_conditions_by_place() -> None:
    page = PLATFORMS["appen"].files(Design(load_rubric("concise"), ItemKind.RATE), [])["task.cml"]
    assert 'name="q_severity" label="How severe is the error?" validates="required" ' in page
    assert 'only-if="q_overall:[2]"' in page
    assert 'only-if="q_concerning:[0]"' in page
    fixed = re.findall(r'\{% unless identical == "yes" %\}(.*?)\{% endunless %\}', page, re.S)
    names = [re.findall(r'name="q_(\w+)"', part)[0] for part in fixed]
    assert names == ["meaning", "fluency", "overall", "edited", "severity", "corrected"]


def test_platforms_ratings_from_mturk(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = {"simplification": "1", "concerning": "no", "needed": "no"}
    rows = [
        _turk("W1", "rules:1", RATED),
        _turk("W1", "rules:2", same),
        _turk("W2", "rules:1", RATED, AssignmentStatus="Rejected"),
        _turk("W2", "rules:2", same, Reject="careless"),
        _turk("W1", "rules:1", RATED),
        _turk("W3", "rules:1", RATED | {"severity": ""}),
        _turk("W3", "rules:1", RATED | {"meaning": "7"}),
        _turk("W3", "gone", RATED),
        _turk("W3", "mine", RATED),
        _turk("W4", "rules:1", RATED),
        _turk("W4", "att", RATED),
    ]
    results = _write(study.parent / "batch.csv", rows)
    found = _ratings(study, results, "mturk", "--worker-ids")
    assert [(each.item, each.rater) for each in found] == [("rules:1", "W1"), ("rules:2", "W1")]
    assert found[0].answers["severity"] == 2
    assert found[0].outcomes == {"accepted": False, "as-is": False}
    assert (found[0].seconds, str(found[0].when)) == (42.0, "2019-03-05 17:11:05+00:00")
    assert found[1].identical
    assert (found[1].answers["meaning"], found[1].answers["overall"]) == (3, None)
    told = capsys.readouterr().err
    assert "2 rejected pieces of work are left out." in told
    assert "batch.csv, line 6: W1 has answered about this item before; left out." in told
    assert 'batch.csv, line 7: "severity": Please answer this question; left out.' in told
    assert 'batch.csv, line 8: "meaning": This is not one of the possible answers' in told
    assert f'batch.csv, line 9: the study has no item "{opaque("gone")}"' in told
    assert "batch.csv, line 10: W3 rated a rewrite of their own; left out." in told
    assert "W4 failed 1 attention items; their 2 ratings are left out." in told


def test_platforms_mturk_item_may_be_among_the_answers(study: Path) -> None:
    row = _turk("W1", "rules:1", RATED)
    row["Answer.item"] = row.pop("Input.item")
    found = _ratings(study, _write(study.parent / "batch.csv", [row]), "mturk")
    assert [each.item for each in found] == ["rules:1"]


def test_platforms_ratings_from_appen(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        _appen("11", "rules:1", RATED),
        _appen("12", "rules:1", RATED, _tainted="true"),
        _appen("13", "rules:1", RATED | {"fluency": "2.0", "corrected": "One.\nTwo."}),
    ]
    found = _ratings(study, _write(study.parent / "f1.csv", rows), "appen")
    assert len({each.rater for each in found}) == 2
    assert not {each.rater for each in found} & {"11", "13"}
    assert [each.answers["fluency"] for each in found] == [2, 2]
    assert found[1].answers["corrected"] == "One.\nTwo."
    assert found[0].seconds == 30.0
    assert "1 rejected pieces" in capsys.readouterr().err


def test_platforms_rewrites_come_back_and_are_rated(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = "sources.txt:1", "sources.txt:2"
    written = {"answer": "rewrite", "rewrite": "Bo sat.\nBo ate."}
    rows = [
        _turk("W1", first, written),
        _turk("W2", first, written | {"rewrite": "Bo sat. He ate."}),
        _turk("W3", first, written | {"rewrite": "Bo ate."}),
        _turk("W1", second, {"answer": "simple"}),
        _turk("W2", second, written | {"rewrite": "SIMPLE"}),
    ]
    results = _write(study.parent / "write.csv", rows)
    back = study.parent / "written"
    given = ["from-platform", str(study), str(results), "-p", "mturk", "--phase", "write"]
    assert main(["study", *given, "-o", str(back)]) == 0
    records = [json.loads(line) for line in (back / "items.jsonl").open(encoding="utf-8")]
    assert [record["id"] for record in records] == [f"{first}.1", f"{first}.2"]
    assert records[0]["simple"] == ["Bo sat.", "Bo ate."]
    assert {record["splitter"] for record in records} == {"human"}
    flagged = [json.loads(line) for line in (back / "flagged.jsonl").open(encoding="utf-8")]
    assert [each["flag"] for each in flagged] == ["simple", "simple"]
    assert "write.csv, line 5: the rewrite is too few sentences; left out." in (
        capsys.readouterr().err
    )
    # In the second phase the writer of a rewrite is known by the same name.
    rated = [_turk(worker, f"{first}.1", RATED) for worker in ("W1", "W2", "W9")]
    path = _write(study.parent / "rate.csv", rated)
    found = _ratings(study, path, "mturk", "--items", str(back / "items.jsonl"))
    assert len(found) == 1
    assert found[0].rater not in {record["writer"] for record in records}
    told = capsys.readouterr().err
    assert "rated a rewrite of their own" in told
    assert f"{records[1]['writer']} rewrote this source themselves; left out." in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", 'has no column "WorkerId"; is it the right file?'),
        ("WorkerId,AssignmentStatus,Input.item\n1,2,3,4\n", "line 2: there are 4 cells"),
        ('WorkerId,AssignmentStatus,Input.item\n"1,2\n', "is not a CSV file in UTF-8"),
        ("WorkerId,AssignmentStatus,Input.item\n", "there are no answers"),
        ("WorkerId,AssignmentStatus\nA,Approved\n", 'has no item ""'),
        ("WorkerId,AssignmentStatus,Input.item\nA,Approved,x\n", 'has no item "x"'),
    ],
)
def test_platforms_bad_results(
    study: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = study.parent / "bad.csv"
    path.write_text(text, encoding="utf-8")
    assert main(["study", "from-platform", str(study), str(path), "-p", "mturk"]) == 2
    assert message in capsys.readouterr().err


def test_platforms_nothing_to_rate(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.write_text("rubric: gms\nitems: items.jsonl\n", encoding="utf-8")
    given = ["to-platform", str(study), "-p", "mturk", "--phase", "write"]
    assert main(["study", *given]) == 2
    assert '"write: sources" is missing' in capsys.readouterr().err


def test_platforms_key_is_private_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pilot.platform-key"
    key = key_file(path)
    assert key_file(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert pseudonym("A1", key) != pseudonym("A1", b"another")


@pytest.mark.parametrize("platform", ["mturk", "appen"])
@pytest.mark.parametrize("rubric", [each.name for each in available_rubrics()])
def test_platforms_answers_come_back_as_they_were(
    tmp_path: Path, rubric: str, platform: str
) -> None:
    """Whatever may be answered: as a form sends it, and as it would have been kept at home."""
    asked = load_rubric(rubric)
    items = [
        Item(id_, rewrite.source, rewrite)
        for id_, simple in (("split", ("Ann left.", "Ann is back.")), ("same", (WHOLE,)))
        for rewrite in [Rewrite(source=WHOLE, simple=simple, splitter="x")]
    ]
    chance = random.Random(1)
    rows, wanted = [], []
    for worker in range(20):
        for item in items:
            identical = item.id == "same"
            given = rate(asked, {}, Habits(care=0.5), chance, identical=identical)
            texts = {name: written(value) for name, value in given.items() if value is not None}
            row, column = (_turk, "Input.item") if platform == "mturk" else (_appen, "item")
            rows.append({**row(f"W{worker}", item.id, texts), column: item.id})
            wanted.append(complete(asked, given, identical=identical))
    results = list(PLATFORMS[platform].read(_write(tmp_path / "results.csv", rows)))
    found = ratings_of(results, Study(rubric=rubric), asked, items, str)
    assert found.notes == []
    assert [each.answers for each in found.ratings] == wanted
