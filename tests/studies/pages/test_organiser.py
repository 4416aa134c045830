"""The organiser: numbers, people, and files at any time."""

import csv
import io
import json
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from parataxis.studies.pages.dashboard import AgreementCache
from parataxis.studies.store.types import PersonState
from parataxis.studies.study import Role

GOOD = {
    "q-sensical": "5",
    "q-grammatical": "5",
    "q-misses": "no",
    "q-adds": "no",
    "q-wrong-split": "no",
    "q-split-further": "no",
}


def rate_all(visitor: Any, **changes: str) -> None:
    visitor.get("/task")
    while visitor.path.startswith("/task/"):
        visitor.send(visitor.path, {**GOOD, **{k.replace("_", "-"): v for k, v in changes.items()}})


def test_organiser_sees_progress_pace_and_agreement(serve: Any) -> None:
    served = serve(write={"sources": "sources.txt", "writers": 1})
    organiser = served.organiser()
    assert "There are no ratings yet." in organiser.get("/organiser").text
    served.app.state.agreement = AgreementCache(fresh=0)
    _, ann = served.person()
    _, bob = served.person()
    _, writer = served.person(Role.WRITER)
    writer.get("/task")
    writer.post(flag="simple")
    rate_all(ann)
    rate_all(bob, q_misses="yes")
    page = organiser.get("/organiser").text
    assert "<strong>6</strong> <span>of 11 (55 %)</span>" in page
    assert "2 of them of rewrites to come" in page
    assert "<strong>1</strong> <span>of 2 (50 %)</span>" in page
    assert "<strong>7</strong> of 13 (54 %)" in page
    assert "Flagged as simple" in page
    assert "7 submissions" in page
    assert "0.0 %" in page  # they never agree on what is missing
    assert "100.0 %" in page


def test_organiser_invites_and_the_links_work(serve: Any) -> None:
    served = serve()
    organiser = served.organiser()
    organiser.get("/organiser/people")
    organiser.post("/organiser/invite", role="rater", names="Ann Lee\n\n  =SUM(1)\n", count="1")
    assert "The new links are below." in organiser.text
    organiser.post("/organiser/invite", role="expert", count="2")
    assert [each.role for each in served.store.people()] == [Role.RATER] * 2 + [Role.EXPERT] * 2
    table = organiser.get("/organiser/people.csv")
    assert "attachment" in table.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["name"] for row in rows] == ["Ann Lee", "'=SUM(1)", "", ""]
    visitor = served.visitor()
    assert visitor.get(rows[0]["link"].replace(served.settings.base_url, "")).status_code == 200
    assert visitor.path == "/instructions"


def test_organiser_people_as_a_table_tells_whom_to_pay(serve: Any) -> None:
    served = serve(panel={}, rate={"raters": 1})
    visitor = served.visitor()
    visitor.get("/panel?PROLIFIC_PID=%3D5f3c&STUDY_ID=s")
    (person,) = served.store.people()
    while (task := served.store.next_task(person.id)) is not None:
        served.store.submit(person.id, task.slot, {"sensical": 5})
    text = served.organiser().get("/organiser/people.csv").text
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["id"], row["state"], row["done"], row["failed"]) == (person.id, "active", "3", "0")
    assert row["panel"] == "'=5f3c"  # no formula
    assert row["link"] == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "rater", "count": "0"},
        {"role": "rater", "count": "-3"},
        {"role": "rater", "count": "501"},
        {"role": "rater", "count": "9" * 30},
        {"role": "rater", "count": "two"},
        {"role": "king", "count": "1"},
        {"role": "writer", "count": "1"},  # there is nothing to write
        {"role": "rater", "names": "n" * 300},
        {"count": "1"},
    ],
)
def test_organiser_invitations_that_make_no_sense(serve: Any, fields: dict[str, str]) -> None:
    served = serve()
    organiser = served.organiser()
    organiser.get("/organiser/people")
    assert organiser.post("/organiser/invite", **fields).status_code == 422
    assert served.store.people() == []


def test_organiser_excludes_and_reinstates(serve: Any) -> None:
    served = serve(rate={"raters": 1})
    person, rater = served.person()
    rate_all(rater)
    assert len(served.store.export_ratings()) == 3
    organiser = served.organiser()
    organiser.get(f"/organiser/people/{person}")
    organiser.post(f"/organiser/people/{person}/exclude", reason="asleep")
    assert "Ratings: 3." in organiser.text  # it asks first
    assert 'value="asleep"' in organiser.text
    assert len(served.store.export_ratings()) == 3
    organiser.post(f"/organiser/people/{person}/exclude", reason="asleep")
    assert 'class="chip excluded"' in organiser.text
    assert served.store.export_ratings() == []
    assert 'data-stage="blocked"' in rater.get("/status").text
    _, other = served.person()
    other.get("/task")
    assert other.path.startswith("/task/")
    organiser.get(f"/organiser/people/{person}")
    organiser.post(f"/organiser/people/{person}/reinstate")
    assert len(served.store.export_ratings()) >= 2
    organiser.post(f"/organiser/people/{person}/block")
    assert served.store.person(person).state is PersonState.BLOCKED


def test_organiser_exports_and_erases_personal_data(serve: Any) -> None:
    served = serve()
    person, rater = served.person(name="Ann Lee")
    rate_all(rater)
    organiser = served.organiser()
    data = organiser.get(f"/organiser/people/{person}/data.json")
    assert json.loads(data.text)["name"] == "Ann Lee"
    assert len(json.loads(data.text)["submissions"]) == 3
    organiser.get(f"/organiser/people/{person}")
    organiser.post(f"/organiser/people/{person}/erase")  # not sure
    assert served.store.person(person) is not None
    organiser.post(f"/organiser/people/{person}/erase", sure="yes")
    assert served.store.person(person) is None
    assert "Ann Lee" not in organiser.get("/organiser/people").text
    assert len(served.store.export_ratings()) == 3
    assert organiser.get(f"/organiser/people/{person}").status_code == 404


def test_organiser_pauses_and_resumes(serve: Any) -> None:
    served = serve()
    _, rater = served.person()
    organiser = served.organiser()
    organiser.post("/organiser/pause")
    assert "Paused" in organiser.text
    assert 'data-stage="paused"' in rater.get("/task").text
    organiser.post("/organiser/resume")
    assert rater.get("/task").url.path.startswith("/task/")


def test_organiser_exports_at_any_time(serve: Any) -> None:
    served = serve()
    _, rater = served.person()
    rater.get("/task")
    rater.send(rater.path, GOOD)
    organiser = served.organiser()
    items = organiser.get("/organiser/export/items.jsonl").text.splitlines()
    ratings = organiser.get("/organiser/export/ratings.jsonl").text.splitlines()
    assert [json.loads(line)["id"] for line in items] == ["i0", "i1", "i2"]
    assert json.loads(ratings[0])["outcomes"] == {"correct": True}
    archive = zipfile.ZipFile(io.BytesIO(organiser.get("/organiser/export/study.zip").content))
    assert archive.read("ratings.jsonl").decode().splitlines() == ratings
    assert organiser.get("/organiser/export/study.db").status_code == 404


def test_organiser_is_told_whom_to_look_at(serve: Any) -> None:
    served = serve(attention={"items": "test.jsonl", "every": 1})
    person, rater = served.person(name="Hasty")
    rate_all(rater)
    page = served.organiser().get("/organiser").text
    assert f"/organiser/people/{person}" in page
    assert "failed controls 1/1" in page


def test_organiser_logs_out(serve: Any) -> None:
    organiser = serve().organiser()
    organiser.get("/organiser")
    organiser.post("/organiser/logout")
    assert organiser.path == "/organiser/login"
    assert organiser.get("/organiser").url.path == "/organiser/login"


# --- Item by item


def test_organiser_reads_items_one_by_one(serve: Any) -> None:
    served = serve(rate={"raters": 1}, write={"sources": "sources.txt", "writers": 1})
    _, wanda = served.person(Role.WRITER, "Wanda")
    for _ in range(2):
        wanda.get("/task")
        wanda.post(rewrite="The ferry ran aground.\nIt had left Arden at noon.")
    _, rater = served.person(name="Ray")
    rate_all(rater, q_misses="yes")
    organiser = served.organiser()
    page = organiser.get("/organiser/items").text
    assert "5 sources." in page
    assert "Ann, a nurse, paints." in page
    organiser.get(re.findall(r"/organiser/items/\d+", page)[0])
    seen = []
    while True:
        page = organiser.text
        seen.append(re.search(r'data-testid="source">([^<]*)<', page)[1])
        if seen[-1].startswith("The ferry"):
            assert "It had left Arden at noon." in page
            assert page.count(">Wanda</a>") == 2  # what she wrote, and who wrote what was rated
            assert ">Ray</a>" in page
            assert "<td>Yes</td>" in page
        after = re.search(r'href="([^"]+)" data-testid="after"', page)
        if after is None:
            break
        organiser.get(after[1])
    assert len(seen) == 5
    assert "<script>" not in "".join(seen)
    assert organiser.get("/organiser/items/99").status_code == 404
    assert organiser.get("/organiser/items?page=0").status_code == 404


_HOSTILE = (
    "</p><script>alert(1)</script><img src=x onerror=alert(2)>"
    '"\' onfocus=alert(3) autofocus x=" {{ 7 * 7 }} {% raw %} javascript:alert(4) &lt;b&gt;'
)


class _Tags(HTMLParser):
    """What a page loads or runs, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self.seen: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "object", "embed", "base"):
            self.active.append(f"{tag} {given.get('src')}")
        self.active += [name for name in given if name.startswith("on") or name == "autofocus"]
        links = (given.get(name) or "" for name in ("href", "src", "action"))
        self.active += [link for link in links if ":" in link and not link.startswith("http")]

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


def test_organiser_sees_hostile_text_as_text(serve: Any, tmp_path: Path) -> None:
    item = {"source": f"Source {_HOSTILE}", "simple": [f"Simple {_HOSTILE}", "Two."]}
    (tmp_path / "hostile.jsonl").write_text(
        json.dumps({**item, "id": f"id {_HOSTILE}", "splitter": f"system {_HOSTILE}"})
    )
    (tmp_path / "hostile.txt").write_text(f"To write {_HOSTILE}\n")
    served = serve(
        items="hostile.jsonl",
        rubric="concise",
        rate={"raters": 1},
        write={"sources": "hostile.txt", "writers": 1},
        background=[{"id": "first-language", "text": "Which?"}],
        panel={},
    )
    _, wanda = served.person(Role.WRITER, f"Wanda {_HOSTILE}")
    wanda.send("/background", {"b-0": f"Language {_HOSTILE}"})
    wanda.get("/task")
    wanda.post(rewrite=f"Written {_HOSTILE}.\nIt is long.")
    served.visitor().get(f"/panel?{urlencode({'PROLIFIC_PID': 'Panel ' + _HOSTILE})}")
    ray, _ = served.person(name="Ray")
    while (task := served.store.next_task(ray)) is not None:
        answers = {"comments": f"Comment {_HOSTILE}"}
        served.store.submit(ray, task.slot, answers)
    organiser = served.organiser()
    paths = ["", "/items", "/people"]
    paths += [f"/items/{number}" for number in (1, 2)]
    paths += [f"/people/{person.id}" for person in served.store.people()]
    shown = ""
    for path in paths:
        page = organiser.get(f"/organiser{path}")
        assert page.status_code == 200
        found = _Tags(page.text)
        assert [each for each in found.active if not each.startswith("script /static/")] == []
        shown += "".join(found.seen)
    person = next(each for each in served.store.people() if each.name != "Ray")
    page = organiser.send(f"/organiser/people/{person.id}/exclude", {"reason": _HOSTILE})
    assert [each for each in _Tags(page.text).active if not each.startswith("script /")] == []
    for word in ("Source", "Simple", "To write", "Written", "Wanda", "Comment", "id", "system"):
        assert f"{word} {_HOSTILE}" in shown, word


def test_organiser_rejects_one_rating_and_accepts_it_again(serve: Any) -> None:
    served = serve(rate={"raters": 1})
    _, rater = served.person()
    rate_all(rater)
    organiser = served.organiser()
    organiser.get("/organiser/items/1")
    (slot,) = re.findall(r'data-testid="reject-(\w+)"', organiser.text)
    organiser.send(f"/organiser/work/{slot}/reject", {"sure": ""})
    assert len(served.store.export_ratings()) == 3
    organiser.get("/organiser/items/1")
    organiser.send(f"/organiser/work/{slot}/reject", {"reason": "careless"})
    assert organiser.path == "/organiser/items/1"
    assert "not accepted" in organiser.text
    assert len(served.store.export_ratings()) == 2
    assert "not accepted" in rater.get("/mine").text
    assert "careless" not in rater.text
    organiser.get("/organiser/items/1")
    organiser.send(f"/organiser/work/{slot}/accept", {})
    assert len(served.store.export_ratings()) == 3
    assert organiser.post("/organiser/work/2222222222/reject", sure="yes").status_code == 404


def test_organiser_sees_what_is_owed_and_who_is_too_quick(serve: Any) -> None:
    payment = {"per_rating": 0.5, "currency": "EUR"}
    served = serve(rate={"raters": 1, "least_seconds": 60}, payment=payment)
    person, rater = served.person(name="Ray")
    rate_all(rater)
    organiser = served.organiser()
    page = organiser.get("/organiser").text
    assert "Owed: 1.50 EUR" in page
    assert "answers below the least time: 3" in page
    assert (
        '<td class="figure" data-testid="owed">1.50</td>' in organiser.get("/organiser/people").text
    )
    assert "1.50 EUR" in organiser.get(f"/organiser/people/{person}").text
    (row,) = csv.DictReader(io.StringIO(organiser.get("/organiser/people.csv").text))
    assert [row[name] for name in ("rewrites", "ratings", "owed", "currency", "quick")] == [
        *("0", "3", "1.50", "EUR", "3")
    ]
