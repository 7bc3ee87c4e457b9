"""Options of the TimestampBased key generator, and of the timestamp columns of the Custom one.

Each key has Hudi's two names: `hoodie.keygen.timebased.*`, which tables keep, and `hoodie.deltastreamer.keygen.timebased.*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hoodie.config.key import ConfigKey, Options, choice, resolve
from hoodie.errors import ConfigError

TIME_UNITS = ("NANOSECONDS", "MICROSECONDS", "MILLISECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS")
_UNIT_OF_TYPE = {
    "UNIX_TIMESTAMP": "SECONDS",
    "EPOCHMILLISECONDS": "MILLISECONDS",
    "EPOCHMICROSECONDS": "MICROSECONDS",
}
_OF_STRINGS = ("DATE_STRING", "MIXED")
_STORED_UNITS = {"timestamp": "MICROSECONDS", "date": "DAYS"}  # what tables keep of such columns, since 1970
_COMMA = ","
_PARSER = "org.apache.hudi.keygen.parser.HoodieDateTimeParser"


def _key(name: str, parse: Callable[[str], str], default: str | None, doc: str) -> ConfigKey[str]:
    return ConfigKey[str](
        f"hoodie.keygen.{name}", parse, default, doc, aliases=(f"hoodie.deltastreamer.keygen.{name}",)
    )


def _exact(value: str) -> str:
    """Spaces at the ends belong to a pattern."""
    return value


def _regex(value: str) -> str:
    """As in Hudi without spaces at its ends, and a comma when it is empty."""
    value = value.strip() or _COMMA
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from None
    return value


TYPE = _key(
    "timebased.timestamp.type",
    choice("UNIX_TIMESTAMP", "DATE_STRING", "MIXED", "EPOCHMILLISECONDS", "EPOCHMICROSECONDS", "SCALAR"),
    None,
    "what the column holds: seconds, milliseconds or microseconds since 1970, a number in the scalar time unit, or text",
)
UNIT = _key("timebased.timestamp.scalar.time.unit", choice(*TIME_UNITS), "SECONDS", "the unit of SCALAR")
INPUT_FORMAT = _key("timebased.input.dateformat", _exact, None, "Joda-Time patterns of the text, the first that fits")
DELIMITER = _key("timebased.input.dateformat.list.delimiter.regex", _regex, _COMMA, "separator of input patterns")
INPUT_ZONE = _key("timebased.input.timezone", _exact, None, "Java's name of the zone of texts that name none")
OUTPUT_FORMAT = _key("timebased.output.dateformat", _exact, None, "Joda-Time pattern of the folder")
OUTPUT_ZONE = _key("timebased.output.timezone", _exact, None, "Java's name of the zone of the folders' times")
ZONE = _key("timebased.timezone", _exact, None, "both zones at once")
PARSER = _key(
    "datetime.parser.class", choice(_PARSER.upper()), _PARSER.upper(), "Hudi's class that reads these options"
)

TIMEBASED_KEYS: tuple[ConfigKey[Any], ...] = (
    TYPE,
    UNIT,
    INPUT_FORMAT,
    DELIMITER,
    INPUT_ZONE,
    OUTPUT_FORMAT,
    OUTPUT_ZONE,
    ZONE,
    PARSER,
)


@dataclass(frozen=True, slots=True)
class TimestampOptions:
    """How a column's values become folders. `unit` is None for text; a zone is None where none is given."""

    unit: str | None
    input_formats: tuple[str, ...]
    null_format: str  # what Hudi writes a null by before it reads it again
    input_zone: str | None
    output_format: str
    output_zone: str | None

    @classmethod
    def of(cls, options: Options) -> TimestampOptions:
        """From the keys of `TIMEBASED_KEYS`. Raises ConfigError for one that is missing."""
        kind = options[TYPE]
        if not options.get(OUTPUT_FORMAT):
            raise ConfigError(f"Option {OUTPUT_FORMAT.name} is missing", fix=f"set it: {OUTPUT_FORMAT.doc}")
        parts: list[str] = []
        if kind in _OF_STRINGS:
            formats = options.get(INPUT_FORMAT)
            if not formats:
                raise ConfigError(
                    f"Option {INPUT_FORMAT.name} is missing: {kind} needs it", fix="name the texts' pattern"
                )
            parts = re.split(options[DELIMITER], formats)
            while parts and not parts[-1]:  # Java's split drops empty parts at the end
                parts.pop()
        unit = None if kind in _OF_STRINGS else _UNIT_OF_TYPE.get(kind) or options[UNIT]
        both = options.get(ZONE)
        return cls(
            unit,
            tuple(part.strip() for part in parts),
            parts[0] if parts else "",
            _zone(both if both is not None else options.get(INPUT_ZONE)),
            options[OUTPUT_FORMAT],
            _zone(both if both is not None else options.get(OUTPUT_ZONE)),
        )

    def misreads(self, holds: str) -> str | None:
        """The mistake, in words, with which Hudi reads a column that `holds` a `timestamp` or a `date`; None without one."""
        unit = _STORED_UNITS[holds]
        if self.unit in (None, unit):
            return None
        return f"a {holds} is kept as {unit.lower()}, which are taken for {(self.unit or '').lower()}"

    @classmethod
    def of_properties(cls, raw: Mapping[str, str]) -> TimestampOptions:
        """From what a table keeps. Raises ConfigError for options that are missing or cannot be."""
        names = {name for key in TIMEBASED_KEYS for name in key.names}
        return cls.of(resolve({name: value for name, value in raw.items() if name in names}, TIMEBASED_KEYS))


def options_for(holds: str) -> str:
    """The options for a column that `holds` a `timestamp` or a `date`."""
    if holds == "timestamp":
        return f"{TYPE.name}=EPOCHMICROSECONDS"
    return f"{TYPE.name}=SCALAR and {UNIT.name}={_STORED_UNITS[holds]}"


def check_timebased(options: Options) -> None:
    """Refuse options of a new table that cannot work together, or would have no effect. Raises ConfigError."""
    kind = options[TYPE]
    if kind != "SCALAR" and options.is_set(UNIT):
        _no_effect(UNIT, kind)
    if kind not in _OF_STRINGS:
        for key in (INPUT_FORMAT, DELIMITER):
            if options.is_set(key):
                _no_effect(key, kind)
    for key in (INPUT_ZONE, OUTPUT_ZONE):
        if options.is_set(ZONE) and options.is_set(key) and options[key] != options[ZONE]:
            raise ConfigError(
                f"Options {ZONE.name} and {key.name} contradict each other",
                found=f"{options[ZONE]!r} and {options[key]!r}",
                fix=f"give {INPUT_ZONE.name} and {OUTPUT_ZONE.name}, or {ZONE.name} alone",
            )
    TimestampOptions.of(options)


def _no_effect(key: ConfigKey[Any], kind: str) -> None:
    raise ConfigError(f"Option {key.name} has no effect with {TYPE.name}={kind}", fix="remove it, or correct the type")


def _zone(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None
