"""The tables at the server: `benchmark1` with tables that stay apart, and `benchmark2` with the shards of one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pymysql

DATABASE, SHARDED = "benchmark1", "benchmark2"
_CREATE = (
    "CREATE TABLE {name} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, "
    "pad CHAR(60) NOT NULL, KEY by_k (k))"
)
_FILL = (
    "INSERT INTO {name} SELECT seq, seq * 7919 % 100003, CONCAT(MD5(seq), MD5(seq + {seed}), MD5(seq * 3)), MD5(seq + 1) "
    "FROM {database}.seq_1_to_{rows}"
)


@dataclass(frozen=True)
class Source:
    """The table `name` of `database` at the server."""

    database: str
    name: str

    @property
    def full(self) -> str:
        """The name with that of the database."""
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class Sources:
    """All tables: one of eleven is alone, the others are shards."""

    alone: tuple[Source, ...]
    shards: tuple[Source, ...]

    @classmethod
    def of(cls, tables: int) -> Sources:
        """Return the names of `tables` tables: those of both databases together, at least one in either."""
        alone = max(1, tables // 11)
        return cls(
            tuple(Source(DATABASE, f"sbtest{number}") for number in range(1, alone + 1)),
            tuple(Source(SHARDED, f"sbtest{number}") for number in range(1, tables - alone + 1)),
        )

    @property
    def all(self) -> tuple[Source, ...]:
        return (*self.alone, *self.shards)

    def create(self, connection: pymysql.connections.Connection[Any], rows: int) -> None:
        """Create the databases and tables, with `rows` rows in each table."""
        with connection.cursor() as cursor:
            for database in (DATABASE, SHARDED):
                cursor.execute(f"CREATE DATABASE {database}")
            for seed, source in enumerate(self.all):
                cursor.execute(_CREATE.format(name=source.full))
                cursor.execute(_FILL.format(name=source.full, database=source.database, rows=rows, seed=seed))
