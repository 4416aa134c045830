"""What Alembic runs: the migrations, within the transaction of the caller."""

from alembic import context

context.configure(**context.config.attributes, transactional_ddl=True)
context.run_migrations()
