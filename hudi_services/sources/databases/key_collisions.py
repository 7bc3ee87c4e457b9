"""Keys that several shards of one Hudi table have, though its rule says that keys are global: their load would stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hudi_services.sources.cdc.mysql.catalog import CatalogTable
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.facts import quoted
from hudi_services.sources.cdc.requirement import Requirement
from hudi_services.sources.databases.plan import DatabasePlan

if TYPE_CHECKING:
    from pymysql.connections import Connection

_PAIRS = 200  # the most pairs of tables, each compared by one query on their indexes
_ROWS = 5_000_000  # the most rows of the smaller tables, all pairs together


@dataclass(frozen=True)
class _Shard:
    table: CatalogTable
    low: Any
    high: Any

    def meets(self, other: _Shard) -> bool:
        """True unless their ranges of numbers are apart. The server orders text by its own rules."""
        bounds = (self.low, self.high, other.low, other.high)
        if None in bounds:
            return False  # a table without rows
        if not all(isinstance(bound, int) for bound in bounds):
            return True
        return bool(self.low <= other.high and other.low <= self.high)


def shared_keys(connection: Connection[Any], plan: DatabasePlan) -> Iterator[Requirement]:
    """Yield what is wrong with the keys of tables that are new in routes with global keys.

    The ranges of keys decide which tables may have the same ones. Those are compared, up to a number of rows.
    """
    for route in plan.routes:
        if (
            route.rule.merge
            and route.rule.global_keys
            and any(table.full_name in plan.added for table in route.sources)
        ):
            yield from _of_route(connection, route.sources, plan.added)


def _of_route(
    connection: Connection[Any], tables: Sequence[CatalogTable], added: frozenset[str]
) -> Iterator[Requirement]:
    shards = [_shard(connection, table) for table in tables if table.key]
    pairs = [
        (one.table, other.table)
        for place, one in enumerate(shards)
        for other in shards[place + 1 :]
        if added & {one.table.full_name, other.table.full_name} and one.meets(other)
    ]
    rows = 0
    for number, (one, other) in enumerate(pairs):
        rows += min(one.rows, other.rows)
        if number >= _PAIRS or rows > _ROWS:
            yield Requirement(
                f"keys of {one.full_name} and other shards",
                "warning",
                f"{len(pairs) - number:,} pairs of tables may have the same keys, and were not compared",
                "leave out global_keys, so that database and table are parts of the key, unless each row has a key of its own",
            )
            return
        if (key := _common_key(connection, one, other)) is not None:
            yield Requirement(
                f"keys of {one.full_name} and {other.full_name}",
                "missing",
                f"both have a row of {key}, and keys are said to be global",
                "leave out global_keys, so that database and table are parts of the key",
            )


def _shard(connection: Connection[Any], table: CatalogTable) -> _Shard:
    first = quoted(table.key[0])
    [[low, high]] = rows_of(connection, f"SELECT MIN({first}), MAX({first}) FROM {_name(table)}")
    return _Shard(table, low, high)


def _common_key(connection: Connection[Any], one: CatalogTable, other: CatalogTable) -> str | None:
    """A key that both tables have, None without any."""
    few, many = (one, other) if one.rows <= other.rows else (other, one)
    same = " AND ".join(f"a.{quoted(name)} = b.{quoted(name)}" for name in few.key)
    columns = ", ".join(f"a.{quoted(name)}" for name in few.key)
    rows = rows_of(connection, f"SELECT {columns} FROM {_name(few)} a JOIN {_name(many)} b ON {same} LIMIT 1")
    return ", ".join(f"{name}={value}" for name, value in zip(few.key, rows[0], strict=True)) if rows else None


def _name(table: CatalogTable) -> str:
    return f"{quoted(table.database)}.{quoted(table.name)}"
