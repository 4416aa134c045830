"""The first version."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=32), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("language", sa.String(length=16), nullable=True),
        sa.Column("panel_id", sa.Text(), nullable=True),
        sa.Column("panel", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("background", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("invited_at", sa.BigInteger(), nullable=False),
        sa.Column("consented_at", sa.BigInteger(), nullable=True),
        sa.Column("seen_at", sa.BigInteger(), nullable=True),
        sa.Column("qualified", sa.Boolean(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("code"),
        sa.UniqueConstraint("panel_id"),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("what", sa.String(length=16), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("event_person", "event", ["person_id", "id"], unique=False)
    op.create_table(
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("rewrite", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("expected", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("feedback", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("writer_id", sa.Integer(), nullable=True),
        sa.Column("slot_id", sa.Integer(), nullable=True),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["writer_id"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key"),
    )
    op.create_index("item_purpose", "item", ["purpose", "id"], unique=False)
    op.create_index("item_slot", "item", ["slot_id"], unique=False)
    op.create_index("item_writer", "item", ["writer_id"], unique=False)
    op.create_table(
        "slot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("writer_id", sa.Integer(), nullable=True),
        sa.Column("leased_at", sa.BigInteger(), nullable=True),
        sa.Column("leased_until", sa.BigInteger(), nullable=True),
        sa.Column("draft", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("answer_id", sa.Integer(), nullable=True),
        sa.Column("submitted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["item.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_id", "person_id", "attempt", name="slot_once"),
    )
    op.create_index(
        "slot_leased",
        "slot",
        ["leased_until"],
        unique=False,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_index(
        "slot_open",
        "slot",
        ["kind", "rank", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index("slot_person", "slot", ["person_id", "state", "kind", "purpose"], unique=False)
    op.create_index(
        "slot_place",
        "slot",
        ["item_id", "kind", "place"],
        unique=True,
        sqlite_where=sa.text("state IN ('open', 'leased', 'done')"),
        postgresql_where=sa.text("state IN ('open', 'leased', 'done')"),
    )
    op.create_index("slot_writer", "slot", ["writer_id"], unique=False)
    op.create_table(
        "answer",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(length=8), nullable=False),
        sa.Column("answers", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["slot_id"],
            ["slot.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("answer_at", "answer", ["at"], unique=False)
    op.create_index("answer_person", "answer", ["person_id", "id"], unique=False)
    op.create_index("answer_slot", "answer", ["slot_id", "id"], unique=False)
