"""Types of columns that no schema declares, from all their values: those that keep every digit, and text where a text is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa

from hudi_services.sources.cdc.messages.json_values import Number

_DIGITS = 38


@dataclass
class Guess:
    """The values of a column so far. The first that is not null decides what it is, later ones only how wide."""

    kind: str = ""  # number, text, boolean, object or array
    fraction: bool = False
    rounded: bool = False  # a float would have other digits
    wide: bool = False  # 64 bits do not hold a whole number
    whole: int = 1  # digits before the point
    scale: int = 0
    members: dict[str, Guess] = field(default_factory=dict)
    items: Guess | None = None

    def add(self, value: Any) -> None:
        """Note a value of a message, numbers as `Number`."""
        kind = next((name for python_type, name in _KINDS if isinstance(value, python_type)), "")
        self.kind = self.kind or kind
        if kind != self.kind:
            return  # null, or a value that the column cannot hold: its message is rejected
        if kind == "number":
            self._add_number(value)
        elif kind == "object":
            add_members(self.members, value.items())
        elif kind == "array":
            self.items = self.items or Guess()
            for item in value:
                self.items.add(item)

    def _add_number(self, value: Number) -> None:
        number = Decimal(value)
        if not number.is_finite():
            self.fraction = True
            return
        _, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)
        self.whole = max(self.whole, len(digits) + exponent)
        self.scale = max(self.scale, -exponent)
        self.fraction |= exponent != 0 or "e" in value.lower()
        self.wide |= not -(2**63) <= number < 2**63
        self.rounded |= number != Decimal(repr(float(number)))

    @property
    def type(self) -> pa.DataType | None:
        """The type of the column, None while all values are null."""
        if self.kind == "number":
            return self._number_type()
        if self.kind == "object":
            fields = types_of(self.members)
            return pa.struct(list(fields.items())) if fields else None
        if self.kind == "array":
            inside = self.items.type if self.items is not None else None
            return pa.list_(inside) if inside is not None else None
        return {"text": pa.string(), "boolean": pa.bool_()}.get(self.kind)

    def _number_type(self) -> pa.DataType:
        if not self.fraction:
            return pa.decimal128(_DIGITS, 0) if self.wide else pa.int64()
        if self.rounded and self.whole + self.scale <= _DIGITS:
            return pa.decimal128(_DIGITS, self.scale)
        return pa.float64()


def add_members(guesses: dict[str, Guess], members: Iterable[tuple[str, Any]]) -> None:
    """Note the values of one row."""
    for name, value in members:
        if value is not None:
            guesses.setdefault(name, Guess()).add(value)


def types_of(guesses: Mapping[str, Guess]) -> dict[str, pa.DataType]:
    """Return the types of the columns that have values."""
    return {name: kind for name, guess in guesses.items() if (kind := guess.type) is not None}


_KINDS = ((Number, "number"), (str, "text"), (bool, "boolean"), (dict, "object"), (list, "array"))
