"""Opaque ids of tasks, sources in common, qualified writers, bonuses, and digests of files."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from parataxis.studies.store.slots import hash_of, new_code

revision = "0002"
down_revision = "0001"

_COLUMNS: dict[str, list[sa.Column[Any]]] = {
    "study": [sa.Column("files", sa.JSON(none_as_null=True))],
    "person": [sa.Column("may_write", sa.Boolean()), sa.Column("write_attempt", sa.Integer())],
    "item": [sa.Column("hard", sa.Boolean())],
    "slot": [sa.Column("code", sa.String(16)), sa.Column("source_hash", sa.BigInteger())],
}


def upgrade() -> None:
    """Add the columns, and fill in those of slots."""
    for table, columns in _COLUMNS.items():
        for column in columns:
            op.add_column(table, column)
    connection = op.get_bind()
    item = sa.table("item", sa.column("id"), sa.column("source"))
    slot = sa.table("slot", *map(sa.column, ("id", "item_id", "person_id", "code", "source_hash")))
    for row in connection.execute(sa.select(item.c.id, item.c.source)).all():
        values = {"source_hash": hash_of(row.source)}
        connection.execute(sa.update(slot).where(slot.c.item_id == row.id).values(**values))
    given = sa.select(slot.c.id).where(slot.c.person_id.is_not(None))
    for row in connection.execute(given).all():
        changed = sa.update(slot).where(slot.c.id == row.id)
        connection.execute(changed.values(code=new_code()))
    op.create_index("slot_code", "slot", ["code"], unique=True)
    op.create_index("slot_source", "slot", ["person_id", "source_hash"])
