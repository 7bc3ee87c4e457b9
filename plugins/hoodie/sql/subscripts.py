"""Elements of arrays and maps by `x[i]` and `element_at` on DuckDB, where the first element of an array has number 1.

In Spark it has number 0 in `x[i]`, and 1 in `element_at`, for which number 0 is an error."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_PLACE = "__HOODIE_PLACE"  # in large letters, as sqlglot writes functions
_COUNTED = "CASE WHEN is_map THEN i WHEN i >= 0 THEN i + 1 END"
_NUMBERED, _TRIED = "__HOODIE_NUMBERED", "__HOODIE_NUMBERED_OR_NULL"
_ZERO = "CASE WHEN NOT is_map AND i = 0 THEN error('element_at counts from 1, not 0') "
_MISSING = (
    "WHEN NOT is_map AND abs(i) > n THEN error('the array has no element ' || i || ': write try_element_at for null') "
)
MACROS = (
    *(
        f"CREATE MACRO {name}(i BIGINT, is_map, n) AS {text} ELSE i END, (i HUGEINT, is_map, n) AS {text} ELSE i END, "
        "(i, is_map, n) AS i"
        for name, text in ((_NUMBERED, _ZERO + _MISSING), (_TRIED, _ZERO))
    ),
    f"CREATE MACRO {_PLACE}(i BIGINT, is_map) AS {_COUNTED}, (i HUGEINT, is_map) AS {_COUNTED}, (i, is_map) AS i",
)
"""Functions that the texts call. Numbers are keys of a map: those stay. An array has no element below 0."""


def element_place(node: exp.Expression) -> None:
    """Let `x[i]` name the element that it names in Spark. Raises UnsupportedError for an aggregate or window as `i`, of which
    DuckDB knows no type in time."""
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return
    place = node.expressions[0]
    offset = node.args.get("offset")
    if isinstance(place, exp.Literal) and place.is_string:
        node.set("offset", None)
        return
    if place.find(exp.AggFunc, exp.Window):
        raise UnsupportedError("x[i] by an aggregate: compute it in a query around this one")
    kind = exp.Anonymous(this="typeof", expressions=[node.this.copy()])
    is_map = exp.Like(this=kind, expression=exp.Literal.string("MAP(%"))
    arguments = [place.copy(), is_map]
    if offset is None:
        node.set("expressions", [exp.Anonymous(this=_PLACE, expressions=arguments)])
        return
    macro = _TRIED if node.args.get("safe") else _NUMBERED
    size = exp.Anonymous(this="cardinality", expressions=[node.this.copy()])
    node.set("offset", None)
    node.set("expressions", [exp.Anonymous(this=macro, expressions=[*arguments, size])])
