"""Functions of Spark that make whole numbers of others. DuckDB leaves floats floats, and divides fractions by `//`."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.untyped_values import is_untyped

_LEAST, _MOST = "(-9223372036854775807 - 1)", "9223372036854775807"
_DIVIDED = "__HOODIE_DIVIDED"
_NO_DIVISION = "error('div of numbers that are not whole: write CAST(a / b AS BIGINT)')"


def _as_long(function: str, value: str) -> str:
    """The whole number beside a float, as Java cuts it: NaN is 0, and what is too large is the greatest number."""
    return (
        f"CASE WHEN isnan({value}) THEN 0 WHEN {value} >= 9223372036854775807 THEN {_MOST} "
        f"WHEN {value} <= -9223372036854775808 THEN {_LEAST} ELSE CAST({function}({value}) AS BIGINT) END"
    )


def _rounding(function: str) -> tuple[str, str]:
    macro, text = f"__HOODIE_{function.upper()}", "TRY_CAST(CAST(x AS VARCHAR) AS {})"
    return (
        f"CREATE MACRO {macro}(x DOUBLE) AS {_as_long(function, 'x')}, (x FLOAT) AS {_as_long(function, 'CAST(x AS DOUBLE)')}, "
        f"(x BIGINT) AS x, (x HUGEINT) AS x, (x DECIMAL(38, 18)) AS {function}(x), "
        f"(x VARCHAR) AS {_as_long(function, 'CAST(x AS DOUBLE)')}",
        # DuckDB knows no type of an aggregate or window where it chooses a macro.
        f"CREATE MACRO {macro}_OF_ROWS(x) AS CASE WHEN typeof(x) IN ('DOUBLE', 'FLOAT') "
        f"THEN CAST({_as_long(function, text.format('DOUBLE'))} AS HUGEINT) "
        f"WHEN regexp_full_match(typeof(x), '[A-Z]*INT(EGER)?') THEN {text.format('HUGEINT')} "
        f"WHEN regexp_full_match(typeof(x), 'DECIMAL[(][0-9,]*[)]|VARCHAR') "
        f"THEN CAST({function}({text.format('DECIMAL(38, 18)')}) AS HUGEINT) "
        f"WHEN x IS NOT NULL THEN error('{function} of a ' || typeof(x)) END",
    )


MACROS = (
    *_rounding("ceil"),
    *_rounding("floor"),
    f"CREATE MACRO {_DIVIDED}(x BIGINT, y BIGINT) AS x // y, (x HUGEINT, y HUGEINT) AS x // y, (x, y) AS {_NO_DIVISION}",
    f"CREATE MACRO {_DIVIDED}_OF_ROWS(x, y) AS CASE WHEN typeof(x) LIKE '%INT%' AND typeof(y) LIKE '%INT%' "
    f"THEN x // y ELSE {_NO_DIVISION} END",
)
"""Functions that the texts call."""


def whole_number(node: exp.Expression) -> None:
    """Let `ceil`, `floor` and `div` give whole numbers. Raises UnsupportedError for the first two with a number of digits."""
    if isinstance(node, exp.Ceil | exp.Floor):
        name = node.sql_name().lower()
        if node.args.get("decimals") is not None:
            raise UnsupportedError(f"{name} to a number of digits: DuckDB computes it in floats; round it, or scale it")
        node.replace(_call(f"__HOODIE_{name.upper()}", node.this))
    elif isinstance(node, exp.IntDiv):
        node.replace(_call(_DIVIDED, node.this, node.expression))


def _call(macro: str, *values: exp.Expression) -> exp.Anonymous:
    suffix = "_OF_ROWS" if any(is_untyped(value) for value in values) else ""
    return exp.Anonymous(this=macro + suffix, expressions=[value.copy() for value in values])
