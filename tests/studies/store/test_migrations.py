"""Databases are made and upgraded by opening them, and refused when they are too new."""

import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from parataxis.studies.store import Store
from parataxis.studies.store import database as migrate
from parataxis.studies.store.database import VERSION_TABLE
from parataxis.studies.store.tables import METADATA
from parataxis.studies.store.types import StoreError


def test_migrations_make_the_tables_that_the_code_uses(store) -> None:
    def differences(connection):
        options = {"version_table": VERSION_TABLE, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        return compare_metadata(context, METADATA)

    assert store._database.read(differences) == []


def test_migrations_opening_again_changes_nothing(url, make) -> None:
    with Store.open(url) as store:
        store.create(make.study(), make.rewrites(2))
        study = store.study
    with Store.open(url) as store:
        assert store.study == study
        assert len(store.export_items()) == 2


def test_migrations_two_servers_may_start_at_once(url) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: Store.open(url), range(4)))
    for store in stores:
        assert not store.exists
        store.close()


def test_migrations_a_server_waits_for_one_that_makes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = Timer(0.3, other.rollback)
    timer.start()
    with Store.open(str(path)) as store:
        assert not store.exists
    timer.join()
    other.close()


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("person", sa.Column("shoe_size", sa.Integer()))
    if {fails}:
        op.execute("SELECT nothing FROM nowhere")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Changes what this program takes for its newest version."""

    def install(text: str) -> None:
        folder = tmp_path / "100% migrations"
        shutil.copytree(migrate._FOLDER, folder)
        (folder / "versions" / "r0003_next.py").write_text(text)
        monkeypatch.setattr(migrate, "_FOLDER", folder)

    return install


def columns(store: Store) -> set[str]:
    return store._database.read(
        lambda connection: {each["name"] for each in inspect(connection).get_columns("person")}
    )


def test_migrations_an_older_database_is_upgraded_with_all_it_holds(
    url, make, program, monkeypatch
) -> None:
    with Store.open(url) as store:
        store.create(make.study(), make.rewrites(2))
        (ann,) = store.invite(["Ann"])
        store.submit(ann.id, store.next_task(ann.id).slot, {"grammatical": 5})
    program(NEXT.format(fails=False))
    with Store.open(url) as store:
        assert "shoe_size" in columns(store)
        assert len(store.export_ratings()) == 1
    monkeypatch.undo()
    with pytest.raises(StoreError, match="newer version"):
        Store.open(url)


def test_migrations_one_that_fails_changes_nothing(url, make, program, monkeypatch) -> None:
    with Store.open(url) as store:
        store.create(make.study(), make.rewrites(2))
    program(NEXT.format(fails=True))
    with pytest.raises(StoreError):
        Store.open(url)
    monkeypatch.undo()
    with Store.open(url) as store:
        assert "shoe_size" not in columns(store)
        assert len(store.export_items()) == 2


def test_migrations_a_newer_database_is_refused(url, store) -> None:
    store._database.write(
        lambda connection: connection.execute(
            text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
        )
    )
    with pytest.raises(StoreError, match="newer version of Parataxis; update"):
        Store.open(url)


def test_migrations_a_study_of_the_first_version_goes_on(tmp_path: Path, sound) -> None:
    path = tmp_path / "old.db"
    dump = (Path(__file__).parent / "first_version.sql").read_text(encoding="utf-8")
    with sqlite3.connect(path) as old:
        old.executescript(dump)
    old.close()
    with Store.open(str(path)) as store:
        sound(store)
        people = {person.name: person.id for person in store.people()}
        held = store.next_task(people["Ann"])
        assert held.draft == {"grammaticality": 5, "meaning": 5, "simplicity": 2, "structural": 2}
        assert held.lease_until is not None
        assert len(store.submissions(people["Ann"])) == 2
        assert [each["slot"].isalnum() for each in store.export_history()] == [True] * 3
        store.submit(people["Ann"], held.slot, held.draft)
        store.reinstate(people["Bob"])
        # Wanda wrote a rewrite of the source of "s0" and "i0", so that she may rate neither.
        store._database.write(
            lambda connection: connection.execute(text("UPDATE person SET role = 'both'"))
        )
        found = set()
        while (task := store.next_task(people["Wanda"])) is not None:
            found.add(task.item.id)
            store.submit(people["Wanda"], task.slot, {"grammaticality": 5})
        assert "i1" in found
        assert "i0" not in found
        sound(store)
