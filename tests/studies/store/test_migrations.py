"""Databases are made and upgraded by opening them, and refused when they are too new."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from parataxis.studies.store import Store, StoreError
from parataxis.studies.store.migrate import VERSION_TABLE
from parataxis.studies.store.tables import METADATA


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


def test_migrations_a_newer_database_is_refused(url, store) -> None:
    store._database.write(
        lambda connection: connection.execute(
            text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
        )
    )
    with pytest.raises(StoreError, match="newer version of Parataxis; update"):
        Store.open(url)
