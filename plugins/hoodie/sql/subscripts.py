"""Elements of arrays and maps by `x[i]` and `element_at` on DuckDB, where the first element of an array has number 1.

In Spark it has number 0 in `x[i]`, and 1 in `element_at`, for which number 0 is an error."""

from __future__ import annotations

from sqlglot import exp

from hoodie.sql.untyped_values import is_untyped

_PLACE = "__HOODIE_PLACE"  # in large letters, as sqlglot writes functions
_COUNTED = "CASE WHEN is_map THEN i WHEN i >= 0 THEN i + 1 END"
_NUMBERED, _TRIED = "__HOODIE_NUMBERED", "__HOODIE_NUMBERED_OR_NULL"
_ZERO = "CASE WHEN NOT is_map AND i = 0 THEN error('element_at counts from 1, not 0') "
_MISSING = (
    "WHEN NOT is_map AND abs(i) > n THEN error('the array has no element ' || i || ': write try_element_at for null') "
)
_ELEMENTS = ((_NUMBERED, _ZERO + _MISSING), (_TRIED, _ZERO))
MACROS = (
    *(
        f"CREATE MACRO {name}(i BIGINT, is_map, n) AS {text} ELSE i END, (i HUGEINT, is_map, n) AS {text} ELSE i END, "
        "(i, is_map, n) AS i"
        for name, text in _ELEMENTS
    ),
    *(f"CREATE MACRO {name}_OF_ROWS(i, is_map, n) AS {text} ELSE i END" for name, text in _ELEMENTS),
    f"CREATE MACRO {_PLACE}(i BIGINT, is_map) AS {_COUNTED}, (i HUGEINT, is_map) AS {_COUNTED}, (i, is_map) AS i",
    f"CREATE MACRO {_PLACE}_OF_ROWS(i, is_map) AS {_COUNTED}",
)
"""Functions that the texts call. Numbers are keys of a map: those stay. An array has no element below 0."""


def element_place(node: exp.Expression) -> None:
    """Let `x[i]` name the element that it names in Spark."""
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return
    place = node.expressions[0]
    offset = node.args.get("offset")
    text = place.this if isinstance(place, exp.Cast) else place  # `keep_text` has cast it
    if isinstance(text, exp.Literal) and text.is_string:
        node.set("offset", None)
        return
    kind = exp.Anonymous(this="typeof", expressions=[node.this.copy()])
    is_map = exp.Like(this=kind, expression=exp.Literal.string("MAP(%)"))  # no array of maps, MAP(…)[]
    arguments = [place.copy(), is_map]
    suffix = "_OF_ROWS" if is_untyped(place) else ""
    if offset is None:
        node.set("expressions", [exp.Anonymous(this=_PLACE + suffix, expressions=arguments)])
        return
    macro = _TRIED if node.args.get("safe") else _NUMBERED
    size = exp.Anonymous(this="cardinality", expressions=[node.this.copy()])
    node.set("offset", None)
    node.set("expressions", [exp.Anonymous(this=macro + suffix, expressions=[*arguments, size])])
