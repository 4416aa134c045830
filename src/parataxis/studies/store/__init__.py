"""The database of a study: who does what, and what they said.

Needs the extra ``[study]``.
"""

from parataxis.errors import ParataxisError

try:
    import alembic  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise ParataxisError(
        "Studies need SQLAlchemy and Alembic; install them with: pip install 'parataxis[study]'."
    ) from error

from parataxis.studies.store.store import Store
from parataxis.studies.store.types import (
    FLAG,
    REWRITE,
    Flag,
    Flagged,
    NotYoursError,
    Overview,
    Person,
    PersonOverview,
    PersonProgress,
    PersonState,
    PhaseOverview,
    Stage,
    Stored,
    StoreError,
    Submitted,
    Task,
    TaskItem,
    UndoError,
)

__all__ = [
    "FLAG",
    "REWRITE",
    "Flag",
    "Flagged",
    "NotYoursError",
    "Overview",
    "Person",
    "PersonOverview",
    "PersonProgress",
    "PersonState",
    "PhaseOverview",
    "Stage",
    "Store",
    "StoreError",
    "Stored",
    "Submitted",
    "Task",
    "TaskItem",
    "UndoError",
]
