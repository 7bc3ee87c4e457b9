"""Casts on DuckDB as in Spark's ANSI mode: what is not a value of the wanted type is an error, and null by TRY_CAST alone.

DuckDB reads more texts as numbers than Spark does."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.untyped_values import is_untyped

_CHECKED, _NUMERAL, _FINITE = "__HOODIE_CHECKED_CAST", "__HOODIE_NUMERAL", "__HOODIE_FINITE"
_NUMBER = r"\s*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?\s*|(?i)\s*([+-]?inf(inity)?|nan)\s*"
_NO_NUMBER = "CASE WHEN x IS NOT NULL THEN error('a time as a fraction: write unix_micros(x) / 1e6D') END"
_IS_NUMERAL = f"regexp_full_match(CAST(x AS VARCHAR), '{_NUMBER}')"
MACROS = (
    f"CREATE MACRO {_CHECKED}(x, y) AS coalesce(y, CASE WHEN x IS NOT NULL "
    "THEN error('not a value of the type to which it is cast: ''' || CAST(x AS VARCHAR) "
    "|| '''; correct it, or write TRY_CAST where null is meant') END)",
    f"CREATE MACRO {_NUMERAL}(x VARCHAR) AS CASE WHEN {_IS_NUMERAL} THEN x END, (x BOOLEAN) AS CAST(x AS INTEGER), "
    f"(x TIMESTAMP) AS {_NO_NUMBER}, (x TIMESTAMPTZ) AS {_NO_NUMBER}, (x) AS x",
    # A number beyond the greatest float is infinite in Spark.
    f"CREATE MACRO {_FINITE}(x, y) AS CASE WHEN x IS NOT NULL AND y IS NULL AND abs(TRY_CAST(x AS DOUBLE)) > 3e38 "
    "THEN TRY_CAST(sign(TRY_CAST(x AS DOUBLE)) * CAST('Infinity' AS DOUBLE) AS FLOAT) ELSE y END",
    f"CREATE MACRO {_NUMERAL}_OF_ROWS(x) AS CASE WHEN typeof(x) LIKE 'TIMESTAMP%' THEN {_NO_NUMBER} "
    f"WHEN typeof(x) <> 'VARCHAR' OR {_IS_NUMERAL} THEN x END",
)
"""Functions that the texts call. DuckDB knows no type of an aggregate or window where it chooses a macro: these have the last."""
_FRACTIONS = (exp.DType.DECIMAL, exp.DType.DOUBLE, exp.DType.FLOAT)
_ALWAYS = (exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.BINARY, exp.DType.VARBINARY)
"""Types to which every cast succeeds, or is an error of DuckDB."""
_NESTED = (exp.DType.ARRAY, exp.DType.LIST, exp.DType.MAP, exp.DType.STRUCT)
_ONE_TYPE = (
    exp.Add,
    exp.Array,
    exp.ArrayContains,
    exp.ArrayPosition,
    exp.BitwiseAnd,
    exp.BitwiseLeftShift,
    exp.BitwiseOr,
    exp.BitwiseRightShift,
    exp.BitwiseXor,
    exp.Bracket,
    exp.Case,
    exp.Coalesce,
    exp.DecodeCase,
    exp.Greatest,
    exp.If,
    exp.Least,
    exp.Mod,
    exp.Mul,
    exp.Nvl2,
    exp.Sub,
    exp.Tuple,
)
"""Expressions whose values have one type."""
_WHOLE_TEXT = re.compile(r"\s*[+-]?[0-9]+\s*")
_NUMBER_TEXT = re.compile(r"\s*(?=.*[0-9])[+-]?([0-9_]*[.]?[0-9_]*([eE][+-]?[0-9]+)?|0[xXbB][0-9a-fA-F_]+)\s*")
_GREATEST_FLOAT = 3.4028235677973366e38  # what is below is rounded to the greatest
_LEAST_LONG = "9223372036854775808"
_READING = (exp.TsOrDsToDate, exp.StrToTime, exp.StrToDate)


def keep_text(node: exp.Expression) -> None:
    """Let a text such as `'1.6'` stay one beside whole numbers and decimals, of whose type DuckDB makes it, rounded."""
    if not isinstance(node, exp.Literal) or not node.is_string or _WHOLE_TEXT.fullmatch(node.name):
        return
    if _NUMBER_TEXT.fullmatch(node.name) and isinstance(node.parent, _ONE_TYPE):
        node.replace(exp.cast(node.copy(), "text"))


def least_long(node: exp.Expression) -> None:
    """Let `-9223372036854775808L` be one number: without its sign no BIGINT holds it."""
    cast = node.this if isinstance(node, exp.Neg) else None
    if isinstance(cast, exp.Cast) and cast.to.this is exp.DType.BIGINT and cast.this.name == _LEAST_LONG:
        cast.set("this", exp.Literal.string(f"-{_LEAST_LONG}"))
        node.replace(cast)


def read_numeral(node: exp.Expression) -> None:
    """Let a cast to a fraction take the texts that Spark takes for numbers: no `1_000`."""
    if isinstance(node, exp.Cast) and node.to.this in _FRACTIONS and not _is_number(node.this):
        suffix = "_OF_ROWS" if is_untyped(node.this) else ""
        node.set("this", exp.Anonymous(this=_NUMERAL + suffix, expressions=[node.this.copy()]))


def finite_float(node: exp.Expression) -> exp.Expression:
    """Return the cast to FLOAT as one that is infinite beyond the greatest float, as in Spark; any other node as it is."""
    if not isinstance(node, exp.Cast) or node.to.this is not exp.DType.FLOAT:
        return node
    cast = exp.Anonymous(this=_FINITE, expressions=[node.this.copy(), node.copy()])
    node.replace(cast)
    return cast


def check_cast(node: exp.Expression) -> None:
    """Raises UnsupportedError for a literal number that its type cannot hold, which DuckDB makes null.

    Also for a cast of an array, map or struct: DuckDB rounds their numbers, makes null of what fails, and takes fields by name.
    """
    if not isinstance(node, exp.Cast):
        return
    value = node.this.unnest()
    if node.to.this in _NESTED and not _is_empty(value):
        raise UnsupportedError(
            f"a cast to {node.to.sql(dialect='spark')}: cast the elements, as by transform(a, x -> CAST(x AS …))"
        )
    if (
        _is_number(value)
        and node.to.this in _FRACTIONS
        and not node.args.get("safe")
        and not _holds(node.to, value.name)
    ):
        raise UnsupportedError(
            f"{value.name} is no value of {node.to.sql(dialect='spark')}: write TRY_CAST where null is meant"
        )


def _is_empty(value: exp.Expression) -> bool:
    elements = value.args.get("keys") if isinstance(value, exp.VarMap) else value
    return isinstance(value, exp.Null) or (isinstance(elements, exp.Array) and not elements.expressions)


def _holds(kind: exp.DataType, number: str) -> bool:
    if kind.this is not exp.DType.DECIMAL:
        return kind.this is exp.DType.DOUBLE or abs(float(number)) < _GREATEST_FLOAT
    digits, scale = (
        ([int(expression.name) for expression in kind.expressions] + [0])[:2] if kind.expressions else (10, 0)
    )
    limit = Decimal(10) ** (digits - scale)
    return Decimal(number).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, Context(prec=400)) < limit


def cast_value(node: exp.Expression) -> exp.Expression | None:
    """Return what a cast makes another value of, where null has to be an error; None for what is no such cast."""
    is_cast = isinstance(node, exp.Cast) and not node.args.get("safe") and node.to.this not in _ALWAYS
    if not is_cast and not isinstance(node, _READING):
        return None
    value = node.this
    return None if _is_number(value) and node.to.this in _FRACTIONS else value.copy()


def checked(value: exp.Expression, cast: exp.Expression) -> exp.Expression:
    """Return the `cast` of a `value`, which is an error where it is null and the value is not."""
    return exp.Anonymous(this=_CHECKED, expressions=[value, cast.copy()])


def _is_number(value: exp.Expression) -> bool:
    return isinstance(value, exp.Literal) and not value.is_string
