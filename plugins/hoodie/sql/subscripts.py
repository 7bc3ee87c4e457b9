"""Elements of arrays and maps by `x[i]` on DuckDB. In Spark the first element of an array has number 0, on DuckDB 1."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_PLACE = "__HOODIE_PLACE"  # in large letters, as sqlglot writes functions
_COUNTED = "CASE WHEN is_map THEN i WHEN i >= 0 THEN i + 1 END"
MACROS = (
    f"CREATE MACRO {_PLACE}(i BIGINT, is_map) AS {_COUNTED}, (i HUGEINT, is_map) AS {_COUNTED}, (i, is_map) AS i",
)
"""Functions that the texts call. Numbers are keys of a map: those stay. An array has no element below 0."""


def element_place(node: exp.Expression) -> None:
    """Let `x[i]` name the element that it names in Spark. Raises UnsupportedError for an aggregate or window as `i`, of which
    DuckDB knows no type in time."""
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return
    place = node.expressions[0]
    if isinstance(place, exp.Literal) and place.is_string:
        return
    if place.find(exp.AggFunc, exp.Window):
        raise UnsupportedError("x[i] by an aggregate: compute it in a query around this one")
    kind = exp.Anonymous(this="typeof", expressions=[node.this.copy()])
    is_map = exp.Like(this=kind, expression=exp.Literal.string("MAP(%"))
    node.set("expressions", [exp.Anonymous(this=_PLACE, expressions=[place.copy(), is_map])])
