"""Many at once, and what goes wrong: killed processes, full disks, wrong and broken files."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, text

from parataxis.errors import InputError, ParataxisError
from parataxis.studies.records import Value
from parataxis.studies.rubric import load_rubric
from parataxis.studies.store import Store
from parataxis.studies.store.database import _FairLock
from parataxis.studies.store.types import SlotState, StoreError, Task
from parataxis.studies.study import ItemKind, Panel, Role, Study

WORKER = Path(__file__).with_name("worker.py")
OK = {"grammatical": 5}
FIELD = {"id": "field", "kind": "choice", "text": "What?", "choices": {"law": "Law"}}


def start(url: str, *people: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(WORKER), url, *people],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_faults_many_at_once_lose_nothing_and_cross_nothing(url, make, sound) -> None:
    store = Store.open(url)
    store.create(make.study(writers=2, raters=3), [*make.sources(20), *make.rewrites(30)])
    people = [person.id for person in store.invite(12, Role.BOTH)]
    # Two servers with six people each; of the last two people each has a tab in both.
    servers = [start(url, *people[:6], *people[10:]), start(url, *people[6:], *people[10:])]
    said = []
    for server in servers:
        out, err = server.communicate(timeout=240)
        assert server.returncode == 0, err
        assert not err
        said += [line.split() for line in out.splitlines()]
    for person in people:  # what came last may have been open when some had stopped looking
        while (task := store.next_task(person)) is not None:
            answers = {"by": person, "slot": task.slot}
            store.submit(person, task.slot, {"rewrite": "One. Two.", **answers}, 1.0)
    sound(store)
    ratings = store.export_ratings()
    assert Counter(Counter(rating.item for rating in ratings).values()) == {3: 70}
    assert all(rating.answers["by"] == rating.rater for rating in ratings)
    assert len({rating.answers["slot"] for rating in ratings}) == len(ratings) == 210
    items = store.export_items()
    writers = {rewrite.id: (rewrite.model_extra or {}).get("writer") for rewrite in items}
    assert all(writers[rating.item] != rating.rater for rating in ratings)
    history = [entry for entry in store.export_history() if entry["counts"]]
    assert len(history) == 210 + 40
    kept = {(entry["person"], str(entry["slot"])) for entry in history}
    counted = {(person, slot) for person, slot, _, stored in said if stored == "counted"}
    assert counted <= kept
    store.close()


def test_faults_one_person_in_many_tabs_does_each_thing_once(store, make, sound) -> None:
    store.create(make.study(raters=2), make.rewrites(10))
    (ann,) = store.invite(1)

    def tab(_: int) -> None:
        while (task := store.next_task(ann.id)) is not None:
            store.submit(ann.id, task.slot, OK, 1.0)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(tab, range(6)))
    sound(store)
    assert len(store.export_ratings()) == len(store.export_history()) == 10


def test_faults_a_person_of_a_panel_who_arrives_many_times_at_once_is_one(store, make) -> None:
    store.create(make.study(panel=Panel()), make.rewrites(1))
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda _: store.person_by_panel({"PROLIFIC_PID": "5f"}).id, range(8))
    assert len(set(found)) == len(store.people()) == 1


@pytest.mark.slow
def test_faults_excluding_while_others_work_keeps_everything_sound(url, make, sound) -> None:
    store = Store.open(url)
    store.create(make.study(writers=1, raters=2), [*make.sources(15), *make.rewrites(10)])
    people = [person.id for person in store.invite(6, Role.BOTH)]
    errors: list[BaseException] = []

    def work(person: str) -> None:
        try:
            while (task := store.next_task(person)) is not None:
                store.submit(person, task.slot, {"rewrite": "One. Two.", **OK})
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for _ in range(3):
        for person in people[:2]:
            store.exclude(person)
            store.reinstate(person)
    store.exclude(people[0])
    for thread in threads:
        thread.join()
    for person in people[1:]:
        work(person)
    assert not errors
    sound(store)
    ratings = store.export_ratings()
    assert Counter(Counter(rating.item for rating in ratings).values()) == {2: 25}
    assert people[0] not in {rating.rater for rating in ratings}
    store.close()


@pytest.mark.slow
def test_faults_what_was_acknowledged_survives_kill_9(url, make, sound) -> None:
    store = Store.open(url)
    store.create(make.study(raters=5), make.rewrites(100))
    people = [person.id for person in store.invite(5)]
    said: list[list[str]] = []
    for deaths, moment in enumerate((25, 90, 160)):
        process = start(url, *people)
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.split())
            if len(said) >= moment:
                break
        os.kill(process.pid, signal.SIGKILL)
        *whole, _ = process.stdout.read().split("\n")  # the last line may be cut off
        said += [line.split() for line in whole]
        process.stdout.close()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()
        sound(store)
        assert len(said) < 500, f"it was done before it was killed the time {deaths + 1}"
        kept = {(entry["person"], str(entry["slot"])) for entry in store.export_history()}
        assert {(person, slot) for person, slot, *_ in said} <= kept
    start(url, *people).communicate(timeout=240)
    sound(store)
    ratings = store.export_ratings()
    assert len(ratings) == 500
    assert {(rating.item, rating.rater) for rating in ratings} == {
        (f"rewrite-{number}", person) for number in range(100) for person in people
    }
    assert all(rating.answers["by"] == rating.rater for rating in ratings)
    store.close()


@pytest.mark.slow
def test_faults_a_full_database_says_so_and_loses_nothing(make, tmp_path: Path, sound) -> None:
    path = tmp_path / "study.db"
    store = Store.open(str(path))
    store.create(make.study(raters=1), make.rewrites(300))
    (ann,) = store.invite(1)
    with store._database._engine.connect() as connection:
        raw = connection.connection.cursor()
        pages = raw.execute("PRAGMA page_count").fetchone()[0]
        raw.execute(f"PRAGMA max_page_count={pages + 8}")
    acknowledged = 0

    def work() -> None:
        nonlocal acknowledged
        while (task := store.next_task(ann.id)) is not None:
            store.submit(ann.id, task.slot, {"comment": "long " * 200})
            acknowledged += 1

    with pytest.raises(StoreError, match="is full; nothing acknowledged is lost"):
        work()
    assert acknowledged > 0
    assert len(store.export_ratings()) == acknowledged
    sound(store)
    store.close()
    with Store.open(str(path)) as store:  # there is space again
        while (task := store.next_task(ann.id)) is not None:
            store.submit(ann.id, task.slot, OK)
        assert len(store.export_ratings()) == 300
        sound(store)


_FULL = """
import resource, sys
from parataxis.studies.store import Store
from parataxis.studies.store.types import StoreError
store = Store.open(sys.argv[1])
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
done = 0
try:
    while (task := store.next_task(sys.argv[2])) is not None:
        store.submit(sys.argv[2], task.slot, {"comment": "long " * 200})
        done += 1
except StoreError as error:
    print(done, error)
"""


def test_faults_a_file_that_may_not_grow_says_so_and_loses_nothing(
    make, tmp_path: Path, sound
) -> None:
    path = tmp_path / "study.db"
    with Store.open(str(path)) as store:
        store.create(make.study(raters=1), make.rewrites(300))
        (ann,) = store.invite(1)
    limit = path.stat().st_size + 40_000
    assert limit < resource.RLIM_INFINITY or resource.RLIM_INFINITY < 0
    ran = subprocess.run(
        [sys.executable, "-c", _FULL, str(path), ann.id, str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    done, _, message = ran.stdout.partition(" ")
    assert int(done) > 0
    assert "nothing acknowledged is lost" in message
    assert "Traceback" not in ran.stderr
    with Store.open(str(path)) as store:
        assert len(store.export_ratings()) == int(done)
        sound(store)


def _end_connections(postgresql: str, name: str) -> None:
    address = postgresql.replace("postgresql:", "postgresql+psycopg:").format(name="postgres")
    engine = create_engine(address)
    with engine.connect() as connection:
        ended = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = :name"
        )
        assert connection.execute(text(ended), {"name": name}).scalar()
    engine.dispose()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_faults_a_lost_connection_is_made_again(store, make, url, postgresql) -> None:
    store.create(make.study(), make.rewrites(2))
    (ann,) = store.invite(1)
    name = url.partition("@/")[2].partition("?")[0]
    _end_connections(postgresql, name)
    task = store.next_task(ann.id)
    _end_connections(postgresql, name)
    assert store.progress(ann.id).done[ItemKind.RATE] == 0

    ends = iter([True])

    def check(task: Task) -> dict[str, Value]:
        if next(ends, False):  # in the middle of the transaction
            _end_connections(postgresql, name)
        return {"grammatical": 5}

    store.submit_and_take(ann.id, task.slot, check)
    assert [rating.item for rating in store.export_ratings()] == [task.item.id]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_faults_what_was_lost_while_it_was_committed_is_not_done_twice(
    store, make, url, postgresql
) -> None:
    store.create(make.study(), make.rewrites(2))
    name = url.partition("@/")[2].partition("?")[0]

    def end(_: object) -> None:
        _end_connections(postgresql, name)

    event.listen(store._database._engine, "commit", end, once=True)
    with pytest.raises(StoreError, match="cannot be used"):
        store.invite(3)
    assert store.people() == []  # it could as well be all three: that is why nobody tries again


def test_faults_threads_take_turns_in_the_order_in_which_they_came() -> None:
    turns, order = _FairLock(2), []
    turns.__enter__()
    turns.__enter__()

    def come(number: int) -> None:
        with turns:
            order.append(number)

    threads = [threading.Thread(target=come, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads):
        thread.start()
        while len(turns._queue) <= number:
            time.sleep(0.001)
    assert order == []
    turns.__exit__()
    for thread in threads:
        thread.join()
    assert order == list(range(8))
    turns.__exit__()
    assert turns._free == 2


def test_faults_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database at all, but rather a long text " * 50)
    with pytest.raises(ParataxisError, match="is not a database"):
        Store.open(str(text))
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipe (name TEXT)")
    with pytest.raises(InputError, match="does not hold a study"):
        Store.open(str(other))


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///:memory:", "mysql://a/b", "://", "/nowhere/at/all/study.db", "/"],
)
def test_faults_an_address_that_cannot_be_is_refused_in_one_sentence(url: str) -> None:
    with pytest.raises(ParataxisError) as caught:
        Store.open(url)
    assert str(caught.value).count("\n") == 0


def test_faults_a_server_that_is_away_is_said_without_the_password() -> None:
    with pytest.raises(StoreError) as caught:
        Store.open("postgresql://me:secret-word@localhost:1/study")
    assert "secret-word" not in str(caught.value)


def test_faults_the_file_is_for_its_owner_only(make, tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "study.db")) as store:
        store.create(make.study(), make.rewrites(1))
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_faults_a_study_is_created_once(store, make) -> None:
    with pytest.raises(InputError, match="no study yet"):
        store.invite(1)
    store.create(make.study(), make.rewrites(1))
    with pytest.raises(InputError, match="already"):
        store.create(make.study(), make.rewrites(1))
    with pytest.raises(InputError, match='"rewrite-0" already'):
        store.add_items(make.rewrites(1))
    store.add_items(make.rewrites(2, "more"))
    assert len(store.export_items()) == 3


def test_faults_a_changed_text_is_taken_over_but_nothing_that_decides_results(url, make) -> None:
    study, gms = make.study(raters=1), load_rubric("gms")
    with Store.open(url) as store:
        store.create(study, make.rewrites(1), gms)
        store.update(study.model_copy(update={"instructions": "Read.", "lease_minutes": 5}), gms)
        with pytest.raises(InputError, match=r'"rate.raters" was "1" when .*, and is "2" now'):
            store.update(make.study(raters=2), gms)
        with pytest.raises(InputError, match='"consent" was unset when'):
            store.update(study.model_copy(update={"consent": "Agreed?"}), gms)
        with pytest.raises(InputError, match='"write" is not what it was'):
            store.update(make.study(writers=2, raters=1), gms)
        with pytest.raises(InputError, match='The rubric "concise" is not the one'):
            store.update(study.model_copy(update={"rubric": "concise"}), load_rubric("concise"))
    with Store.open(url) as store:
        assert store.study == study.model_copy(update={"instructions": "Read.", "lease_minutes": 5})


@pytest.mark.parametrize(
    ("part", "added", "name"),
    [
        ("items", Path("items.jsonl"), "items"),
        ("qualification", {"training": "a.jsonl", "test": "b.jsonl"}, "qualification.test"),
        ("consent", {"en": "Agreed?", "es": "¿Acepta?"}, "consent.es"),
        ("background", [{**FIELD, "choices": {"law": "Law", "art": "Art"}}], "background.0.cho.*"),
    ],
)
def test_faults_what_is_added_later_is_refused_and_not_ignored(
    make, tmp_path: Path, part: str, added: object, name: str
) -> None:
    known = {"consent": {"en": "Agreed?"}, "background": [FIELD]}
    study = make.study(**known, qualification={"training": "a.jsonl"})
    now = Study.model_validate({**study.model_dump(mode="json"), part: added})
    gms = load_rubric("gms")
    with Store.open(str(tmp_path / "study.db")) as store:
        store.create(study, make.rewrites(1), gms)
        with pytest.raises(InputError, match=f'"{name}" was unset when the study was created'):
            store.update(now, gms)


def test_faults_a_failed_creation_leaves_nothing(store, make) -> None:
    with pytest.raises(InputError, match="already"):
        store.create(make.study(), [*make.rewrites(3), *make.rewrites(1)])
    assert not store.exists
    store.create(make.study(), make.rewrites(3))
    assert (
        store.submit((ann := store.invite(1)[0]).id, store.next_task(ann.id).slot, OK).state
        is SlotState.DONE
    )
