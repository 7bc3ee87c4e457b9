"""Airflow imports this module at its start, before it opens its database.

SQLite lets one transaction write at a time; another that wants to write waits for it (`timeout` in the address of the database),
but only with its first statement. One that has read already would have to write on what it read before the other's commit, and is
refused at once: "database is locked". Airflow opens such transactions by a savepoint (backfills do): they read, then write.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

__all__: list[str] = []  # nothing of this takes the place of a setting


@event.listens_for(Engine, "savepoint")
def write_from_the_start(connection: Connection, _name: Any) -> None:
    """A savepoint that would begin the transaction begins one that may write, and waits for its turn."""
    if connection.dialect.name == "sqlite" and not connection.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
        connection.exec_driver_sql("BEGIN IMMEDIATE")
