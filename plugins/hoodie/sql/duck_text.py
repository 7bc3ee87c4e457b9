"""Trees of Spark's SQL in DuckDB's words, where sqlglot alone would make another value of them."""

from __future__ import annotations

from math import isinf

from sqlglot import exp, parse_one
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ErrorLevel, UnsupportedError

from hoodie.sql.cast_checks import MACROS as CAST_MACROS
from hoodie.sql.cast_checks import cast_value, check_cast, checked, finite_float, keep_text, least_long, read_numeral
from hoodie.sql.column_names import inner_columns, name_inner
from hoodie.sql.comparisons import MACROS as COMPARISON_MACROS
from hoodie.sql.comparisons import compare_searched, exact_comparison, keep_backslashes, named
from hoodie.sql.conditions import MACROS as CONDITION_MACROS
from hoodie.sql.conditions import check_conditions
from hoodie.sql.date_intervals import MACROS as INTERVAL_MACROS
from hoodie.sql.date_intervals import moved_date
from hoodie.sql.date_text import MACROS as DATE_MACROS
from hoodie.sql.date_text import keep_date_text, refuse_no_time
from hoodie.sql.division import MACROS as DIVISION_MACROS
from hoodie.sql.division import checked_division
from hoodie.sql.functions import MACROS as FUNCTION_MACROS
from hoodie.sql.functions import known_aggregate, translate_function
from hoodie.sql.joined_text import MACROS as JOINED_MACROS
from hoodie.sql.joined_text import joined_text
from hoodie.sql.letters import MACROS as LETTER_MACROS
from hoodie.sql.letters import spell
from hoodie.sql.membership import membership_value
from hoodie.sql.pattern import MACROS as PATTERN_MACROS
from hoodie.sql.pattern import escaped_like
from hoodie.sql.precedence import check_precedence
from hoodie.sql.products import MACROS as PRODUCT_MACROS
from hoodie.sql.products import checked_products
from hoodie.sql.regular_patterns import MACROS as REGEX_MACROS
from hoodie.sql.regular_patterns import java_pattern
from hoodie.sql.rounding import MACROS as ROUNDING_MACROS
from hoodie.sql.rounding import whole_number
from hoodie.sql.subscripts import MACROS as SUBSCRIPT_MACROS
from hoodie.sql.subscripts import element_place
from hoodie.sql.time_patterns import MACROS as PATTERN_OF_TIME_MACROS
from hoodie.sql.time_patterns import match_pattern, year_text
from hoodie.sql.time_text import MACROS as TIME_MACROS
from hoodie.sql.time_text import complete_time, without_completion
from hoodie.sql.untyped_values import is_untyped, mark_aliases

_WHOLE, _BYTES, _TEXT, _SECONDS = "__hoodie_whole", "__hoodie_bytes", "__hoodie_text", "__hoodie_seconds"
_POSITIVE, _TIME = "__hoodie_positive", "__hoodie_time"
_OF_ROWS, _DIGITAL = "_of_rows", "__hoodie_digital"
_IS_WHOLE = r"regexp_full_match(CAST(x AS VARCHAR), '\s*[+-]?[0-9]+\s*')"
# DuckDB quotes elements and writes NULL in large letters. It reads its own text without a loss.
_ELEMENT = (
    "CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE[]' "
    "THEN regexp_replace(e, '[+-][0-9]{2}(:[0-9]{2})*$', '') ELSE e END"
)
_WRITTEN = (
    "CASE WHEN regexp_matches(typeof(x), '^(STRUCT|MAP)[(]|^BLOB[[]|[]][[]') "
    "THEN error('DuckDB writes a ' || typeof(x) || ' as another text than Spark: name its fields') "
    "WHEN typeof(x) LIKE '%[]' THEN CASE WHEN x IS NOT NULL THEN '[' || coalesce(array_to_string("
    f"list_transform(TRY_CAST(CAST(x AS VARCHAR) AS VARCHAR[]), lambda e: coalesce({_ELEMENT}, 'null')), ', '), '') || ']' END "
    "WHEN typeof(x) = 'DATE' OR typeof(x) LIKE 'TIMESTAMP%' THEN "
    + year_text(
        "CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE' "
        "THEN regexp_replace(CAST(x AS VARCHAR), '[+-][0-9]{2}(:[0-9]{2})*( .BC.)?$', '\\1') ELSE CAST(x AS VARCHAR) END"
    )
)
_FLOORED = "((epoch_us(x) - (epoch_us(x) % 1000000 + 1000000) % 1000000) // 1000000)"  # epoch(x) rounds
_CUT = "((epoch_us(x) - epoch_us(x) % 1000000) // 1000000)"
_NO_NUMBER = (
    "CASE WHEN x IS NOT NULL THEN error('a date is not a number: use unix_date(x)') ELSE CAST(NULL AS BIGINT) END"
)
_UNREAD = (
    "CASE WHEN x IS NOT NULL THEN error('not a time of this pattern: ' || x || '; write try_to_timestamp for null') END"
)
_AS_TIME = "TRY_CAST(CAST(x AS VARCHAR) AS TIMESTAMPTZ)"
MACROS = (
    *PATTERN_OF_TIME_MACROS,  # others call them
    *CAST_MACROS,
    *COMPARISON_MACROS,
    *CONDITION_MACROS,
    *DATE_MACROS,
    *DIVISION_MACROS,
    *INTERVAL_MACROS,
    *PATTERN_MACROS,
    *PRODUCT_MACROS,
    *FUNCTION_MACROS,
    *JOINED_MACROS,
    *LETTER_MACROS,
    *REGEX_MACROS,
    *ROUNDING_MACROS,
    *SUBSCRIPT_MACROS,
    *TIME_MACROS,
    # A cast to a whole number cuts the fraction off, DuckDB's would round; times are seconds since 1970.
    f"CREATE MACRO {_WHOLE}(x DOUBLE) AS trunc(x), (x DECIMAL(38, 10)) AS trunc(x), "
    "(x VARCHAR) AS trunc(TRY_CAST(x AS DECIMAL(38, 10))), (x BIGINT) AS x, (x HUGEINT) AS x, (x BOOLEAN) AS x, "
    f"(x TIMESTAMP) AS {_FLOORED}, (x TIMESTAMPTZ) AS {_FLOORED}, (x DATE) AS {_NO_NUMBER}",
    # A cast takes digits alone for a whole number.
    f"CREATE MACRO {_DIGITAL}(x VARCHAR) AS CASE WHEN {_IS_WHOLE} THEN x END, (x) AS x",
    f"CREATE MACRO {_DIGITAL}{_OF_ROWS}(x) AS CASE WHEN typeof(x) <> 'VARCHAR' OR {_IS_WHOLE} THEN x END",
    # DuckDB's casts write bytes of other letters than ASCII as \\x.., and are null without that. A time with a zone is printed in
    # the session's zone, without naming it.
    # Texts, whole numbers and dates have their own: `_WRITTEN` repeats its value, and a cast in three casts took seconds to read.
    f"CREATE MACRO {_TEXT}(x BLOB) AS decode(x), "
    + "".join(f"(x {kind}) AS CAST(x AS VARCHAR), " for kind in ("VARCHAR", "BIGINT", "HUGEINT"))
    + f"(x DATE) AS {year_text('CAST(x AS VARCHAR)')}, (x) AS {_WRITTEN} ELSE CAST(x AS VARCHAR) END",
    f"CREATE MACRO {_TEXT}{_OF_ROWS}(x) AS {_WRITTEN} WHEN typeof(x) = 'BLOB' "
    "THEN error('an aggregate of bytes: cast it in a query around this one') ELSE CAST(x AS VARCHAR) END",
    # DuckDB knows no type of an aggregate or window where it chooses a macro, so that these have macros without types.
    f"CREATE MACRO {_WHOLE}{_OF_ROWS}(x) AS CASE WHEN typeof(x) = 'DATE' THEN {_NO_NUMBER} "
    f"WHEN typeof(x) LIKE 'TIMESTAMP%' THEN CAST(floor(epoch({_AS_TIME})) AS HUGEINT) "
    "WHEN typeof(x) IN ('DOUBLE', 'FLOAT') THEN TRY_CAST(trunc(TRY_CAST(CAST(x AS VARCHAR) AS DOUBLE)) AS HUGEINT) "
    "WHEN typeof(x) = 'VARCHAR' OR typeof(x) LIKE 'DECIMAL%' "
    "THEN TRY_CAST(trunc(TRY_CAST(CAST(x AS VARCHAR) AS DECIMAL(38, 10))) AS HUGEINT) "
    "WHEN typeof(x) = 'BOOLEAN' THEN TRY_CAST(TRY_CAST(CAST(x AS VARCHAR) AS BOOLEAN) AS HUGEINT) "
    "ELSE TRY_CAST(CAST(x AS VARCHAR) AS HUGEINT) END",
    f"CREATE MACRO {_BYTES}{_OF_ROWS}(x) AS CASE WHEN typeof(x) = 'BLOB' "
    "THEN error('an aggregate of bytes: cast it in a query around this one') WHEN typeof(x) = 'VARCHAR' "
    "THEN encode(CAST(x AS VARCHAR)) WHEN x IS NOT NULL THEN error('bytes of a ' || typeof(x)) END",
    f"CREATE MACRO {_SECONDS}{_OF_ROWS}(x, f) AS CASE WHEN typeof(x) = 'VARCHAR' "
    f"THEN CAST(epoch(try_strptime(CAST(x AS VARCHAR), f)) AS BIGINT) "
    f"WHEN regexp_full_match(typeof(x), '(DATE|TIMESTAMP)[A-Z ]*') THEN CAST(floor(epoch({_AS_TIME})) AS BIGINT) "
    f"WHEN x IS NOT NULL THEN error('seconds of a ' || typeof(x)) END",
    # A number is seconds in Spark, and null in DuckDB.
    f"CREATE MACRO {_TIME}(x, time) AS CASE WHEN regexp_matches(typeof(x), '^(INTEGER|[A-Z]*INT|DECIMAL.*|FLOAT|DOUBLE)$') "
    "THEN error('a number is not a time: write timestamp_seconds(x)') ELSE time END",
    "CREATE MACRO timestamp_seconds(x) AS to_timestamp(x)",
    f"CREATE MACRO {_POSITIVE}(x) AS CASE WHEN x > 0 THEN x END",
    f"CREATE MACRO {_BYTES}(x VARCHAR) AS encode(x), (x BLOB) AS x",
    f"CREATE MACRO {_SECONDS}(x VARCHAR, f) AS coalesce(CAST(epoch(try_strptime(x, f)) AS BIGINT), {_UNREAD}), "
    f"(x DATE, f) AS CAST(epoch(x) AS BIGINT), (x TIMESTAMP, f) AS {_CUT}, (x TIMESTAMPTZ, f) AS {_CUT}",
    "CREATE MACRO bround(x) AS round_even(x, 0), (x, digits) AS round_even(x, digits)",
    "CREATE MACRO rint(x) AS round_even(CAST(x AS DOUBLE), 0)",
    "CREATE MACRO nanvl(x, y) AS CASE WHEN isnan(x) THEN y ELSE x END",
)
"""Functions that the texts call."""
_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "YEAR"),
    **dict.fromkeys(("MONTH", "MON", "MM"), "MONTH"),
    "QUARTER": "QUARTER",
    "WEEK": "WEEK",
}
"""Units to which a date is cut, by Spark's names."""
_TEXTS = (exp.DType.TEXT, exp.DType.VARCHAR)
_TIMES = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPNTZ)
_BINARY = (exp.DType.BINARY, exp.DType.VARBINARY)
_DIGITS = 38  # digits of the longest decimal
_INTEGERS = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT)


def duckdb_text(tree: exp.Expression) -> str:
    """The query as DuckDB takes it. Raises SqlglotError for what it has no words for."""
    copied = tree.copy()
    columns = inner_columns(copied)
    for node in list(copied.walk()):
        keep_text(node)
        least_long(node)
        keep_date_text(node)
        known_aggregate(node)
        check_precedence(node)
    mark_aliases(copied)
    check_conditions(copied)
    named(copied)
    compare_searched(copied)
    for node in reversed(list(copied.walk())):
        check_cast(node)
        refuse_no_time(node)
        exact_comparison(node)
        value = cast_value(node)
        read_numeral(node)
        complete_time(node)
        match_pattern(node)
        translate_function(node)
        spell(node)
        whole_number(node)
        membership_value(node)
        element_place(node)
        checked_division(node)
        moved_date(node)
        joined_text(node)
        java_pattern(node)
        if isinstance(node, exp.Literal) and not node.is_string:
            _check_number(node)
        elif isinstance(node, exp.Cast) and node.to.this in _INTEGERS and not _is_whole(node.this):
            node.set("this", _call(_WHOLE, _call(_DIGITAL, node.this)))
        elif isinstance(node, exp.Like | exp.ILike):
            escaped_like(node)
        elif isinstance(node, exp.DayOfWeek) or _is_day_of_week(node):  # from 1 in Spark, from 0 in DuckDB
            node.replace(exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1)), copy=False))
        elif isinstance(node, exp.Anonymous) and str(node.this).lower() == "weekday":  # from Monday in Spark
            day = exp.DayOfWeekIso(this=node.expressions[0].copy())
            node.replace(exp.paren(exp.Sub(this=day, expression=exp.Literal.number(1)), copy=False))
        elif isinstance(node, exp.TsOrDsAdd | exp.AddMonths | exp.DateFromUnixDate):  # a time in DuckDB
            node.replace(exp.cast(node.copy(), "date"))
        elif isinstance(node, exp.TimestampTrunc) and node.unit.name.upper() in _UNITS:
            node.set("unit", exp.Literal.string(_UNITS[node.unit.name.upper()]))
        elif isinstance(node, exp.DateTrunc):
            _cut_date(node)
        elif isinstance(node, exp.UnixToStr) and not _is_whole(node.this):  # whole seconds, cut
            node.set("this", _call(_WHOLE, node.this))
        elif isinstance(node, exp.StrToUnix):  # also of a time
            node.replace(_call(_SECONDS, node.this, _pattern(node)))
        elif isinstance(node, exp.Cast) and node.to.this in _TIMES and not node.this.is_string:
            time = node.copy() if value is None else checked(value, node)
            node.replace(exp.Anonymous(this=_TIME, expressions=[without_completion(node.this).copy(), time]))
            value = None
        elif isinstance(node, exp.Cast) and node.to.this in _BINARY:
            node.replace(_call(_BYTES, node.this))
        elif isinstance(node, exp.Cast) and node.to.this in _TEXTS and not isinstance(node.this, exp.Literal):
            node.replace(_call(_TEXT, node.this))
        elif isinstance(node, exp.Ln | exp.Log):  # null where there is no logarithm
            for argument in ("this", "expression"):
                if node.args.get(argument) is not None:
                    node.set(argument, exp.Anonymous(this=_POSITIVE, expressions=[node.args[argument].copy()]))
        elif isinstance(node, exp.Anonymous) and _name(node) in ("isnull", "isnotnull"):  # words of DuckDB's grammar
            nothing = exp.paren(exp.Is(this=node.expressions[0].copy(), expression=exp.null()), copy=False)
            node.replace(nothing if _name(node) == "isnull" else exp.paren(exp.Not(this=nothing), copy=False))
        node = finite_float(node)
        if value is not None:
            node.replace(checked(value, node))
    checked_products(copied)
    keep_backslashes(copied)
    name_inner(columns)
    return str(copied.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE))


def _check_number(node: exp.Literal) -> None:
    """Raises UnsupportedError for a number that Spark refuses. DuckDB takes `1e400` for infinity, and more digits than a decimal
    has for the nearest DOUBLE."""
    if "e" in node.name.lower():
        is_refused = isinf(float(node.name))
    else:
        integer, _, fraction = node.name.partition(".")
        is_refused = len(integer.lstrip("0")) + len(fraction) > _DIGITS
    if is_refused:
        raise UnsupportedError(f"the number {node.name}: no type has such a value")


def _call(macro: str, value: exp.Expression, *more: exp.Expression) -> exp.Anonymous:
    """A call of a macro that looks at the type of its first value."""
    suffix = _OF_ROWS if is_untyped(value) else ""
    return exp.Anonymous(this=macro + suffix, expressions=[value.copy(), *more])


def _pattern(node: exp.StrToUnix) -> exp.Expression:
    """Pattern of a time as text, in DuckDB's signs."""
    if node.args.get("format") is None:
        return exp.Literal.string("%Y-%m-%d %H:%M:%S")
    return parse_one(str(DuckDB().generator().format_time(node)), dialect="duckdb")


def _name(node: exp.Func) -> str:
    return (str(node.this) if isinstance(node, exp.Anonymous) else node.sql_name()).lower()


def _cut_date(node: exp.DateTrunc) -> None:
    """A date, where DuckDB gives a time; null where Spark has no such unit."""
    unit = _UNITS.get(node.unit.name.upper())
    if unit is None:
        node.replace(exp.cast(exp.null(), "date"))
        return
    node.set("unit", exp.Literal.string(unit))
    node.replace(exp.cast(node.copy(), "date"))


def _is_day_of_week(node: exp.Expression) -> bool:
    if isinstance(node, exp.Anonymous) and _name(node) in ("date_part", "datepart") and node.expressions:
        node = node.expressions[0]
        return node.name.upper() in ("DOW", "DAYOFWEEK")
    return isinstance(node, exp.Extract) and node.name.upper() in ("DOW", "DAYOFWEEK")


def _is_whole(node: exp.Expression) -> bool:
    """Return whether it is a literal without fraction."""
    return isinstance(node, exp.Literal) and bool(node.is_int)
