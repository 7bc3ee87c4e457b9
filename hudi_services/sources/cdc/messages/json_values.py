"""Values of one JSON text in Python, with every digit, as what Arrow makes a value of a given type of."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

_WHOLE = re.compile(r"-?[0-9]+")
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


class FaultError(ValueError):
    """A text that is not what its format says, in words for the user."""


class Number(str):
    """A number as it is written."""

    __slots__ = ()


def parsed(text: bytes) -> Any:
    """Return the value of a text, numbers as `Number`.

    Raises FaultError for what is no JSON, has a name twice, or half of a character.
    """
    try:
        value = json.loads(
            text.decode(), parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=_once
        )
        if b"\\ud" in text.lower():  # may be half of a pair, which no text of Arrow can have, nor a name
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError:
        raise FaultError("half of a character (a lone surrogate)") from None
    except UnicodeDecodeError as error:
        raise FaultError(f"bytes that are no UTF-8: {error.reason} at {error.start}") from None
    except RecursionError:
        raise FaultError("values are nested too deep") from None
    except FaultError:
        raise
    except ValueError as error:
        raise FaultError(f"no JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FaultError(f"the name {twice!r} twice in one object")
    return result


def value_of(value: Any, kind: pa.DataType, name: str, *, lenient: bool) -> Any:
    """Return what `pa.array` takes for a column of the type. Raises FaultError, with the column's name, for another value."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        if not isinstance(value, dict):
            _refuse(value, kind, name)
        return {
            field.name: value_of(value.get(field.name), field.type, f"{name}.{field.name}".lstrip("."), lenient=lenient)
            for field in kind.fields
        }
    if pa.types.is_map(kind):
        if not isinstance(value, dict):
            _refuse(value, kind, name)
        return [
            (_text(key, name), value_of(item, kind.item_type, name, lenient=lenient)) for key, item in value.items()
        ]
    if pa.types.is_list(kind):
        if not isinstance(value, list):
            _refuse(value, kind, name)
        return [value_of(item, kind.value_type, name, lenient=lenient) for item in value]
    if pa.types.is_string(kind):
        if isinstance(value, str) and not isinstance(value, Number):
            return _text(value, name)
        return _written(value) if lenient else _refuse(value, kind, name)
    scalar = next((read for is_it, read in _SCALARS if is_it(kind)), None)
    result = scalar(value, kind) if scalar is not None else None
    return _refuse(value, kind, name) if result is None else result


def _text(value: str, name: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise FaultError(f"half of a character (a lone surrogate) in the column {name!r}") from None
    return value


def _written(value: Any) -> str:
    """A value as JSON, numbers as they are written."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {_written(item)}" for name, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def _boolean(value: Any, _: pa.DataType) -> bool | None:
    if isinstance(value, Number):
        return {"0": False, "1": True}.get(value)
    return value if isinstance(value, bool) else None


def _whole(value: Any, kind: pa.DataType) -> int | None:
    number = _decimal(value)
    if number is None or number.adjusted() > 18 or number != number.to_integral_value():
        return None
    limit = 1 << (kind.bit_width - 1)
    return int(number) if -limit <= number < limit else None


def _float(value: Any, kind: pa.DataType) -> float | None:
    if value in _NO_NUMBERS:
        return float(value)
    if not isinstance(value, Number):
        return None
    with np.errstate(over="ignore"):
        result = float(kind.to_pandas_dtype()(value))
    if math.isinf(result) or (_WHOLE.fullmatch(value) and Decimal(result) != Decimal(value)):
        return None
    return result


def _fixed_point(value: Any, kind: pa.DataType) -> Decimal | None:
    number = (
        _decimal(value) if isinstance(value, Number) else _decimal(Number(value)) if isinstance(value, str) else None
    )
    if number is None:
        return None
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    shift = exponent + kind.scale
    if number and (len(digits) + shift > kind.precision or (shift < 0 and any(digits[shift:]))):
        return None
    return number


def _decimal(value: Any) -> Decimal | None:
    if not isinstance(value, Number) or value in _NO_NUMBERS:
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


_SCALARS: list[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType], Any]]] = [
    (pa.types.is_boolean, _boolean),
    (pa.types.is_integer, _whole),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _fixed_point),
]


def _refuse(value: Any, kind: pa.DataType, name: str) -> NoReturn:
    """Name the column and what it is given, but not the value, which may be a secret."""
    noun = next(word for python_type, word in _WORDS if isinstance(value, python_type))
    if not name:
        raise FaultError(f"{noun} in place of an object")
    raise FaultError(f"the column {name!r} of the type {kind} with {noun}, which it does not hold")


_WORDS = ((Number, "a number"), (str, "a text"), (bool, "true or false"), (dict, "an object"), (list, "an array"))
