"""DESCRIBE: the columns of a table or query, what is known of a table, a column, a database, and the history of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa
from sqlglot import exp

from hoodie.errors import SqlError
from hoodie.schema.comments import comment_of
from hoodie.sql.catalog import Entry
from hoodie.sql.names import checked_name
from hoodie.sql.parse import DESCRIBE_COLUMN, Statement
from hoodie.sql.result import Result
from hoodie.sql.session import Session
from hoodie.sql.show_create import table_properties
from hoodie.sql.types import simple_type
from hoodie.table import HoodieTable
from hoodie.timeline import parse_time

_COLUMNS = ("col_name", "data_type", "comment")
_HISTORY = pa.schema(
    {
        "version": pa.string(),
        "timestamp": pa.timestamp("us", "UTC"),
        "action": pa.string(),
        "operation": pa.string(),
        "rows_inserted": pa.int64(),
        "rows_updated": pa.int64(),
        "rows_deleted": pa.int64(),
        "bytes_written": pa.int64(),
    }
)
_Row = tuple[str | None, str | None, str | None]


def describe(session: Session, statement: Statement) -> Result | None:
    """None where the statement is about nothing of the catalog's. Raises SqlError."""
    tree, style = statement.tree, str(statement.tree.args.get("style") or "").upper()
    if isinstance(tree.this, exp.Query):
        return _texts(map(_column, session.rows(exp.select("*").from_(tree.this.subquery("q")).limit(0)).schema))
    if str(tree.args.get("kind") or "").upper() in ("DATABASE", "SCHEMA", "NAMESPACE"):
        return _database(session, tree.this.name)
    if not isinstance(tree.this, exp.Table) or session.is_of_engine(tree.this):
        return None
    if tree.args.get("partition") is not None:
        raise SqlError("A partition has no description of its own", fix=f"SHOW PARTITIONS {tree.this.name}")
    entry = session.entry(tree.this)
    table = session.open(entry)
    if style == "HISTORY":
        return Result(_history(table))
    rows = [*map(_column, table.schema), *_partitions(table)]
    return _texts([*rows, *_details(entry, table)] if style in ("EXTENDED", "FORMATTED") else rows)


def describe_column(session: Session, text: str) -> Result | None:
    """DESCRIBE of one column of a table; None where no table of the catalog is meant. Raises SqlError."""
    match = DESCRIBE_COLUMN.fullmatch(text.strip())
    if match is None:
        return None
    node = exp.to_table(match["table"], dialect="spark")
    if session.is_of_engine(node):
        return None
    column = re.sub("^`|`$", "", match["column"])
    schema = session.open(session.entry(node)).schema
    for field in schema:
        if field.name.lower() == column.lower():
            pairs = zip(_COLUMNS, _column(field), strict=True)
            return _pairs([(name, "NULL" if value is None else value) for name, value in pairs])
    raise SqlError(f"Table {node.name} has no column {column}", found=", ".join(schema.names), fix="correct the name")


def _column(field: pa.Field) -> _Row:
    return field.name, simple_type(field.type), comment_of(field)


def _partitions(table: HoodieTable) -> Iterator[_Row]:
    fields = table.properties.partition_fields
    if fields:
        yield "# Partition Information", "", ""
        yield "# col_name", "data_type", "comment"
        columns = {field.name.lower(): field for field in table.schema}
        yield from (_column(columns[name.lower()]) for name in fields if name.lower() in columns)


def _details(entry: Entry, table: HoodieTable) -> Iterator[_Row]:
    properties = ", ".join(f"{name}={value}" for name, value in table_properties(entry, table).items())
    yield "", "", ""
    yield "# Detailed Table Information", "", ""
    yield "Database", entry.name.database, ""
    yield "Table", entry.name.name, ""
    yield "Type", "MANAGED" if entry.managed else "EXTERNAL", ""
    yield "Provider", "hudi", ""
    if entry.comment is not None:
        yield "Comment", entry.comment, ""
    yield "Table Properties", f"[{properties}]", ""
    yield "Location", entry.location, ""
    yield "Table Version", str(table.version), ""


def _history(table: HoodieTable) -> pa.Table:
    """The completed commits that are not archived, the newest first: each is a version that a query can go back to."""
    state, rows = table.state(), list[tuple[object, ...]]()
    for instant in reversed(state.timeline.commits):
        body = state.commit_metadata(instant)
        ended = parse_time(instant.completion_time or instant.time, state.zone)
        counts = (0, 0, 0)
        if not body.moves_rows:
            counts = tuple(sum(getattr(stat, f"num_{kind}") for stat in body.stats) for kind in _CHANGES)
        rows.append((str(instant.time), ended, str(instant.action), body.operation, *counts, body.bytes_written))
    columns = list(zip(*rows, strict=True)) or [()] * len(_HISTORY)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, _HISTORY, strict=True)], schema=_HISTORY)


_CHANGES = ("inserts", "updates", "deletes")


def _database(session: Session, name: str) -> Result:
    database = checked_name(name, "database")
    databases = session.catalog.databases()
    if database not in databases:
        raise SqlError(f"There is no database {database}", found=", ".join(databases), fix="SHOW DATABASES")
    return _pairs([("Namespace Name", database), ("Location", session.catalog.place_of(database))])


def _pairs(rows: list[tuple[str, str]]) -> Result:
    names, values = zip(*rows, strict=True)
    return Result(pa.table({"info_name": pa.array(names, pa.string()), "info_value": pa.array(values, pa.string())}))


def _texts(rows: Iterator[_Row] | list[_Row] | map[_Row]) -> Result:
    columns = zip(*rows, strict=True)
    return Result(pa.table({name: pa.array(cells, pa.string()) for name, cells in zip(_COLUMNS, columns, strict=True)}))
