"""Options: each key is declared once, with its type, default, description and older names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from hoodie.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ConfigKey(Generic[T]):
    """One `hoodie.*` option.

    `parse` turns text into the value and raises ValueError with what it accepts. `default` is the value when the option is
    absent; None means that it has none.
    """

    name: str
    parse: Callable[[str], T]
    default: T | None
    doc: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


def text(value: str) -> str:
    return value.strip()


def boolean(value: str) -> bool:
    lowered = value.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("true or false")
    return lowered == "true"


def integer(minimum: int) -> Callable[[str], int]:
    """A whole number not below `minimum`."""

    def parse(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(f"a whole number, {minimum} or more") from None
        if number < minimum:
            raise ValueError(f"a whole number, {minimum} or more")
        return number

    return parse


def fraction(value: str) -> float:
    """A number between 0 and 1."""
    try:
        number = float(value)
    except ValueError:
        raise ValueError("a number between 0 and 1") from None
    if not 0 <= number <= 1:
        raise ValueError("a number between 0 and 1")
    return number


def columns(value: str) -> tuple[str, ...]:
    """A comma list of column names."""
    return tuple(name.strip() for name in value.split(",") if name.strip())


def regex(value: str) -> str:
    """A regular expression of Python's."""
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return value


def choice(*allowed: str) -> Callable[[str], str]:
    """One of `allowed`, in any case."""

    def parse(value: str) -> str:
        upper = value.strip().upper()
        if upper not in allowed:
            raise ValueError("one of " + ", ".join(allowed))
        return upper

    return parse


class PlacedText(str):
    """The text of an option, with the place that it was read from, such as the path of a properties file."""

    place: str

    def __new__(cls, text: str, place: str) -> PlacedText:
        result = super().__new__(cls, text)
        result.place = place
        return result

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.place


class Options:
    """Values of declared keys: given ones, otherwise defaults. Immutable, and handed on: they are parsed once."""

    def __init__(
        self, values: Mapping[ConfigKey[Any], Any], names: Mapping[ConfigKey[Any], str] = MappingProxyType({})
    ) -> None:
        self._values, self._names = dict(values), dict(names)

    def __bool__(self) -> bool:
        """True where the caller set any option."""
        return bool(self._values)

    def __getitem__(self, key: ConfigKey[T]) -> T:
        """The given value or the default. Raises ConfigError when there is neither."""
        value = self.get(key)
        if value is None:
            raise ConfigError(f"Option {key.name} is missing", fix=f"set it: {key.doc}")
        return value

    def get(self, key: ConfigKey[T]) -> T | None:
        """The given value, the default, or None."""
        return cast("T | None", self._values.get(key, key.default))

    def is_set(self, key: ConfigKey[Any]) -> bool:
        """Return whether the caller set the option (not the default)."""
        return key in self._values

    def origin(self, key: ConfigKey[Any]) -> str:
        """The source of the value: `default`, or the name (an older one too) under which the option was given, and the place
        where that is known, such as `hoodie.clean.commits.retained in /etc/clean.properties`."""
        return self._names.get(key, key.name) if key in self._values else "default"

    def among(self, keys: Iterable[ConfigKey[Any]]) -> Options:
        """The given values of these keys alone. The others have their defaults."""
        return Options({key: self._values[key] for key in keys if key in self._values}, self._names)

    def with_value(self, key: ConfigKey[T], value: T) -> Options:
        """These options, with another value of one key."""
        return Options({**self._values, key: value}, self._names)


def as_text(value: object) -> str:
    """A given value as the text that a properties file would hold."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


RawOptions = Mapping[str, object] | Options
"""Options of a call: names and values as a person wrote them, or already resolved."""


def resolve(raw_options: RawOptions, keys: Iterable[ConfigKey[Any]]) -> Options:
    """Check and parse `raw_options` (names or older names -> values, text or Python values) against the declared `keys`.

    It takes those of `keys` out of options that are resolved already.

    Raises ConfigError for an unknown key (naming the closest one), a value that cannot be, or two names of one option that
    contradict each other. An option that would have no effect is an error: its user believes that it has one.
    """
    if isinstance(raw_options, Options):
        return raw_options.among(keys)
    by_name = {name: key for key in keys for name in key.names}
    values: dict[ConfigKey[Any], Any] = {}
    names: dict[ConfigKey[Any], str] = {}
    for name, raw in raw_options.items():
        key = by_name.get(name)
        if key is None:
            close = difflib.get_close_matches(name, by_name, n=1)
            raise ConfigError(
                f"Option {name!r} is not known here",
                fix=f"did you mean {close[0]!r}?" if close else "remove it: it would have no effect",
            )
        if raw is None:
            raise ConfigError(f"Option {name!r} has no value", found="None", fix=f"leave it out, or give it: {key.doc}")
        given_text = as_text(raw)
        try:
            value = key.parse(given_text)
        except ValueError as error:
            raise ConfigError(
                f"Option {name!r} has a value it cannot have",
                found=f"{given_text!r}{_in_place(raw)}",
                fix=f"give {error}",
            ) from None
        if key in values and values[key] != value:
            raise ConfigError(
                f"Options {names[key]!r} and {name!r} are one option and contradict each other",
                found=f"{values[key]!r}{_in_place(raw_options[names[key]])} and {value!r}{_in_place(raw)}",
                fix=f"keep {key.name!r} alone",
            )
        values[key] = value
        names[key] = name
    return Options(values, {key: f"{name}{_in_place(raw_options[name])}" for key, name in names.items()})


def _in_place(value: object) -> str:
    return f" in {value.place}" if isinstance(value, PlacedText) else ""
