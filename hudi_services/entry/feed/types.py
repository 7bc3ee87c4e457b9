"""Types of columns as people write them: in SQL's words, as Spark has them, or in Arrow's.

pyarrow reads only its own names without parameters, Spark asks its JVM, and SQL parsers accept any word as a type that a user
may have declared. This module refuses types that a Hudi table cannot hold, at the place where they are written.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

_PLAIN = {
    "boolean": ("boolean", "bool"),
    "tinyint": ("tinyint", "byte", "int8"),
    "smallint": ("smallint", "short", "int16"),
    "int": ("int", "integer", "int32"),
    "bigint": ("bigint", "long", "int64"),
    "float": ("float", "real", "float32"),
    "double": ("double", "float64"),
    "string": ("string", "text", "utf8", "large_string", "large_utf8", "string_view"),
    "binary": ("binary", "bytes", "large_binary", "binary_view"),
    "date": ("date", "date32", "date64"),
    "timestamp": ("timestamp_ltz", "timestamptz"),
    "timestamp_ntz": ("timestamp_ntz",),
}
_NAMES = {word: name for name, words in _PLAIN.items() for word in words}
_DECIMALS = ("decimal", "numeric", "decimal128")
_LISTS = ("array", "list", "large_list")
_KNOWN = (*_NAMES, *_DECIMALS, *_LISTS, "timestamp", "map", "struct")
_INSTEAD = {
    "varchar": "string",
    "char": "string",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
    "time": "string",
    "datetime": "timestamp, or timestamp_ntz for local times",
    "halffloat": "float",
    "float16": "float",
    "uuid": "string",
    "json": "string",
}
_TOKEN = re.compile(r"\s*(?:([^\W\d]\w*(?:/\w+)*)|(\d+)|`((?:[^`]|``)+)`|([()<>\[\],:=]))")
_MOST_DIGITS = 38
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Type:
    """A column's type. `name` is SQL's: a plain one, or decimal, array, map, struct with what is inside."""

    name: str
    precision: int = 0
    scale: int = 0
    inside: tuple[Member, ...] = ()

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision},{self.scale})"
        if self.name == "struct":
            return f"struct<{', '.join(f'{_quoted(inner.name)}: {inner}' for inner in self.inside)}>"
        return f"{self.name}<{', '.join(map(str, self.inside))}>" if self.inside else self.name


@dataclass(frozen=True, slots=True)
class Member:
    """A type inside another one: a field of a struct, by its name, or an element, a key or a value."""

    name: str
    type: Type
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.type}{'' if self.nullable else ' not null'}"


def parse_type(text: str) -> Type:
    """The type that `text` names, such as `decimal(10,2)`, `array<string>` or `timestamp[us, tz=UTC]`.

    Raises ValueError that says what is wrong with it.
    """
    return _Parser(text).parse()


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else "`" + name.replace("`", "``") + "`"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        if text.count("<") > _DEEPEST:
            raise ValueError(f"the type {text[:50]}… cannot be read: it is nested too deeply")
        self._tokens: list[tuple[str, str]] = []  # kind and text
        self._next = 0
        place = 0
        while place < len(text.rstrip()):
            match = _TOKEN.match(text, place)
            if match is None:
                raise self._wrong(f"{text[place:].strip()[:1]!r} has no place in a type")
            word, digits, quoted, sign = match.groups()
            token = ("word", word) if word else ("digits", digits) if digits else ("sign", sign)
            self._tokens.append(token if quoted is None else ("quoted", quoted.replace("``", "`")))
            place = match.end()

    def parse(self) -> Type:
        kind = self._type()
        if self._next < len(self._tokens):
            raise self._wrong(f"{self._tokens[self._next][1]!r} follows a type that is complete")
        return kind

    def _type(self) -> Type:
        word = self._word("a type")
        name = word.lower()
        if name == "timestamp":
            return self._timestamp()
        if name in _DECIMALS:
            return self._decimal()
        if name in _LISTS:
            return Type("array", inside=self._members("element", names=("item", "element", "array"), count=1))
        if name == "map":
            return self._map()
        if name == "struct":
            return Type("struct", inside=self._struct())
        if name == "fixed_size_binary":
            self._between("[", "]", 1)
            return Type("binary")
        if name not in _NAMES:
            raise self._unknown(word)
        if name in ("date32", "date64") and self._takes("["):  # Arrow says the unit
            self._word("a unit")
            self._expect("]")
        if name == "double" and self._peek() == ("word", "precision"):
            self._next += 1
        return Type(_NAMES[name])

    def _timestamp(self) -> Type:
        """SQL's is a moment, as is Arrow's with a zone; Arrow's without one is a local time."""
        if not self._takes("["):
            return Type("timestamp")
        unit = self._word("a unit")
        if unit not in ("s", "ms", "us", "ns"):
            raise self._wrong(f"{unit!r} is no unit; known are s, ms, us and ns")
        if self._takes("]"):
            return Type("timestamp_ntz")
        self._expect(",")
        if self._word("tz") != "tz" or not self._takes("="):
            raise self._wrong("the unit must be followed by tz=UTC")
        if self._peek()[1].upper() not in ("UTC", "Z"):
            raise self._wrong(
                "a table keeps moments in UTC: write tz=UTC, and set the zone of the values by `timestamps`"
            )
        self._next += 1
        self._expect("]")
        return Type("timestamp")

    def _decimal(self) -> Type:
        if self._peek() != ("sign", "("):
            raise self._wrong("a decimal needs its digits, and how many of them follow the point: decimal(10,2)")
        digits = self._between("(", ")", 2)
        precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
        if not 0 < precision <= _MOST_DIGITS or scale > precision:
            raise self._wrong(
                f"a decimal has 1 to {_MOST_DIGITS} digits, of which no more follow the point than there are"
            )
        return Type("decimal", precision, scale)

    def _map(self) -> Type:
        key, value = self._members("value", names=(), count=2)
        if key.type != Type("string"):
            raise self._wrong(f"the keys of a map are strings, not {key.type}")
        return Type("map", inside=(Member("key", key.type, False), value))

    def _members(self, name: str, names: tuple[str, ...], count: int) -> tuple[Member, ...]:
        """Types in angles. Arrow writes the name of a list's item before it."""
        self._expect("<")
        result = []
        for place in range(count):
            if place:
                self._expect(",")
            if self._peek()[1] in names and self._peek(1) == ("sign", ":"):
                self._next += 2
            result.append(Member(name, self._type(), self._nullable()))
        self._expect(">")
        return tuple(result)

    def _struct(self) -> tuple[Member, ...]:
        self._expect("<")
        result: dict[str, Member] = {}
        while True:
            kind, name = self._peek()
            if kind not in ("word", "quoted"):
                raise self._wrong("a struct has fields: struct<a: int, b: string>")
            self._next += 1
            self._takes(":")
            if name in result:
                raise self._wrong(f"the field {name!r} is there twice")
            result[name] = Member(name, self._type(), self._nullable())
            if self._takes(">"):
                return tuple(result.values())
            self._expect(",")

    def _nullable(self) -> bool:
        if [self._peek(n)[1].lower() for n in (0, 1)] == ["not", "null"]:
            self._next += 2
            return False
        return True

    def _between(self, opened: str, closed: str, most: int) -> list[int]:
        self._expect(opened)
        result: list[int] = []
        while True:
            kind, text = self._peek()
            if kind != "digits":
                raise self._wrong(f"a number is missing after {opened!r}" if not result else "a number is missing")
            self._next += 1
            result.append(int(text))
            if len(result) == most or self._peek() != ("sign", ","):
                self._expect(closed)
                return result
            self._next += 1

    def _peek(self, ahead: int = 0) -> tuple[str, str]:
        place = self._next + ahead
        return self._tokens[place] if place < len(self._tokens) else ("end", "")

    def _word(self, noun: str) -> str:
        kind, text = self._peek()
        if kind != "word":
            raise self._wrong(f"{noun} is missing")
        self._next += 1
        return text

    def _takes(self, sign: str) -> bool:
        if self._peek() != ("sign", sign):
            return False
        self._next += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            kind, token = self._peek()
            hint = "; inside braces YAML takes a comma for its own: put the type in quotes" if kind == "end" else ""
            raise self._wrong(f"{sign!r} is missing" + (f" before {token!r}" if token else "") + hint)

    def _unknown(self, word: str) -> ValueError:
        instead = _INSTEAD.get(word.lower())
        if instead is None:
            instead = next(iter(difflib.get_close_matches(word.lower(), _KNOWN, n=1)), None)
        known = (
            "boolean, int, bigint, float, double, decimal(10,2), string, binary, date, timestamp, array<…>, struct<…>"
        )
        return self._wrong(
            f"{word!r} is no type of a table; " + (f"use {instead}" if instead else f"known are {known}")
        )

    def _wrong(self, message: str) -> ValueError:
        return ValueError(f"the type {self._text!r} cannot be read: {message}")
