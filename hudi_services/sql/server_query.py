"""The rows and columns of a server's table that a query needs. It then runs on them as a whole, with all its conditions.

So the server may leave out a row only where the query would, for any of its other parts: where a WHERE of the query has
comparisons of the table's columns with literals that are false or unknown there, too. The server may let others pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
from sqlglot import exp

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.values import column_type
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.facts import quoted

_INTEGERS = (Code.TINY, Code.SHORT, Code.INT24, Code.LONG, Code.LONGLONG)
_OPERATORS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_OPPOSITES = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT}
_DIGITS = 15
"""Decimals of 15 digits also differ as floating point numbers, as which an engine may compare them."""
_INTEGER = re.compile(r"\d{1,18}")
_DECIMAL = re.compile(r"(?=[\d.]{1,16}$)\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")
_TIMES = (
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPLTZ,
    exp.DataType.Type.TIMESTAMPNTZ,
    exp.DataType.Type.TIMESTAMPTZ,
)
_MARGIN = timedelta(days=1)
"""No zone is further from UTC. So the zone in which an engine reads a literal does not matter, nor if it compares texts."""
_TEXT = re.compile(r"[A-Za-z0-9 _.,:;/@+-]+")
"""Texts that are the same in each character set and each mode of SQL. They are equal to themselves in each collation."""


@dataclass(frozen=True)
class ServerQuery:
    """The columns of a table that a query needs (none: it only counts rows), and a condition of the server (empty: all rows)."""

    columns: tuple[LoggedColumn, ...]
    condition: str

    def narrowed(self, table: DeclaredTable) -> DeclaredTable:
        """Return the table with the columns that are read. Rows have one at least."""
        return replace(table, columns=self.columns or table.columns[:1])


def server_query(query: exp.Query, table: exp.Table, declared: DeclaredTable) -> ServerQuery:
    """Return what `query` needs of `table`, a table in it that the server has as `declared`."""
    return ServerQuery(tuple(_needed(query, declared)), _condition(query, table, declared))


def _needed(query: exp.Query, declared: DeclaredTable) -> Iterator[LoggedColumn]:
    """The columns whose name is anywhere in the query, as the name of anything."""
    names = {identifier.name.lower() for identifier in query.find_all(exp.Identifier)}
    if _names_none(query):
        names = {column.name.lower() for column in declared.columns}
    yield from (column for column in declared.columns if column.name.lower() in names)


def _names_none(query: exp.Query) -> bool:
    """True if the query has columns that it does not name: by `*`, by the name of a table, or by what tables share."""
    tables = {table.alias_or_name.lower() for table in query.find_all(exp.Table, exp.Subquery, exp.CTE)}
    return (
        any(not isinstance(star.parent, exp.Count) for star in query.find_all(exp.Star))
        or any(not column.table and column.name.lower() in tables for column in query.find_all(exp.Column))
        or any(join.method for join in query.find_all(exp.Join))
        or next(query.find_all(exp.Pivot, exp.Columns, exp.Anonymous, exp.Lateral), None) is not None
    )


def _condition(query: exp.Query, table: exp.Table, declared: DeclaredTable) -> str:
    select = _select_of(table)
    where = select.args.get("where") if select is not None else None
    if select is None or where is None or query.find(exp.TableSample) is not None:
        return ""
    is_alone = not select.args.get("joins") and not select.args.get("laterals")
    columns = {column.name.lower(): column for column in declared.columns}
    comparisons = _Comparisons(table.alias_or_name, is_alone, columns)
    return _text(where.this, comparisons, negated=False)


def _select_of(table: exp.Table) -> exp.Select | None:
    """The SELECT each of whose rows is made of one row of the table. None: no other part of the tree is known to be that."""
    if any(table.args.get(name) for name in ("joins", "laterals", "pivots", "when", "version")):
        return None
    parent = table.parent
    select = parent.parent if isinstance(parent, exp.From | exp.Join) else None
    if not isinstance(select, exp.Select):
        return None
    joins = select.args.get("joins") or []
    if any(join.side not in ("", "LEFT") or join.method for join in joins):
        return None
    is_whole = isinstance(parent, exp.From) or (
        isinstance(parent, exp.Join) and not parent.side and parent.kind in ("", "INNER", "CROSS")
    )
    return select if is_whole else None


def _text(node: Any, comparisons: _Comparisons, *, negated: bool) -> str:
    """A condition of the server that is true where `node` is, or, `negated`, where it is false. Empty: there is none."""
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if not isinstance(node, exp.And | exp.Or):
        return comparisons.text(node, negated=negated)
    parts = [_text(part, comparisons, negated=negated) for part in (node.this, node.expression)]
    if isinstance(node, exp.And) is not negated:
        return " AND ".join(filter(None, parts))
    return f"({' OR '.join(parts)})" if all(parts) else ""


@dataclass(frozen=True)
class _Comparisons:
    """Comparisons of the columns of one table, which `name` names. `is_alone`: names of columns without a table are its own."""

    name: str
    is_alone: bool
    columns: dict[str, LoggedColumn]

    def text(self, node: Any, *, negated: bool) -> str:
        """A condition of the server that is true where a comparison is, or, `negated`, is false. Empty: there is none."""
        column = self._column(node.this) if isinstance(node, exp.Binary | exp.In | exp.Between | exp.Is) else None
        if column is None:
            return ""
        if isinstance(node, exp.Is):
            return _null(column, node, negated=negated)
        if type(node) in _OPERATORS:
            kind = _OPPOSITES[type(node)] if negated else type(node)
            if _is_time(column):
                return _around(column, kind, node.expression)
            value = _value(column, node.expression, is_equality=kind is exp.EQ)
            return f"{quoted(column.name)} {_OPERATORS[kind]} {value}" if value else ""
        is_not = "NOT " if negated else ""
        if isinstance(node, exp.In) and node.expressions:
            if _is_time(column):
                parts = [_around(column, exp.EQ, one) for one in node.expressions]
                return f"({' OR '.join(parts)})" if all(parts) and not negated else ""
            values = [_value(column, one, is_equality=not negated) for one in node.expressions]
            return f"{quoted(column.name)} {is_not}IN ({', '.join(values)})" if all(values) else ""
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            low, high = node.args["low"], node.args["high"]
            if _is_time(column):
                parts = [_around(column, exp.GTE, low), _around(column, exp.LTE, high)]
                return " AND ".join(parts) if all(parts) and not negated else ""
            ends = [_value(column, end, is_equality=False) for end in (low, high)]
            return f"{quoted(column.name)} {is_not}BETWEEN {' AND '.join(ends)}" if all(ends) else ""
        return ""

    def _column(self, node: Any) -> LoggedColumn | None:
        if not isinstance(node, exp.Column) or node.args.get("db"):
            return None
        is_own = node.table.lower() == self.name.lower() if node.table else self.is_alone
        return self.columns.get(node.name.lower()) if is_own else None


def _null(column: LoggedColumn, node: exp.Is, *, negated: bool) -> str:
    # Values that cannot be read, such as the date 0000-00-00, are null here and not at the server.
    if not isinstance(node.expression, exp.Null) or (not negated and not _is_number(column)):
        return ""
    return f"{quoted(column.name)} IS {'NOT ' if negated else ''}NULL"


def _around(column: LoggedColumn, kind: type[exp.Expression], node: Any) -> str:
    """A comparison of a time with a literal, with a day on each side. Empty: there is none."""
    time = _time(node)
    if time is None or kind is exp.NEQ:
        return ""
    low, high = (f"TIMESTAMP'{time + margin:%Y-%m-%d %H:%M:%S.%f}'" for margin in (-_MARGIN, _MARGIN))
    if kind is exp.EQ:
        return f"{quoted(column.name)} BETWEEN {low} AND {high}"
    return f"{quoted(column.name)} {f'>= {low}' if kind in (exp.GT, exp.GTE) else f'<= {high}'}"


def _time(node: Any) -> datetime | None:
    """The time of a literal, as it is written. None for another one, and for one with a zone."""
    literal = node.this if type(node) is exp.Cast and node.to.this in (exp.DataType.Type.DATE, *_TIMES) else node
    if not isinstance(literal, exp.Literal) or not literal.is_string or not _TIME.fullmatch(str(literal.this)):
        return None
    if literal is not node and node.to.this is exp.DataType.Type.DATE and not _is_date(str(literal.this)):
        return None  # the time of day is cut off, and the rest may be that of another zone
    try:
        time = datetime.fromisoformat(str(literal.this))
    except ValueError:
        return None
    return time if 1000 < time.year < 9000 else None  # those that are a day off are within the server's, too


def _value(column: LoggedColumn, node: Any, *, is_equality: bool) -> str:
    """A literal of the server that compares with a column as `node` does. Empty: there is none."""
    sign, literal = ("-", node.this) if isinstance(node, exp.Neg) else ("", node)
    if isinstance(literal, exp.Literal) and not literal.is_string and _is_number(column):
        pattern = _INTEGER if column.code in _INTEGERS else _DECIMAL
        return f"{sign}{literal.this}" if pattern.fullmatch(literal.this) else ""
    if sign:
        return ""
    if isinstance(node, exp.Cast) and node.to.this is exp.DataType.Type.DATE and type(node) is exp.Cast:
        literal = node.this
        if column.code is not Code.DATE:
            return ""
    if not isinstance(literal, exp.Literal) or not literal.is_string:
        return ""
    text = str(literal.this)
    if column.code is Code.DATE and pa.types.is_date(column_type(column)):
        return f"DATE'{text}'" if _is_date(text) else ""
    is_text = column.code in (Code.VARCHAR, Code.STRING) and pa.types.is_string(column_type(column))
    if is_text and not column.declared and is_equality:
        return f"'{text}'" if _TEXT.fullmatch(text) else ""
    return ""


def _is_number(column: LoggedColumn) -> bool:
    is_decimal = column.code is Code.NEWDECIMAL and column.metadata & 0xFF <= _DIGITS
    return column.code in _INTEGERS or is_decimal


def _is_time(column: LoggedColumn) -> bool:
    return bool(pa.types.is_timestamp(column_type(column)))


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
