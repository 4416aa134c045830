"""The database of a study: people, tasks and answers. Needs the extra ``[study]``."""

from parataxis.errors import ParataxisError

try:
    import alembic  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise ParataxisError(
        "Studies need SQLAlchemy and Alembic; install them with: pip install 'parataxis[study]'."
    ) from error

from parataxis.studies.store.store import Store

__all__ = ["Store"]
