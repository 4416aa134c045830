"""The first version. New databases are created from the tables of the code, at the newest version
(see :func:`parataxis.studies.store.database.migrate`), so that there is nothing to do here."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing comes before this version."""
