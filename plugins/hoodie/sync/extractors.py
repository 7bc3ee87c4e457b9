"""Partition paths as partition values: Hudi's extractors (`hoodie.datasource.hive_sync.partition_extractor_class`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import unquote

from hoodie.errors import ConfigError
from hoodie.sync.model import Column

_PACKAGE = "org.apache.hudi.hive."
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
MULTI_PART = "MultiPartKeysValueExtractor"
SLASH_DAY = "SlashEncodedDayPartitionValueExtractor"
HIVE_STYLE = "HiveStylePartitionValueExtractor"
SINGLE_PART = "SinglePartPartitionValueExtractor"
NON_PARTITIONED = "NonPartitionedExtractor"

Fields = Sequence[str]
Function = Callable[[str, Fields], tuple[str, ...]]


@dataclass(frozen=True)
class Extractor:
    """One of Hudi's extractors; raises ValueError that says why a path does not fit."""

    name: str
    function: Function

    @property
    def java_class(self) -> str:
        return _PACKAGE + self.name

    def values(self, path: str, fields: Fields) -> tuple[str, ...]:
        """One value for each field."""
        values = self.function(path, fields)
        if len(values) != len(fields):
            raise ValueError(f"it gives {len(values)} values for {len(fields)} partition columns")
        return values


def extractor_of(java_class: str) -> Extractor:
    """The extractor of a class name, with or without its package. Raises ConfigError for one that is not known."""
    package, _, name = java_class.rpartition(".")
    if name not in _FUNCTIONS or (package and package + "." != _PACKAGE):
        raise ConfigError(
            f"The partition extractor {java_class!r} is not known",
            fix="known are " + ", ".join(_PACKAGE + function for function in _FUNCTIONS),
        )
    return Extractor(name, _FUNCTIONS[name])


def infer_extractor(paths: Sequence[str], fields: Fields) -> Extractor:
    """The first of Hudi's extractors that fits every path.

    One column: the value of a hive-style path, the only step, a day in three steps, or the whole path; several columns: a step
    each. Raises ConfigError when none fits, with the path that does not fit.
    """
    if not fields:
        return extractor_of(NON_PARTITIONED)
    single = len(fields) == 1
    names = [HIVE_STYLE, MULTI_PART, SLASH_DAY, SINGLE_PART] if single else [MULTI_PART]
    if not any("=" in path for path in paths):
        names = [name for name in names if name != HIVE_STYLE]
    problem = ""
    for name in names:
        extractor = extractor_of(name)
        try:
            for path in paths:
                extractor.values(path, fields)
        except ValueError as error:
            problem = f"partition path {path!r}: {error}"
            continue
        return extractor
    raise ConfigError(
        f"No partition extractor fits the partition columns {', '.join(fields)}",
        found=problem,
        fix="name the columns with hoodie.datasource.hive_sync.partition_fields, or the extractor with "
        "hoodie.datasource.hive_sync.partition_extractor_class",
    )


def extract(
    extractor: Extractor, paths: Sequence[str], columns: Sequence[Column], *, decode: bool = False
) -> dict[str, tuple[str, ...]]:
    """The values of every path. Nothing is written unless this went well.

    Raises ConfigError when the extractor does not fit a path, when a value is not of its column's type, and when two paths have
    the same values.
    """
    fields = [column.name for column in columns]
    result: dict[str, tuple[str, ...]] = {}
    owner: dict[tuple[str, ...], str] = {}
    for path in paths:
        try:
            values = extractor.values(path, fields)
            values = tuple(unquote(value) for value in values) if decode else values
            for value, column in zip(values, columns, strict=True):
                _check_type(value, column)
        except ValueError as error:
            raise ConfigError(
                f"Partition path {path!r} does not fit {extractor.name} and the partition columns "
                + ", ".join(f"{column.name} {column.type}" for column in columns),
                found=str(error),
                fix="set hoodie.datasource.hive_sync.partition_extractor_class or .partition_fields to what the paths hold; a "
                "column that is not in the table's schema is a string",
            ) from None
        if (other := owner.setdefault(values, path)) != path:
            raise ConfigError(
                f"Partition paths {other!r} and {path!r} have the same values",
                found=", ".join(values),
                fix="a catalog can hold only one of them: use another extractor, or rewrite one partition",
            )
        result[path] = values
    return result


def _check_type(value: str, column: Column) -> None:
    if value == NULL_PARTITION:
        return
    kind = column.type.partition("(")[0]
    try:
        if kind in ("tinyint", "smallint", "int", "bigint"):
            int(value)
        elif kind in ("float", "double", "decimal"):
            float(value)
        elif kind == "date":
            date.fromisoformat(value)
        elif kind == "boolean" and value not in ("true", "false"):
            raise ValueError
    except ValueError:
        raise ValueError(f"{value!r} is not a valid {column.type} for the column {column.name}") from None


def _multi_part(path: str, fields: Fields) -> tuple[str, ...]:
    if not path:
        return ()
    steps = path.split("/")
    if len(steps) != len(fields):
        return tuple(steps)
    return tuple(_value(step, field) for step, field in zip(steps, fields, strict=True))


def _hive_style(path: str, fields: Fields) -> tuple[str, ...]:
    if path.count("=") != 1 or "/" in path:
        raise ValueError("it is not column=value")
    return (_value(path, fields[0] if fields else ""),)


def _single_part(path: str, fields: Fields) -> tuple[str, ...]:
    return (path,)


def _slash_day(path: str, fields: Fields) -> tuple[str, ...]:
    steps = [step.partition("=")[2] if "=" in step else step for step in path.split("/")]
    try:
        year, month, day = (int(step) for step in steps)
        return (date(year, month, day).isoformat(),)
    except ValueError:
        raise ValueError("it is not yyyy/MM/dd") from None


def _none(path: str, fields: Fields) -> tuple[str, ...]:
    if path:
        raise ValueError("the table has partitions")
    return ()


def _value(step: str, field: str) -> str:
    """The value of `column=value`, or of a plain folder."""
    name, equals, value = step.partition("=")
    if not equals:
        return step
    if "=" in value or not value:
        raise ValueError(f"{step!r} is not column=value")
    if name.lower() != field.lower():
        raise ValueError(f"it names the column {name!r} where {field!r} is expected")
    return value


_FUNCTIONS: dict[str, Function] = {
    MULTI_PART: _multi_part,
    SLASH_DAY: _slash_day,
    HIVE_STYLE: _hive_style,
    SINGLE_PART: _single_part,
    NON_PARTITIONED: _none,
}
