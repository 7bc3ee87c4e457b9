"""Comparisons that DuckDB makes in another way than Spark: of whole numbers with texts, and of structs without names."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

_COMPARED = "__HOODIE_COMPARED"  # in large letters, as sqlglot writes functions
_GROUPED = f"{_COMPARED}_OF_ROWS"
_REFUSED = "error('a whole number is compared with a text of another one: write it without quotes')"
MACROS = (
    f"CREATE MACRO {_COMPARED}(x BIGINT) AS {_REFUSED}, (x HUGEINT) AS {_REFUSED}, (x) AS x",
    f"CREATE MACRO {_GROUPED}(x) AS CASE WHEN regexp_matches(typeof(x), 'INT') THEN {_REFUSED} ELSE x END",
)
"""For sides of a comparison: DuckDB rounds the text '1.5' to the type of the other side, where Spark raises an error.
DuckDB does not know the type of aggregates and windows in time: they have the second."""
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_NUMBER = re.compile(r"\s*[+-]?(0[xb][0-9a-f_]+|[0-9_]*\.?[0-9_]*(e[+-]?[0-9]+)?)\s*", re.IGNORECASE)
"""Texts that DuckDB reads as numbers."""
_UNNAMED = re.compile("col[0-9]+")


def exact_comparison(node: exp.Expression) -> None:
    """Let the engine refuse to compare a whole number with a text of another number.

    Raises UnsupportedError for structs of other names: in Spark the order of the fields counts, in DuckDB their names do.
    """
    if isinstance(node, exp.Max | exp.Min) and isinstance(node.this, exp.Struct):
        raise UnsupportedError("max and min of a struct: DuckDB puts nulls last, Spark first; use max_by or min_by")
    sides = _sides(node)
    names = {tuple(each.name.lower() for each in side.expressions) for side in sides if isinstance(side, exp.Struct)}
    if len(names) > 1 or any(_UNNAMED.fullmatch(name) for each in names for name in each):
        raise UnsupportedError(
            "a comparison with struct(…): DuckDB compares names of fields, too; use named_struct or (a, b)"
        )
    if any(_is_no_whole_number(side) for side in sides):
        for side in sides:
            if not isinstance(side, exp.Literal | exp.Null):
                macro = _GROUPED if side.find(exp.AggFunc, exp.Window) else _COMPARED
                side.replace(exp.Anonymous(this=macro, expressions=[side.copy()]))


def _sides(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.NullSafeEQ | exp.NullSafeNEQ):
        return [node.this, node.expression]
    if isinstance(node, exp.In):
        return [node.this, *node.expressions]
    return [node.this, node.args["low"], node.args["high"]] if isinstance(node, exp.Between) else []


def _is_no_whole_number(side: exp.Expression) -> bool:
    return bool(
        isinstance(side, exp.Literal)
        and side.is_string
        and _NUMBER.fullmatch(side.name)
        and not _WHOLE.fullmatch(side.name)
        and side.name.strip()
    )
