"""Texts that are put together of values of other types. DuckDB writes the zone of a time, and bytes in another way."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.time_patterns import year_text
from hoodie.sql.untyped_values import is_untyped

_JOINED, _ALIKE = "__HOODIE_JOINED", "__HOODIE_ALIKE"
_TIME = "TIMESTAMP WITH TIME ZONE"
_BYTES = "error('an array of bytes as text: cast its elements to STRING')"
NO_BYTES = "__HOODIE_NO_BYTES"
"""A function that refuses an array of bytes, of which DuckDB would write `\\xC3`."""
MACROS = (
    f"CREATE MACRO {_JOINED}(x TIMESTAMPTZ) AS {year_text('CAST(CAST(x AS TIMESTAMP) AS VARCHAR)')}, "
    f"(x TIMESTAMP) AS {year_text('CAST(x AS VARCHAR)')}, (x DATE) AS {year_text('CAST(x AS VARCHAR)')}, (x) AS x",
    # DuckDB knows no type of an aggregate or window where it chooses a macro.
    f"CREATE MACRO {_JOINED}_OF_ROWS(x) AS CASE WHEN typeof(x) = '{_TIME}' "
    "THEN error('a time of an aggregate as text: cast it to STRING') ELSE x END",
    f"CREATE MACRO {NO_BYTES}(x) AS CASE WHEN typeof(x) = 'BLOB[]' THEN {_BYTES} ELSE x END",
    f"CREATE MACRO {_ALIKE}(x, types) AS CASE WHEN list_contains(types, 'BLOB[]') THEN {_BYTES} "
    """WHEN list_contains(types, 'BLOB') AND len(list_filter(types, lambda t: t NOT IN ('BLOB', '"NULL"'))) > 0 """
    "THEN error('bytes are joined with other values: cast them to STRING') ELSE x END",
)
"""Functions that the texts call."""


def joined_text(node: exp.Expression) -> None:
    """Let `||`, `concat`, `concat_ws` and `listagg` write values as Spark does. Raises UnsupportedError for `concat` of one
    value, which sqlglot takes for the value itself."""
    if isinstance(node, exp.DPipe):
        node.set("this", _alike(node.this, (node.this, node.expression)))
        node.set("expression", _joined(node.expression))
    elif isinstance(node, exp.Concat | exp.ConcatWs):
        if isinstance(node, exp.Concat) and len(node.expressions) == 1:
            raise UnsupportedError("concat of one value: write CAST(… AS STRING)")
        first, *others = node.expressions
        node.set("expressions", [_alike(first, node.expressions), *(_joined(other) for other in others)])
    elif isinstance(node, exp.GroupConcat):
        value = node.this.this if isinstance(node.this, exp.Order) else node.this
        if isinstance(value, exp.Distinct):
            if node.find(exp.Order):  # DuckDB wants the same value there
                return
            value = value.expressions[0]
        value.replace(_alike(value, (value, exp.Literal.string(""))))


def _alike(value: exp.Expression, all_of_them: Sequence[exp.Expression]) -> exp.Expression:
    if all(isinstance(operand, exp.Literal) for operand in all_of_them):
        return value.copy()
    types = [exp.Anonymous(this="typeof", expressions=[operand.copy()]) for operand in all_of_them]
    return exp.Anonymous(this=_ALIKE, expressions=[_joined(value), exp.Array(expressions=types)])


def _joined(value: exp.Expression) -> exp.Expression:
    if isinstance(value, exp.Literal | exp.Null | exp.DPipe):
        return value.copy()
    suffix = "_OF_ROWS" if is_untyped(value) else ""
    return exp.Anonymous(this=_JOINED + suffix, expressions=[value.copy()])
