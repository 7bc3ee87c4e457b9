"""Parsing texts by a pattern: one step for each element of the pattern, all texts at once.

As in Joda-Time every element takes as many characters as it can and nothing is tried twice, and the fields are then set from
the longest unit to the shortest, starting at 1970-01-01 (or in the year 2000 when the longest is a month or a day).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hoodie.keygen.joda.fields import DAY, HOUR, MINUTE, MONTH, SECOND, SETTERS, Flags, Longs
from hoodie.keygen.joda.names import NAMES, SHORT
from hoodie.keygen.joda.pattern import Fraction, Literal, Name, Number, Offset, Pattern, TwoDigitYear

_YEAR_OF_DATES_WITHOUT_ONE = 2000
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Parsed:
    """Local times in milliseconds, the offsets written in the texts (where `has_offset`), and which texts are dates."""

    local: Longs
    offset: Longs
    has_offset: Flags
    good: Flags


class _Reader:
    """The texts as bytes, and how far each is read."""

    def __init__(self, texts: pa.StringArray) -> None:
        offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
        data = texts.buffers()[2]
        # A zero byte behind the last one, so that every position can be looked at.
        self._bytes = np.append(np.frombuffer(data or b"", np.uint8), np.uint8(0))
        self.position = offsets[:-1].astype(np.int64)
        self.end = offsets[1:].astype(np.int64)
        self.good = np.ones(len(texts), np.bool_)

    def byte(self, ahead: int | Longs = 0) -> npt.NDArray[np.uint8]:
        """The byte at the position, 0 behind the end."""
        at = self.position + ahead
        return np.where(at < self.end, self._bytes[np.minimum(at, len(self._bytes) - 1)], np.uint8(0))

    def digit(self, ahead: int | Longs = 0) -> tuple[Longs, Flags]:
        byte = self.byte(ahead)
        return byte.astype(np.int64) - 48, (byte >= 48) & (byte <= 57)

    def number(self, most: int | Longs, signed: bool) -> tuple[Longs, Longs]:
        """The number at the position and how many digits it has; digits are passed, and a sign before one."""
        if signed:
            byte = self.byte()
            sign = ((byte == ord("-")) | (byte == ord("+"))) & self.digit(1)[1] & (np.asarray(most) > 1)
            negative = sign & (byte == ord("-"))
            self.position = self.position + sign
        value, count = np.zeros_like(self.position), np.zeros_like(self.position)
        reading = np.ones(len(value), np.bool_)
        for _ in range(int(np.max(most, initial=0))):
            digit, is_digit = self.digit()
            reading &= is_digit & (count < most)
            value = np.where(reading, value * 10 + digit, value)
            count += reading
            self.position = self.position + reading
        return (np.where(negative, -value, value) if signed else value), count

    def starts_with(self, text: bytes, *, any_case: bool) -> Flags:
        same = np.ones(len(self.position), np.bool_)
        forms = (text.lower(), text.upper()) if any_case else (text, text)
        for index, (small, capital) in enumerate(zip(*forms, strict=True)):
            byte = self.byte(index)
            same &= byte == small if small == capital else (byte == small) | (byte == capital)
            if not same.any():
                break
        return same


def parse(texts: pa.StringArray, pattern: Pattern, year_now: int) -> tuple[Parsed, Flags]:
    """Read texts without nulls; also return which texts have the pattern, dates or not (13 months).

    `year_now` decides the century of years with two digits (from 80 years before on)."""
    reader = _Reader(texts)
    result: list[tuple[str, Longs]] = []
    offset, has_offset = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
    for element in pattern.elements:
        match element:
            case Literal(text):
                literal = text.encode()
                reader.good &= reader.starts_with(literal, any_case=True)
                reader.position = reader.position + len(literal)
            case Number(field, _, most, signed):
                value, count = reader.number(most, signed)
                reader.good &= count > 0
                result.append((field, value))
            case TwoDigitYear(field, lenient):
                result.append((field, _two_digit_year(reader, lenient, year_now)))
            case Fraction(digits):
                result.append(("millisecond", _fraction(reader, digits)))
            case Name(field):
                result.append((field, _name(reader, field)))
            case Offset():
                offset = _offset(reader)
                has_offset = np.ones(len(texts), np.bool_)
    good = reader.good & (reader.position == reader.end)
    local, possible = _set_fields(result, len(texts), good)
    return Parsed(local, offset, has_offset, good & possible), good


def _set_fields(parsed: list[tuple[str, Longs]], size: int, good: Flags) -> tuple[Longs, Flags]:
    ordered = sorted(parsed, key=lambda pair: (-SETTERS[pair[0]].span, -SETTERS[pair[0]].unit))
    if ordered and DAY <= SETTERS[ordered[0][0]].unit <= MONTH:
        ordered.insert(0, ("year", np.full(size, _YEAR_OF_DATES_WITHOUT_ONE, np.int64)))
    local, possible = np.zeros(size, np.int64), np.ones(size, np.bool_)
    for last_pass in (False, True):
        for index, (field, values) in enumerate(ordered):
            setter = SETTERS[field]
            # Texts without the pattern get harmless values.
            moved, fits = setter.apply(local, values)
            possible &= fits
            local = np.where(good & fits, moved, local)
            if not last_pass or index == len(ordered) - 1:
                local = setter.floor(local)
    return local, possible


def _two_digit_year(reader: _Reader, lenient: bool, year_now: int) -> Longs:
    least = year_now - 30 - 50
    if lenient:
        byte = reader.byte()
        signed = (byte == ord("-")) | (byte == ord("+"))
        value, count = reader.number(_LONGEST_NUMBER, signed=True)
        reader.good &= count > 0
        plain = (count == 2) & ~signed
    else:
        value, count = reader.number(2, signed=False)
        reader.good &= count == 2
        plain = count == 2
    return np.where(plain, least + (value - least) % 100, value)


def _fraction(reader: _Reader, digits: int) -> Longs:
    value, count = np.zeros_like(reader.position), np.zeros_like(reader.position)
    reading = np.ones(len(value), np.bool_)
    for index in range(digits):
        digit, is_digit = reader.digit()
        reading &= is_digit
        value += np.where(reading, digit, 0) * (10 ** (2 - index) if index < 3 else 0)
        count += reading
        reader.position = reader.position + reading
    reader.good &= count > 0
    return value


def _name(reader: _Reader, field: str) -> Longs:
    """The number of the longest name at the position: short or long, as it is written, in capitals or in small letters."""
    first, names = NAMES[field]
    value_of_name = {
        variant: first + index
        for index, name in enumerate(names)
        for form in (name, name[:SHORT])
        for variant in (form, form.lower(), form.upper())
    }
    value, length = np.zeros_like(reader.position), np.zeros_like(reader.position)
    for name in sorted(value_of_name, key=len, reverse=True):
        matches = (length == 0) & reader.starts_with(name.encode(), any_case=False)
        value = np.where(matches, value_of_name[name], value)
        length = np.where(matches, len(name), length)
    reader.good &= length > 0
    reader.position = reader.position + length
    return value


def _offset(reader: _Reader) -> Longs:
    """`Z`, or a sign, two digits of hours, and minutes and seconds of two digits each, with or without colons."""
    byte = reader.byte()
    zero = (byte == ord("Z")) | (byte == ord("z"))
    sign = (byte == ord("+")) | (byte == ord("-"))
    reader.good &= zero | sign
    reader.position = reader.position + (zero | sign)
    going = sign.copy()
    hours = _two_digits(reader, going, 23)
    total = hours * HOUR
    colons = going & (reader.byte() == ord(":"))
    for unit in (MINUTE, SECOND):
        at_colon = reader.byte() == ord(":")
        going &= np.where(colons, at_colon, reader.digit()[1])
        reader.position = reader.position + (going & colons)
        total += _two_digits(reader, going, 59) * unit
    return np.where(byte == ord("-"), -total, total)


def _two_digits(reader: _Reader, where: Flags, most: int) -> Longs:
    first, first_is_digit = reader.digit()
    second, second_is_digit = reader.digit(1)
    value = first * 10 + second
    reader.good &= ~where | (first_is_digit & second_is_digit & (value <= most))
    reader.position = reader.position + 2 * where
    return np.where(where & first_is_digit & second_is_digit, value, 0)
