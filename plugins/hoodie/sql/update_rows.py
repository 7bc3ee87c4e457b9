"""Rows of the query of an UPDATE or MERGE become rows as they are written: what a clause sets, over what is there."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import SqlError
from hoodie.sql.assignment import converted

ACTION = "__hoodie_action"
"""The column of changed rows that marks deleted rows."""
INSERTED = "__hoodie_inserted"
"""The column of a merge's rows that says whether a row is to be new in the table. It is not written."""
CLAUSE = "__hoodie_clause"
"""The column of a merge's query with the number of the clause that is for a row."""


VALUE = "__hoodie_value_"
"""The names of `value_name` begin with it."""


def value_name(clause: int, column: int) -> str:
    """The column of a query with what a clause gives to a column of the table, by its number."""
    return f"{VALUE}{clause}_{column}"


@dataclass(frozen=True)
class Changes:
    """Changes of a statement to rows of a table: an UPDATE is one clause, a merge has several, some of which delete or insert.

    `keys` are the fields that name a row, with dots inside of structs."""

    table: str
    schema: pa.Schema
    keys: tuple[str, ...]
    deletes: tuple[int, ...] = ()
    inserts: tuple[int, ...] = ()
    merges: bool = False

    @property
    def result(self) -> pa.Schema:
        """The columns of changed rows: those of the table, and `ACTION` and `INSERTED` of a merge."""
        fields = [field.with_nullable(True) for field in self.schema]
        marks = [pa.field(ACTION, pa.bool_()), pa.field(INSERTED, pa.bool_())]
        return pa.schema([*fields, *marks] if self.merges else fields)


def changed(joined: pa.Table, changes: Changes) -> pa.Table:
    """The rows of a query of changes (`update_query`, `merge_query`) as they are written.

    Raises SqlError for a value that does not fit its column, and for a row that is there and would get another key.
    """
    if not changes.merges:
        return pa.table(_columns(joined, changes, 0), schema=changes.result)
    parts = [changes.result.empty_table()]
    for clause in sorted(pc.unique(joined[CLAUSE]).to_pylist()):
        rows = joined.filter(pc.equal(joined[CLAUSE], clause))
        marks = [pa.repeat(clause in kind, rows.num_rows) for kind in (changes.deletes, changes.inserts)]
        parts.append(pa.table([*_columns(rows, changes, clause), *marks], schema=changes.result))
    return pa.concat_tables(parts)


def _columns(rows: pa.Table, changes: Changes, clause: int) -> list[pa.ChunkedArray]:
    columns, new = [], clause in changes.inserts
    for number, field in enumerate(changes.schema):
        name = value_name(clause, number)
        if name in rows.column_names:
            column = converted(rows[name], field)
            keys = () if new else [key for key in changes.keys if key.partition(".")[0] == field.name]
            for key in keys:
                path = key.split(".")[1:]
                _refuse_moved(_inner(rows[field.name], path), _inner(column, path), key, changes.table)
            if field.name in keys:
                column = converted(rows[field.name], field)  # 0.0 equals -0.0, which is another key
        elif new:
            column = pa.nulls(rows.num_rows, field.type)
        else:
            column = converted(rows[field.name], field)
        columns.append(column)
    return columns


def _inner(values: pa.ChunkedArray, path: list[str]) -> pa.ChunkedArray:
    return pc.struct_field(values, path) if path else values


def _refuse_moved(stored: pa.ChunkedArray, assigned: pa.ChunkedArray, column: str, table: str) -> None:
    same = pc.fill_null(pc.equal(stored, assigned), False)
    place = pc.index(pc.or_(same, pc.and_(pc.is_null(stored), pc.is_null(assigned))), False).as_py()
    if place >= 0:
        raise SqlError(
            f"Column {column} is part of the keys of table {table}, which a row keeps",
            found=f"{stored[place].as_py()!r:.50} set to {assigned[place].as_py()!r:.50}",
            fix="delete the row, and insert one with the other key",
        )
