"""Changes of rows, collected from ROWS events into Arrow tables, one for each shape of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.decoding import Decoding
from hudi_services.sources.cdc.mysql.binlog.events import DELETES, INSERTS, Event, Kind, RowsHeader, rows_header
from hudi_services.sources.cdc.mysql.binlog.images import Images
from hudi_services.sources.cdc.mysql.binlog.table_map import LoggedColumn, TableMap, table_map, table_name
from hudi_services.sources.cdc.mysql.binlog.values import Charsets, column_type, column_values

INSERT, UPDATE, DELETE = "i", "u", "d"
_TABLES = 10_000  # whose columns are kept: each statement names its tables again


@dataclass(frozen=True)
class Shape:
    """A table with the columns that it had at some time."""

    database: str
    table: str
    columns: tuple[LoggedColumn, ...]

    def __hash__(self) -> int:
        return hash((self.database, self.table))  # it is asked for each event, and columns are many

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column_type(column)) for column in self.columns])


@dataclass
class _Collected:
    """Images of one shape. `ops` has a letter for each change, rows of `before` and `after` follow their own order."""

    before: Images
    after: Images
    ops: list[str] = field(default_factory=list)
    order: list[int] = field(default_factory=list)


class ChangeCollector:
    """Collects the rows of events until they are taken as Arrow tables.

    A table of changes has the columns `op` (i, u, d), `number` (int64: its place among all changes, from 0 on),
    `before` and `after` (structs of the table's columns, null where there is no such image).
    """

    def __init__(self, charsets: Charsets, *, mariadb: bool, decoding: Decoding) -> None:
        self._charsets = charsets
        self._decoding = decoding
        self._mariadb = mariadb
        self._number = 0
        self._names: dict[int, tuple[str, str]] = {}
        self._tables: dict[int, TableMap] = {}
        self._collected: dict[Shape, _Collected] = {}
        self._decoded: dict[bytes, TableMap] = {}

    def name_of(self, logged: Event) -> tuple[str, str]:
        """Return the database and the table of a TABLE_MAP or ROWS event. Raises ValueError for rows of an unknown table."""
        if logged.kind is Kind.TABLE_MAP:
            number, *name = table_name(logged.body)
            self._names[number] = (name[0], name[1])
            return self._names[number]
        number = int.from_bytes(logged.body[:6], "little")
        if number not in self._names:
            raise ValueError(f"rows of the table number {number}, which no TABLE_MAP event named")
        return self._names[number]

    def add(self, logged: Event) -> None:
        """Note the columns of a table (TABLE_MAP), or collect rows of one.

        Raises ValueError where the server does not log the names of columns, for types that are unknown, images without all
        columns, cut-off rows.
        """
        if logged.kind is Kind.PARTIAL_UPDATE_ROWS:
            raise ValueError("changes inside JSON documents: the server needs an empty binlog_row_value_options")
        if logged.kind is Kind.TABLE_MAP:
            self._map(logged.body)
        else:
            self._collect(logged)

    def _map(self, body: bytes) -> None:
        table = self._decoded.get(body)
        if table is None:
            table = self._decoding.table(table_map(body, self._mariadb))
            if len(self._decoded) == _TABLES:
                self._decoded.clear()
            self._decoded[body] = table
        if not all(column.name for column in table.columns):
            raise ValueError(
                f"the table {table.database}.{table.table} without names of columns: the server needs binlog_row_metadata=FULL"
            )
        self._tables[table.number] = table

    def _collect(self, event: Event) -> None:
        header = rows_header(event)
        table = self._tables[header.table]
        shape = Shape(table.database, table.table, table.columns)
        _check_full(event, header, shape)
        collected = self._collected.get(shape)
        if collected is None:
            places = range(len(shape.columns))
            collected = self._collected[shape] = _Collected(
                Images(shape.columns, places), Images(shape.columns, places)
            )
        op = INSERT if event.kind in INSERTS else DELETE if event.kind in DELETES else UPDATE
        images, place, end, number = header.images, 0, len(header.images), self._number
        steps = [
            images_of.step
            for images_of, have in ((collected.before, op != INSERT), (collected.after, op != DELETE))
            if have
        ]
        while place < end:
            for step in steps:
                place = step(images, place)
            collected.order.append(number)
            number += 1
        collected.ops.extend(op * (number - self._number))
        self._number = number

    def clear(self) -> None:
        """Forget all rows that were not taken."""
        self._collected.clear()

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of tables that have changes, in the order of the log."""
        return tuple(self._collected)

    def take(self, shape: Shape) -> pa.Table:
        """Return the changes of a shape, and forget them. Raises ValueError for a wrong value."""
        changes = self._collected.pop(shape)
        return pa.table(
            {
                "op": pa.array(changes.ops, pa.string()),
                "number": pa.array(changes.order, pa.int64()),
                "before": _images(shape, changes.before, changes.ops, INSERT, self._charsets),
                "after": _images(shape, changes.after, changes.ops, DELETE, self._charsets),
            }
        )


def _check_full(event: Event, header: RowsHeader, shape: Shape) -> None:
    images = [header.before] * (event.kind not in INSERTS) + [header.after] * (event.kind not in DELETES)
    for present in images:
        if len(present) != len(shape.columns):
            raise ValueError(
                f"rows of {shape.database}.{shape.table} with {len(present)} of {len(shape.columns)} columns: "
                "the server needs binlog_row_image=FULL"
            )


def _images(shape: Shape, images: Images, ops: Sequence[str], without: str, charsets: Charsets) -> pa.StructArray:
    """The images as structs, one for each change, null for changes of the kind that is `without` them."""
    columns = image_columns(shape, images, charsets)
    fields = list(shape.schema)
    if images.count == len(ops):
        return pa.StructArray.from_arrays(columns, fields=fields)
    has = np.array(ops) != without
    rows = pa.array(np.cumsum(has) - 1, mask=~has)
    return pa.StructArray.from_arrays([column.take(rows) for column in columns], fields=fields, mask=pa.array(~has))


def image_columns(shape: Shape, images: Images, charsets: Charsets) -> list[pa.Array]:
    """Return the values of all images by column, in the order in which they were cut."""
    groups = list(images.groups())
    order = np.argsort(np.concatenate([np.array(rows, np.int64) for rows, _ in groups])) if len(groups) > 1 else None
    columns = []
    for place, column in enumerate(shape.columns):
        parts = []
        for rows, values in groups:
            raw = values(place)
            kind = column_type(column)
            parts.append(pa.nulls(len(rows), kind) if raw is None else column_values(column, raw, charsets))
        joined = pa.concat_arrays(parts) if parts else pa.nulls(0, column_type(column))
        columns.append(joined if order is None else joined.take(pa.array(order)))
    return columns
