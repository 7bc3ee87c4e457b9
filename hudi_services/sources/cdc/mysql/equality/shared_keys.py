"""Rows of tables that share keys (`global_keys`), compared with the one row of each key that the Hudi table has.

A row that moves is in two tables of the server for a time. The lake has that of the table which inserted it last. Rows alone do
not say which one that is. So a row whose key the lake has from another table is not compared, while that one has it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from hudi_services.sources.cdc.mysql.equality.comparison import ComparedRows
from hudi_services.sources.cdc.mysql.equality.row_difference import RowDifference, key_bytes, row_difference
from hudi_services.sources.cdc.mysql.equality.shards import rows_by_table
from hudi_services.sources.cdc.mysql.equality.spool import PARTS
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN, TableSource

_SOURCE = (DATABASE_COLUMN, TABLE_COLUMN)


@dataclass(frozen=True)
class OwnedRows:
    """Rows that can be compared, and those of the server that cannot, as the lake has their keys from another table."""

    server: pa.Table
    lake: pa.Table
    shared: pa.Table


def owned_rows(
    server: pa.Table, lake: pa.Table, key: tuple[str, ...], compared: pa.Array, unread: pa.Array
) -> OwnedRows:
    """Divide the rows of some keys. `compared` are tables of the server by `table_names`, `unread` those with other rows there.

    Rows of the lake that are of neither count only where the server has their key.
    """
    server_keys, lake_keys = key_bytes(server, key), key_bytes(lake, key)
    server_rows, lake_rows = (key_bytes(rows, (*key, *_SOURCE)) for rows in (server, lake))
    names = table_names(lake)
    is_unread = pc.is_in(names, value_set=unread)
    has_owner = pc.or_(pc.is_in(lake_rows, value_set=server_rows), is_unread)
    owns = pc.is_in(server_rows, value_set=lake_rows)
    shared = pc.and_(pc.invert(owns), pc.is_in(server_keys, value_set=lake_keys.filter(has_owner)))
    kept = pc.and_(pc.or_(owns, _is_first(server_keys)), pc.invert(shared))
    counts = pc.or_(pc.is_in(names, value_set=compared), pc.is_in(lake_keys, value_set=server_keys))
    of_lake = lake.filter(pc.and_(counts, pc.invert(is_unread)))
    return OwnedRows(server.filter(kept), of_lake, server.filter(pc.invert(kept)))


def table_names(rows: pa.Table) -> pa.Array:
    """Return the table that each row is of, as bytes."""
    return key_bytes(rows, _SOURCE)


def names_of(sources: Iterable[TableSource]) -> pa.Array:
    """Return the names of tables as `table_names` has them."""
    pairs = [(source.database, source.name) for source in sources]
    columns = zip(*pairs, strict=True) if pairs else ((), ())
    return table_names(pa.table([pa.array(values, pa.string()) for values in columns], list(_SOURCE)))


def _is_first(keys: pa.Array) -> pa.Array:
    return pc.equal(pc.index_in(keys, value_set=keys), pa.array(range(len(keys)), pa.int32()))


@dataclass(frozen=True)
class SharedKeyRows(ComparedRows):
    """Rows of both sides, where tables share keys. `compared` and `unread` are those of `owned_rows`."""

    compared: pa.Array = field(default_factory=lambda: pa.array([], pa.binary()))
    unread: pa.Array = field(default_factory=lambda: pa.array([], pa.binary()))

    def differences(self) -> Iterator[RowDifference]:
        """Yield the differences of rows that can be compared, part by part."""
        for rows in self._parts():
            difference = row_difference(rows.server, rows.lake, self.key)
            if difference.count:
                yield difference

    def shared(self) -> Counter[str]:
        """Return how many rows of each table of the server are not compared."""
        return sum((rows_by_table(rows.shared) for rows in self._parts()), Counter())

    def _parts(self) -> Iterator[OwnedRows]:
        for number in range(PARTS):
            server, lake = self.server.part(number), self.lake.part(number)
            yield owned_rows(server, lake, self.key, self.compared, self.unread)
