"""Comparisons of a column with literals, by the type of the column. Pure.

Each is true exactly where SQL's is true; where SQL says false or unknown it is false or null. NaN is like null: no comparison is
true of it. So the statistics of a file, which leave NaN out, never hide a row, and a condition and its negation are both made
of comparisons that are true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import ArgumentError

NEVER = pc.scalar(False)
_ALL_DIGITS = Context(prec=200)
_MOST_DIGITS = 60  # digits beyond which no column's value goes
_MOST_EXPONENT = 400  # powers of ten, likewise
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
_MOMENT = re.compile(rf"({_DAY.pattern})([T ]{_TIME.pattern}(Z|[+-]\d\d(:?\d\d)?)?)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Column:
    """A column, or a field of a struct, that a filter names."""

    name: str  # dotted
    kind: pa.DataType
    value: pc.Expression

    @property
    def is_valid(self) -> pc.Expression:
        return self.value.is_valid()


@dataclass(frozen=True)
class Literal:
    """`kind` is `text`, `number`, `boolean`, `null`, or what is written before a text: `date`, `timestamp`, `time`."""

    kind: str
    value: str | Decimal | bool | None
    sql: str


_Compare = Callable[[Any, Any], pc.Expression]
_COMPARE: dict[str, _Compare] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def compared(column: Column, operator: str, literal: Literal) -> pc.Expression:
    """`column operator literal`. Raises ArgumentError for a literal that is not of the column's type."""
    if literal.kind == "null":
        return NEVER
    kind = column.kind
    if pa.types.is_floating(kind):
        return _float_compared(column, operator, literal)
    steps = _steps(column, literal)
    if steps is None:
        return _apply(column, operator, _plain(column, literal))
    exact = (
        steps.value.to_integral_value(ROUND_FLOOR, _ALL_DIGITS)
        if steps.value.copy_abs() < steps.beyond
        else steps.value
    )
    if exact != steps.value:  # between two values of the column
        if operator in ("=", "<>"):
            return NEVER if operator == "=" else column.is_valid
        operator = operator[0] + ("=" if operator[0] == "<" else "")
    if steps.low <= exact <= steps.high:
        return _apply(column, operator, steps.scalar(int(exact)))
    under = exact < steps.low
    true = operator == "<>" or operator[0] == (">" if under else "<")
    return column.is_valid if true else NEVER


def is_in(column: Column, literals: Sequence[Literal], *, negated: bool) -> pc.Expression:
    """`column in (…)`, or its negation. Raises what `compared` raises."""
    if negated and any(literal.kind == "null" for literal in literals):
        return NEVER
    equal = [compared(column, "=", literal) for literal in literals]
    if pa.types.is_floating(column.kind):  # in a set 0.0 and -0.0 differ
        if not negated:
            return reduce(or_, equal)
        return reduce(lambda left, right: left & right, [compared(column, "<>", literal) for literal in literals])
    values = [value for literal in literals for value in _values(column, literal)]
    condition = column.value.isin(pa.array(values, column.kind))
    return column.is_valid & ~condition if negated else condition


def _values(column: Column, literal: Literal) -> list[Any]:
    """The value of the column's type that the literal is; none where no value of that type is equal to it."""
    if literal.kind == "null":
        return []
    steps = _steps(column, literal)
    if steps is None:
        return [_plain(column, literal).as_py()]
    if not steps.low <= steps.value <= steps.high or steps.value != steps.value.to_integral_value(context=_ALL_DIGITS):
        return []
    return [steps.scalar(int(steps.value))]


def columns_compared(left: Column, operator: str, right: Column) -> pc.Expression:
    """A comparison of two columns. Raises ArgumentError when their types are not of one kind."""
    kinds = (left.kind, right.kind)
    alike = left.kind == right.kind or any(
        all(map(same, kinds)) for same in (pa.types.is_integer, pa.types.is_floating)
    )
    if not alike or pa.types.is_nested(left.kind):
        raise ArgumentError(
            f"A filter compares {left.name!r} with {right.name!r}",
            found=f"{left.kind} and {right.kind}",
            fix="compare columns of one type, or use an expression of pyarrow.compute with a cast",
        )
    return _apply(left, operator, right.value)


def _apply(column: Column, operator: str, value: Any) -> pc.Expression:
    if operator == "<>" and pa.types.is_floating(column.kind):
        return (column.value < value) | (column.value > value)
    return _COMPARE[operator](column.value, value)


@dataclass(frozen=True)
class _Steps:
    """A literal in steps of the column's type (units, cents, microseconds), and the least and greatest value that it holds."""

    value: Decimal
    low: int
    high: int
    scalar: Callable[[int], Any]

    @property
    def beyond(self) -> Decimal:
        return Decimal(10) ** _MOST_DIGITS


def _steps(column: Column, literal: Literal) -> _Steps | None:
    """None for columns whose values are not steps of a number."""
    kind = column.kind
    if pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        return _Steps(_number(column, literal), -(1 << bits), (1 << bits) - 1, lambda at: pa.scalar(at, kind))
    if pa.types.is_decimal(kind):
        most = 10**kind.precision - 1
        cents = _number(column, literal).scaleb(kind.scale, _ALL_DIGITS)
        return _Steps(cents, -most, most, lambda at: pa.scalar(Decimal(at).scaleb(-kind.scale, _ALL_DIGITS), kind))
    if pa.types.is_timestamp(kind):
        per_step = {"us": 1, "ms": 1000}[kind.unit]
        since = Decimal(_moment(column, literal)) / per_step
        return _Steps(since, -(1 << 63), (1 << 63) - 1, lambda at: pa.scalar(at, pa.int64()).cast(kind))
    return None


def _number(column: Column, literal: Literal) -> Decimal:
    if not isinstance(literal.value, Decimal):
        raise _unfit(column, literal, f"a number, such as {'7' if pa.types.is_integer(column.kind) else '7.5'}")
    return literal.value


def _float_compared(column: Column, operator: str, literal: Literal) -> pc.Expression:
    """The literal is a DOUBLE, as in Spark: of a FLOAT it may lie between two values."""
    nearest, double = _float(column, literal), float(_number(column, literal))
    above = nearest.as_py() > double
    if nearest.as_py() != double:
        if operator in ("=", "<>"):
            return NEVER if operator == "=" else _apply(column, "<=", pa.scalar(float("inf"), column.kind))
        operator = operator[0] + ("=" if above is (operator[0] == ">") else "")
    return _apply(column, operator, nearest)


def _float(column: Column, literal: Literal) -> Any:
    scalar = pa.scalar(float(_number(column, literal)), column.kind)
    if scalar.as_py() in (float("inf"), float("-inf")):
        raise _unfit(column, literal, "a number that it can hold")
    return scalar


def _plain(column: Column, literal: Literal) -> Any:
    """The scalar of a literal for a column of text, days, times or truths."""
    kind, value = column.kind, literal.value
    if pa.types.is_boolean(kind) and isinstance(value, bool):
        return pa.scalar(value, kind)
    if pa.types.is_string(kind) and literal.kind == "text":
        try:
            return pa.scalar(value, kind)
        except ValueError as error:
            raise _unfit(column, literal, "text of Unicode characters") from error
    if pa.types.is_date(kind):
        if literal.kind in ("text", "date") and isinstance(value, str) and _DAY.fullmatch(value):
            day = _parsed(date.fromisoformat, value)
            if day is not None:
                return pa.scalar(day, kind)
        raise _unfit(column, literal, "a day, such as '2026-01-31'")
    if pa.types.is_time(kind):
        if literal.kind in ("text", "time") and isinstance(value, str) and _TIME.fullmatch(value):
            clock = _parsed(time.fromisoformat, value)
            if clock is not None and not (kind.unit == "ms" and clock.microsecond % 1000):
                return pa.scalar(clock, kind)
        raise _unfit(column, literal, "a time, such as '12:30:00'")
    expected = {pa.string(): "text in single quotes, such as '007'", pa.bool_(): "true or false"}.get(kind)
    if expected is None:
        raise ArgumentError(
            f"A filter compares {column.name!r} with {literal.sql}",
            found=f"{column.name} is {kind}",
            fix="of such a column only `is null` and `is not null` can be asked",
        )
    raise _unfit(column, literal, expected)


def _moment(column: Column, literal: Literal) -> int:
    """Microseconds since 1970. A literal without a zone is UTC where the column has one."""
    text = literal.value
    match = _MOMENT.fullmatch(text) if isinstance(text, str) and literal.kind in ("text", "date", "timestamp") else None
    moment = _parsed(datetime.fromisoformat, str(text)) if match is not None else None
    if moment is None or (moment.tzinfo is not None and column.kind.tz is None):
        zone = "Z'; without a zone it is UTC" if column.kind.tz is not None else "', without a zone"
        raise _unfit(column, literal, f"a time, such as '2026-01-31 12:30:00{zone}")
    aware: datetime = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def _unfit(column: Column, literal: Literal, expected: str) -> ArgumentError:
    return ArgumentError(
        f"A filter compares {column.name!r} with {literal.sql}",
        found=f"{column.name} is {column.kind}",
        fix=f"give {expected}",
    )


def number_of(text: str) -> Decimal | None:
    """The number in a text; None for other text, or a number far beyond the range of all columns."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    wieldy = (
        number.is_finite()
        and abs(number.adjusted()) <= _MOST_EXPONENT
        and len(number.as_tuple().digits) <= _MOST_DIGITS
    )
    return number if wieldy else None
