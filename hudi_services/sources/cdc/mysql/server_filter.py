"""The part of a filter that the server may apply to a snapshot: it lets all rows pass that meet the filter, and perhaps others.

Rows are compared once more when they are read, as those of changes are. So only comparisons of whole numbers are left to the
server, whose answer is the same there. Text has its collations, dates have zeros, and floating point numbers are rounded.
"""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp

from hudi_services.sources.cdc.mysql.binlog.table_map import Code
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.facts import quoted
from hudi_services.sources.cdc.row_filter import RowFilter

_INTEGERS = (Code.TINY, Code.SHORT, Code.INT24, Code.LONG, Code.LONGLONG)
_OPERATORS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_ALL = "TRUE"


def server_condition(rows: RowFilter, table: DeclaredTable) -> str:
    """Return a condition of the server's SQL. Empty: it reads all rows."""
    if not rows.text:
        return ""
    numbers = {column.name.lower(): column.name for column in table.columns if column.code in _INTEGERS}
    condition = _condition(sqlglot.parse_one(rows.text, into=exp.Condition), numbers, negated=False)
    return "" if condition == _ALL else condition


def _condition(node: Any, numbers: dict[str, str], *, negated: bool) -> str:
    """A condition that is true where `node` is, or, `negated`, where it is false."""
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.And | exp.Or):
        parts = [_condition(part, numbers, negated=negated) for part in (node.this, node.expression)]
        if isinstance(node, exp.And) is not negated:
            known = [part for part in parts if part != _ALL]
            return f"({' AND '.join(known)})" if known else _ALL
        return _ALL if _ALL in parts else f"({' OR '.join(parts)})"
    text = _comparison(node, numbers)
    return _ALL if not text else f"(NOT {text})" if negated else text


def _comparison(node: Any, numbers: dict[str, str]) -> str:
    """A comparison of whole numbers. Empty for any other."""
    if type(node) in _OPERATORS:
        column, value = _column(node.this, numbers), _number(node.expression)
        return f"({column} {_OPERATORS[type(node)]} {value})" if column and value else ""
    if isinstance(node, exp.In) and node.expressions:
        column, values = _column(node.this, numbers), [_number(value) for value in node.expressions]
        return f"({column} IN ({', '.join(values)}))" if column and all(values) else ""
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        column = _column(node.this, numbers)
        return f"({column} IS NULL)" if column else ""
    return ""


def _column(node: Any, numbers: dict[str, str]) -> str:
    is_plain = isinstance(node, exp.Column) and not node.args.get("table")
    name = numbers.get(node.name.lower()) if is_plain else None
    return quoted(name) if name is not None else ""


def _number(node: Any) -> str:
    """A literal of digits. Empty for any other."""
    sign, literal = ("-", node.this) if isinstance(node, exp.Neg) else ("", node)
    is_number = isinstance(literal, exp.Literal) and not literal.is_string and literal.this.isdigit()
    return f"{sign}{literal.this}" if is_number else ""
