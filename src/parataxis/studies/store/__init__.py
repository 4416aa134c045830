"""The database of a study: people, tasks and answers. Needs the extra ``[study]``."""

from parataxis.errors import needs

with needs("Studies need SQLAlchemy and Alembic", "study"):
    from parataxis.studies.store.store import FILES, Store, export_file, export_zip

__all__ = ["FILES", "Store", "export_file", "export_zip"]
