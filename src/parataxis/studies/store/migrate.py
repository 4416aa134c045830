"""Bringing a database to the version of this program: made, upgraded, or refused."""

from pathlib import Path

from alembic.command import upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from parataxis.errors import InputError
from parataxis.studies.store.database import Database
from parataxis.studies.store.types import StoreError

__all__ = ["VERSION_TABLE", "migrate"]

VERSION_TABLE = "parataxis_version"

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x7061726174  # any number that nobody else locks


def migrate(database: Database) -> None:
    """Make the tables, or change them to what this version needs; all of it or nothing."""
    config = _config()
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    head = scripts.get_current_head()

    def work(connection: Connection) -> None:
        if not database.is_sqlite:  # two servers may start at once
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        current = _current(connection)
        if current == head:
            return
        if current is not None and current not in known:
            raise StoreError(
                f"The database {database.name} was made by a newer version of Parataxis; "
                "update Parataxis to use it."
            )
        if current is None and inspect(connection).get_table_names():
            raise InputError(f"The database {database.name} holds something else than a study.")
        config.attributes.update(connection=connection, version_table=VERSION_TABLE)
        upgrade(config, "head")

    # A look costs nothing and locks nobody out.
    if database.read(_current) != head:
        database.write(work)


def _config() -> Config:
    config = Config()
    folder = str(_FOLDER).replace("%", "%%")  # the option is a template
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "os")
    return config


def _current(connection: Connection) -> str | None:
    options = {"version_table": VERSION_TABLE}
    return MigrationContext.configure(connection, opts=options).get_current_revision()
