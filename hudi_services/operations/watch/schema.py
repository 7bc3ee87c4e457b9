"""The tables of the snapshot store."""

from __future__ import annotations

import sqlalchemy as sa

VERSION = 2
"""The version of these tables. A store of another version is refused."""

METADATA = sa.MetaData()
ABOUT = sa.Table(
    "hudi_watch",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("round_at", sa.String(40)),
)
TABLES = sa.Table(
    "hudi_watch_tables",
    METADATA,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("base_path", sa.Text, nullable=False),
    sa.Column("floor", sa.String(40), nullable=False),
    sa.Column("marks", sa.String(64), nullable=False),
    sa.Column("again_at", sa.String(40)),
    sa.Column("archive", sa.Text, nullable=False),
    sa.Column("gone_at", sa.String(40)),  # since when the registry has it no more, or elsewhere
    sa.Column("summary", sa.Text),
    sa.Column("body", sa.Text),
)
EVENTS = sa.Table(
    "hudi_watch_events",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("instant", sa.String(40), nullable=False),
    sa.Column("action", sa.String(40), nullable=False),
    sa.Column("completed", sa.String(40), nullable=False),
    sa.Column("seen_at", sa.String(40), nullable=False),
    sa.Column("fresh", sa.Boolean, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    sa.UniqueConstraint("name", "instant", "action"),
    sqlite_autoincrement=True,  # else a number that was deleted is given again
)
