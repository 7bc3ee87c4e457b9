"""Functions of Spark that DuckDB, or sqlglot's words for it, would compute in another way: in words that give the same, or
refused by name. A comparison with Spark 4.2 over the examples of Spark's documentation and variations of them lists these."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from hoodie.sql.joined_text import NO_BYTES
from hoodie.sql.untyped_values import is_untyped

_CONTAINS, _POSITION, _SUBSTRING = "__hoodie_contains", "__hoodie_position", "__hoodie_substring"
_GET, _MILLIS, _REVERSE = "__hoodie_get", "__hoodie_millis", "__hoodie_reverse"
_POWER, _SEQUENCE, _FLAT, _SIGN = "__hoodie_power", "__hoodie_sequence", "__hoodie_flat", "__hoodie_sign"
_UNIX_SECONDS, _MEASURED, _INTEGRAL, _PART = (
    "__hoodie_unix_seconds",
    "__hoodie_measured",
    "__hoodie_integral",
    "__hoodie_part",
)
_NO_MEASURE = (
    "CASE WHEN x IS NOT NULL THEN error('an average of times: use unix_micros(x)') ELSE CAST(NULL AS BIGINT) END"
)
_NO_INTEGER = "CASE WHEN x IS NOT NULL THEN error('no whole number: cast it to BIGINT') ELSE CAST(NULL AS BIGINT) END"
MACROS = (
    f"CREATE MACRO {_CONTAINS}(a, x) AS CASE WHEN a IS NULL OR x IS NULL THEN NULL WHEN list_position(a, x) > 0 THEN true "
    "WHEN len(a) > list_count(a) THEN NULL ELSE false END",
    f"CREATE MACRO {_POSITION}(a, x) AS CASE WHEN a IS NULL OR x IS NULL THEN NULL ELSE coalesce(list_position(a, x), 0) END",
    f"CREATE MACRO {_GET}(a, i) AS CASE WHEN i >= 0 THEN list_extract(a, i + 1) END",
    # DuckDB's reverse keeps letters and their marks together.
    f"CREATE MACRO {_REVERSE}_text(x) AS array_to_string(list_reverse(regexp_extract_all(x, '(?s).')), '')",
    f"CREATE MACRO {_REVERSE}(x VARCHAR) AS {_REVERSE}_text(x), (x) AS list_reverse(x)",
    f"CREATE MACRO {_FLAT}(x) AS CASE WHEN len(x) = list_count(x) THEN flatten(x) END",  # null if an element is
    f"CREATE MACRO {_SIGN}(x) AS CASE WHEN isnan(CAST(x AS DOUBLE)) OR CAST(x AS DOUBLE) = 0 THEN CAST(x AS DOUBLE) "
    "ELSE CAST(sign(CAST(x AS DOUBLE)) AS DOUBLE) END",
    # DuckDB's epoch_ms rounds up.
    f"CREATE MACRO {_MILLIS}(x) AS (epoch_us(x) - (epoch_us(x) % 1000 + 1000) % 1000) // 1000",
    f"CREATE MACRO {_UNIX_SECONDS}(x) AS (epoch_us(x) - (epoch_us(x) % 1000000 + 1000000) % 1000000) // 1000000",
    f"CREATE MACRO {_MEASURED}(x TIMESTAMP) AS {_NO_MEASURE}, (x TIMESTAMPTZ) AS {_NO_MEASURE}, "
    f"(x DATE) AS {_NO_MEASURE}, (x) AS x",
    f"CREATE MACRO {_MEASURED}_of_rows(x) AS CASE WHEN regexp_matches(typeof(x), '^(DATE|TIME)') THEN {_NO_MEASURE} ELSE x END",
    f"CREATE MACRO {_INTEGRAL}(x DOUBLE) AS {_NO_INTEGER}, (x DECIMAL(38, 10)) AS {_NO_INTEGER}, (x BIGINT) AS x, (x) AS x",
    f"CREATE MACRO {_INTEGRAL}_alone(x BIGINT) AS x, (x) AS {_NO_INTEGER}",
    f"CREATE MACRO {_PART}(s, d, n) AS CASE WHEN n = 0 AND s IS NOT NULL AND d IS NOT NULL "
    "THEN error('split_part counts from 1, not 0') WHEN d = '' AND abs(n) > 1 THEN '' WHEN d = '' THEN s "
    "ELSE split_part(s, d, n) END",
    # Java's power of 1 and -1 beside C's.
    f"CREATE MACRO {_POWER}(x, y) AS CASE WHEN isnan(CAST(y AS DOUBLE)) OR (abs(CAST(x AS DOUBLE)) = 1 AND "
    "isinf(CAST(y AS DOUBLE))) THEN CAST('NaN' AS DOUBLE) ELSE power(x, y) END",
    f"CREATE MACRO {_SEQUENCE}(a, b, step) AS CASE WHEN a = b THEN [a] WHEN (b > a AND step <= 0) OR (b < a AND step >= 0) "
    "THEN error('sequence never ends: from ' || a || ' to ' || b || ' by ' || step) ELSE generate_series(a, b, step) END",
    "CREATE MACRO timestamp_millis(x) AS make_timestamptz(x * 1000)",
    "CREATE MACRO timestamp_micros(x) AS make_timestamptz(x)",
    # The first letter is number 1, and 0 too; negative numbers count from the end, and may begin before the text.
    f"CREATE MACRO {_SUBSTRING}_from(s, p) AS CASE WHEN p < 0 THEN length(s) + p WHEN p > 0 THEN p - 1 ELSE p END",
    f"CREATE MACRO {_SUBSTRING}(s, p) AS substring(s, CASE WHEN {_SUBSTRING}_from(s, p) < 0 THEN 1 "
    f"ELSE {_SUBSTRING}_from(s, p) + 1 END), "
    f"(s, p, n) AS CASE WHEN s IS NULL OR p IS NULL OR n IS NULL THEN NULL WHEN n <= 0 THEN '' "
    f"ELSE substring(s, greatest({_SUBSTRING}_from(s, p), 0) + 1, "
    f"greatest(least({_SUBSTRING}_from(s, p), 0) + n, 0)) END",
)
"""Functions that the texts call."""
_OTHERS = (
    *(
        exp.ApproxQuantile,
        exp.ArrayDistinct,
        exp.ArrayExcept,
        exp.ArrayInsert,
        exp.ArrayIntersect,
        exp.ArrayRemove,
        exp.ArraysZip,
    ),
    exp.AtTimeZone,
    *(exp.BitmapConstructAgg, exp.BitwiseCount, exp.ConvertTimezone, exp.Format, exp.JSONFormat, exp.Kurtosis),
    *(exp.Levenshtein, exp.MonthsBetween, exp.Overlay, exp.RegrSlope, exp.Skewness),
)
_OTHER_NAMES = (
    *("bitmap_bit_position", "bitmap_bucket_number", "crc32", "hash", "json_array_length", "json_object_keys"),
    *(
        "map_concat",
        "parse_json",
        "printf",
        "regexp_instr",
        "time_bucket",
        "to_binary",
        "to_char",
        "try_to_binary",
        "typeof",
        "url_decode",
    ),
    *("url_encode", "xxhash64"),
)
_SPARKS_NAMES = {
    exp.ApproxQuantile: "approx_percentile",
    exp.AtTimeZone: "from_utc_timestamp",
    exp.BitwiseCount: "bit_count",
    exp.Format: "format_string",
    exp.JSONFormat: "to_json",
}
_FRACTIONS = ("SECOND", "SECONDS", "SEC", "SECS", "S")
_DAYS = {
    form
    for name in ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
    for form in (name, name[:3], name[:2])
}
_CUT_UNITS = (
    *("YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MON", "MM", "WEEK", "DAY", "DD", "HOUR", "MINUTE", "SECOND"),
    *("MILLISECOND", "MICROSECOND"),
)
_FRACTION_CALLS = ("date_part", "datepart")


def known_aggregate(node: exp.Expression) -> None:
    """Call `every`, `some` and `any` of rows by the names that DuckDB has, too."""
    name = _name(node)
    if isinstance(node, exp.Anonymous) and name in ("every", "some") and len(node.expressions) == 1:
        kind = exp.LogicalAnd if name == "every" else exp.LogicalOr
        node.replace(kind(this=node.expressions[0].copy()))
    elif isinstance(node, exp.Any) and isinstance(node.this, exp.Paren) and node.arg_key != "expression":
        node.replace(exp.LogicalOr(this=node.this.this.copy()))


def translate_function(node: exp.Expression) -> None:
    """Let DuckDB give the value that Spark gives. Raises UnsupportedError for a function that it computes in another way."""
    if isinstance(node, exp.Lateral) and node.args.get("outer"):
        raise UnsupportedError("LATERAL VIEW OUTER: DuckDB leaves rows of empty arrays out")
    if isinstance(node, exp.BitwiseLeftShift | exp.BitwiseRightShift) and not isinstance(node.expression, exp.Literal):
        raise UnsupportedError("a shift by a number that is no literal: DuckDB shifts by a negative one otherwise")
    if not isinstance(node, exp.Func | exp.AtTimeZone | exp.WithinGroup):
        return
    _refuse(node)
    translate = _BY_NAME.get(_name(node)) if isinstance(node, exp.Anonymous) else _TRANSLATIONS.get(type(node))
    if translate is not None:
        translate(node)


def _refuse(node: exp.Expression) -> None:
    name = _name(node)
    if isinstance(node, _OTHERS) or name in _OTHER_NAMES:
        raise UnsupportedError(f"{name}: DuckDB's function of that name gives other values than Spark's")
    if (isinstance(node, exp.Extract) and node.name.upper() in _FRACTIONS) or (
        name in _FRACTION_CALLS and node.expressions and node.expressions[0].name.upper() in _FRACTIONS
    ):
        raise UnsupportedError("extract of seconds: DuckDB leaves the fraction out; use second() for whole seconds")
    _refuse_units(node)
    if isinstance(node, exp.TimestampTrunc) and node.unit.name.upper() not in _CUT_UNITS:
        raise UnsupportedError(
            f"date_trunc to {node.unit.name}, which is null in Spark: name a unit from YEAR to MICROSECOND"
        )
    if isinstance(node, exp.SHA2) and not isinstance(node.args.get("length"), exp.Literal | None):
        raise UnsupportedError("sha2 of a number of bits that is no literal: DuckDB gives 256 bits")
    lambdas = node.args.get("expression")
    if (
        isinstance(node, exp.Transform | exp.ArrayFilter)
        and isinstance(lambdas, exp.Lambda)
        and len(lambdas.expressions) > 1
    ):
        raise UnsupportedError(f"{node.sql_name().lower()} with an index: DuckDB counts from 1, Spark from 0")
    if isinstance(node, exp.StrPosition) and not _is_positive(node.args.get("position"), missing=True):
        raise UnsupportedError(
            "locate: DuckDB searches from another place than Spark where that is not a positive literal"
        )
    if isinstance(node, exp.GenerateSeries) and node.args.get("step") is None and not _ascends(node):
        raise UnsupportedError("sequence: without a step DuckDB never counts down; name the step")
    if isinstance(node, exp.GenerateSeries) and node.find(exp.Interval):
        raise UnsupportedError("sequence of dates by an interval: DuckDB gives times, and other last days of months")
    if isinstance(node, exp.NextDay) and _text_of(node.expression).strip().upper() not in _DAYS:
        raise UnsupportedError("next_day of a day that is no literal name of one, such as 'Mon'")
    if isinstance(node, exp.RegexpReplace) and set(_text_of(node.args.get("replacement"))) & {"$", "\\"}:
        raise UnsupportedError("regexp_replace with groups in the replacement: DuckDB writes them in another way")
    if isinstance(node, exp.ArgMax | exp.ArgMin) and node.args.get("count") is not None:
        raise UnsupportedError("max_by and min_by of several rows: DuckDB's function gives one")
    if name in ("error", "raise_error") and not (name == "error" and _is_text(node.expressions)):
        raise UnsupportedError(
            f"{name}: DuckDB and Spark raise errors by other functions; write assert_true(condition)"
        )
    if name == "get_json_object" and isinstance(node, exp.Anonymous):
        raise UnsupportedError("get_json_object of a path that is no literal such as '$.a[0].b'")


def _is_text(arguments: list[exp.Expression]) -> bool:
    """Return whether they are one literal text, as in the errors that stand for those of Spark."""
    return len(arguments) == 1 and bool(arguments[0].is_string)


def _is_positive(node: exp.Expression | None, *, missing: bool) -> bool:
    if node is None:
        return missing
    return isinstance(node, exp.Literal) and bool(node.is_int) and int(node.name) > 0


def _name(node: exp.Expression) -> str:
    """As Spark calls the function."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    return _SPARKS_NAMES.get(type(node)) or (str(node.sql_name()).lower() if isinstance(node, exp.Func) else "")


def _refuse_units(node: exp.Expression) -> None:
    """Raises UnsupportedError for units that the two count in another way."""
    unit = node.args.get("unit")
    if isinstance(node, exp.TimestampDiff) or (
        isinstance(node, exp.DateDiff) and unit is not None and unit.name.upper() != "DAY"
    ):
        raise UnsupportedError(
            "a difference in units of time: DuckDB counts begun ones, Spark whole ones; use datediff(a, b)"
        )


def _text_of(node: exp.Expression | None) -> str:
    return node.name if isinstance(node, exp.Literal) else ""


def _ascends(node: exp.GenerateSeries) -> bool:
    first, last = node.args.get("start"), node.args.get("end")
    integers = all(isinstance(bound, exp.Literal) and bound.is_int for bound in (first, last))
    return integers and int(first.name) <= int(last.name)


def _call(macro: str, *arguments: exp.Expression) -> exp.Anonymous:
    return exp.Anonymous(this=macro, expressions=[argument.copy() for argument in arguments])


def _substring(node: exp.Substring) -> None:
    start, length = node.args.get("start"), node.args.get("length")
    plain = length is None or (isinstance(length, exp.Literal) and length.is_int)
    if start is not None and not (plain and _is_positive(start, missing=False)):
        node.replace(_call(_SUBSTRING, node.this, start, *([] if length is None else [length])))


def _count_if(node: exp.CountIf) -> None:
    node.replace(exp.Count(this=exp.Case().when(node.this.copy(), exp.Literal.number(1))))  # never null


def _side(node: exp.Left | exp.Right) -> None:
    count = node.expression
    if not isinstance(count, exp.Literal):  # a negative one counts from the other side in DuckDB
        negative = exp.LT(this=count.copy(), expression=exp.Literal.number(0))
        node.set("expression", exp.Case().when(negative, exp.Literal.number(0)).else_(count.copy()))


def _exists(node: exp.Exists) -> None:
    """Ask for an element of an array: null where no element fits and the condition is null for one."""
    if isinstance(node.expression, exp.Lambda):
        node.replace(
            _call(_CONTAINS, exp.Transform(this=node.this.copy(), expression=node.expression.copy()), exp.true())
        )


def _for_all(node: exp.Anonymous) -> None:
    array, condition = node.expressions
    failed = _call(_CONTAINS, exp.Transform(this=array.copy(), expression=condition.copy()), exp.false())
    node.replace(exp.paren(exp.Not(this=failed), copy=False))


def _reverse(node: exp.Reverse) -> None:
    # DuckDB knows no type of some values where it chooses a macro, and refuses arrays among them.
    node.replace(_call(f"{_REVERSE}_text" if is_untyped(node) else _REVERSE, node.this))


def _collected(node: exp.ArrayAgg | exp.ArrayUniqueAgg) -> None:
    """Make an empty array of no rows."""
    aggregate: exp.Expression = node
    while isinstance(aggregate.parent, exp.Filter | exp.Window) and aggregate.arg_key == "this":
        aggregate = aggregate.parent
    filled = exp.Coalesce(expressions=[exp.Array(expressions=[])])
    aggregate.replace(filled)
    filled.set("this", aggregate)  # not a copy: its other parts are translated later


def _any_row(node: exp.AnyValue) -> None:
    if not isinstance(node.parent, exp.IgnoreNulls):  # DuckDB passes over nulls
        node.replace(exp.First(this=node.this.copy()))


def _percentile(node: exp.Quantile) -> None:
    node.replace(
        _call("quantile_cont", exp.cast(node.this.copy(), "double"), node.args["quantile"])
    )  # DuckDB cuts decimals


def _average(node: exp.Avg) -> None:
    value = node.this
    if not isinstance(value, exp.Distinct):
        node.set("this", _call(f"{_MEASURED}_of_rows" if is_untyped(value) else _MEASURED, value))


def _as_double(node: exp.Median) -> None:
    node.set("this", exp.cast(node.this.copy(), "double"))  # DuckDB cuts decimals


def _continuous(node: exp.WithinGroup) -> None:
    if isinstance(node.this, exp.PercentileCont):
        for ordered in node.expression.find_all(exp.Ordered):
            ordered.set("this", exp.cast(ordered.this.copy(), "double"))  # DuckDB cuts decimals


def _joined_array(node: exp.ArrayToString) -> None:
    """Make an empty text of an array of nulls."""
    joined = node.copy()
    joined.set("this", _call(NO_BYTES, node.this))
    filled = exp.Coalesce(this=joined, expressions=[exp.Literal.string("")])
    node.replace(exp.Case().when(exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.null())), filled))


def _slice(node: exp.ArraySlice) -> None:
    start, count = node.args.get("start"), node.args.get("end")
    if _is_positive(start, missing=False) and _is_positive(count, missing=False):
        return
    wrong = exp.or_(
        exp.EQ(this=start.copy(), expression=exp.Literal.number(0)),
        exp.LT(this=count.copy(), expression=exp.Literal.number(0)),
    )
    failed = _call("error", exp.Literal.string("slice begins at 1 or from the end at -1, with a length of 0 or more"))
    node.replace(exp.Case().when(wrong, failed).else_(node.copy()))


def _joined(node: exp.GroupConcat) -> None:
    if node.args.get("separator") is None:
        node.set("separator", exp.Literal.string(""))


def _sequence(node: exp.GenerateSeries) -> None:
    if node.args.get("step") is not None:
        node.replace(_call(_SEQUENCE, *(node.args[name] for name in ("start", "end", "step"))))


def _short_name(node: exp.Dayname | exp.Monthname) -> None:
    node.replace(exp.Left(this=node.copy(), expression=exp.Literal.number(3)))


_TRANSLATIONS: dict[type[exp.Expression], Callable[..., None]] = {
    exp.ArgMax: lambda node: node.replace(_call("arg_max_null", node.this, node.expression)),
    exp.ArgMin: lambda node: node.replace(_call("arg_min_null", node.this, node.expression)),
    exp.AnyValue: _any_row,
    exp.ArrayAgg: _collected,
    exp.ArrayUniqueAgg: _collected,
    exp.ArrayContains: lambda node: node.replace(_call(_CONTAINS, node.this, node.expression)),
    exp.ArrayPosition: lambda node: node.replace(_call(_POSITION, node.this, node.expression)),
    exp.ArraySlice: _slice,
    exp.ArrayToString: _joined_array,
    exp.Avg: _average,
    exp.CountIf: _count_if,
    exp.Dayname: _short_name,
    exp.Exists: _exists,
    exp.Flatten: lambda node: node.replace(_call(_FLAT, node.this)),
    exp.GroupConcat: _joined,
    exp.Hex: lambda node: node.set("this", _call(_INTEGRAL, node.this)),
    exp.IsNan: lambda node: node.replace(exp.Coalesce(this=node.copy(), expressions=[exp.false()])),
    exp.Left: _side,
    exp.MapContainsKey: lambda node: node.replace(
        _call(_CONTAINS, exp.MapKeys(this=node.this.copy()), node.args["key"])
    ),
    exp.Median: _as_double,
    exp.Monthname: _short_name,
    exp.GenerateSeries: _sequence,
    exp.Pow: lambda node: node.replace(_call(_POWER, node.this, node.expression)),
    exp.Quantile: _percentile,
    exp.Reverse: _reverse,
    exp.Right: _side,
    exp.Sign: lambda node: node.replace(_call(_SIGN, node.this)),
    exp.SplitPart: lambda node: node.replace(
        _call(_PART, *(node.args[name] for name in ("this", "delimiter", "part_index")))
    ),
    exp.Substring: _substring,
    exp.WithinGroup: _continuous,
    exp.UnixMillis: lambda node: node.replace(_call(_MILLIS, node.this)),
    exp.UnixSeconds: lambda node: node.replace(_call(_UNIX_SECONDS, node.this)),
}
_BY_NAME: dict[str, Callable[..., None]] = {
    "bin": lambda node: node.set("expressions", [_call(f"{_INTEGRAL}_alone", *node.expressions)]),
    "forall": _for_all,
    "get": lambda node: node.replace(_call(_GET, *node.expressions)),
}
"""Functions of Spark that sqlglot does not know."""
