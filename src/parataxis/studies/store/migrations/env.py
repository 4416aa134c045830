"""What Alembic runs: the migrations, within the transaction of the caller."""

from alembic import context

from parataxis.studies.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=context.config.attributes["version_table"],
    transactional_ddl=True,
)
context.run_migrations()
