"""The declaration of a feed: how its files are chosen, read and shaped, and how files and rows that cannot be loaded are
treated.

It is part of `source` in a table's entry of the registry, and the flag `--feed` of the command carries it, as JSON, to
wherever the command runs. Names of columns in `csv` and `schema` are those of the files, before `rename`; those in `cast`,
`timestamps` and `sql` are the table's, after it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from hoodie.times import zone_name
from hudi_services.entry.feed.expect import Expect, unknown_columns
from hudi_services.entry.feed.parts import Duration as Duration
from hudi_services.entry.feed.parts import Part as Part
from hudi_services.entry.feed.parts import Texts as Texts
from hudi_services.entry.feed.parts import one_or_more as _one_or_more
from hudi_services.entry.feed.times import ISO, Times
from hudi_services.entry.feed.types import parse_type


def _type_name(value: str) -> str:
    parse_type(value)
    return value


TypeName = Annotated[str, AfterValidator(_type_name)]
"""A column's type in SQL's words or Arrow's."""


def _one_char(value: str) -> str:
    if len(value) != 1 or value in "\r\n\0" or ord(value) > 127:
        raise ValueError(f"{value!r} must be one ASCII character, and no line break")
    return value


def _none_for_empty(value: object) -> object:
    return None if value == "" else value


def _encoding(value: str) -> str:
    try:
        codecs.getincrementaldecoder(value)
        "".encode(value)  # codecs that do not make text, such as hex, refuse it
    except LookupError as error:
        raise ValueError(
            f"{value!r} is no encoding; known are utf-8, latin-1, cp1252, utf-16 and others of Python"
        ) from error
    return value


def _header(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, str) and item for item in value):
        raise ValueError(f"must be true, false, or a list of the names of all columns (found {value!r})")
    if twice := [name for name in value if value.count(name) > 1]:
        raise ValueError(f"names the column {twice[0]!r} twice")
    return tuple(value)


def _pattern(value: str) -> str:
    if not value or value.startswith("/") or ".." in value.split("/"):
        raise ValueError(
            f"{value!r} must be a pattern of paths inside the source folder, such as orders_*.csv or */new/**"
        )
    return value


def _as_column(value: object) -> object:
    return {"type": value} if isinstance(value, str) else value


def _as_default(value: object) -> object:
    """YAML's numbers, dates and truth values, as a CSV file would hold them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value) if isinstance(value, int | float | date) else value


def _as_formats(value: object) -> object:
    return {"formats": value} if isinstance(value, str | list | tuple) else value


Zone = Annotated[str, AfterValidator(zone_name)]
Char = Annotated[str, AfterValidator(_one_char)]
Encoding = Annotated[str, AfterValidator(_encoding)]


class Csv(Part):
    """The form of CSV files. `header` says whether the first line names the columns, or has the names if no line does.

    `null_values` are the texts that stand for null in every column. Without them an empty value does, and NA, NULL and null
    where no text is meant; a mapping has more such texts for some columns. Lines that begin with `comment` are no rows, nor are
    the first `skip_rows` lines.
    """

    delimiter: Char = ","
    quote: Annotated[Char | None, BeforeValidator(_none_for_empty)] = '"'
    escape: Annotated[Char | None, BeforeValidator(_none_for_empty)] = None
    encoding: Encoding = "utf-8"
    header: Annotated[bool | tuple[str, ...], BeforeValidator(_header)] = True
    null_values: Texts | dict[str, Texts] | None = None
    decimal_mark: Literal[".", ","] = "."
    thousands_mark: Literal[".", ",", " ", "'"] | None = None
    comment: Annotated[str, Field(min_length=1)] | None = None
    skip_rows: Annotated[int, Field(ge=0, strict=True)] = 0

    def __hash__(self) -> int:
        return hash(self.model_dump_json())  # a mapping has no hash

    @property
    def null_texts(self) -> tuple[str, ...] | None:
        """The texts for null in every column, where the defaults do not hold."""
        return self.null_values if isinstance(self.null_values, tuple) else None

    def null_texts_of(self, column: str) -> tuple[str, ...]:
        """The texts that stand for null in one column beside the defaults."""
        return self.null_values.get(column, ()) if isinstance(self.null_values, dict) else ()


class Json(Part):
    """The form of JSON files: one object a line (`lines`), or all objects in one array (`array`)."""

    layout: Literal["lines", "array"] = "lines"
    encoding: Encoding = "utf-8"


class Column(Part):
    """A declared column. Rows without a value for it get the `default`, written as in a CSV file."""

    type: TypeName
    nullable: Annotated[bool, Field(strict=True)] = True
    default: Annotated[str | None, BeforeValidator(_as_default)] = None

    @model_validator(mode="before")
    @classmethod
    def _quoted(cls, value: object) -> object:
        """Refuse a default of a text column that YAML read as a number or a truth value, such as 1.10 or no: its text is lost."""
        text = False
        if isinstance(value, dict) and isinstance(value.get("default"), bool | int | float | date):
            with suppress(ValueError):
                text = parse_type(str(value.get("type"))).name == "string"
            if text:
                raise ValueError(f"the default of a text column must be in quotes (YAML reads {value['default']!r})")
        return value


class Timestamps(Part):
    """The form of a column's times: strptime's directives, `iso`, or a number (`epoch_s`, `_ms`, `_us`), and the zone of times
    without one."""

    formats: Texts = (ISO,)
    zone: Zone | None = None

    @model_validator(mode="after")
    def _check(self) -> Timestamps:
        if (problem := self.times.problem) is not None:
            raise ValueError(problem)
        return self

    @property
    def times(self) -> Times:
        return Times(self.formats, self.zone)


class BrokenFiles(Part):
    """The treatment of files that cannot be read: `stop` loads nothing, `skip` leaves the file out and reports it in every
    run."""

    files: Literal["stop", "skip"] = "stop"


class Feed(Part):
    """How the files of a folder become rows of a table.

    Steps, in this order: files are chosen (`pattern`, `min_age`) and ordered; they are read (`csv`, `json`) into the columns of
    `schema`, or into such as their values suggest; columns are renamed, times are parsed, types cast, and `sql` is run. The rows
    are then checked by what `expect` says of them.

    `order` is that of the files, by name or time of change: of two rows with the same key and equal ordering values, the row of
    the later file wins. `undeclared` is the treatment of columns that are missing in `schema`, if there is one. A load
    that would keep one of many different rows of a key is refused unless `repeated_keys` are accepted.
    """

    csv: Csv = Csv()
    json_: Json = Field(default=Json(), alias="json")
    pattern: Annotated[tuple[Annotated[str, AfterValidator(_pattern)], ...], BeforeValidator(_one_or_more)] = ()
    min_age: Annotated[Duration, Field(ge=timedelta(0))] = timedelta(0)
    order: Literal["name", "modified"] = "name"
    columns: dict[str, Annotated[Column, BeforeValidator(_as_column)]] = Field(default={}, alias="schema")
    undeclared: Literal["refuse", "keep", "drop"] = "refuse"
    repeated_keys: Literal["check", "accept"] = "check"
    quarantine: BrokenFiles = BrokenFiles()
    rename: dict[str, str] = Field(default={})
    cast: dict[str, TypeName] = Field(default={})
    timestamps: dict[str, Annotated[Timestamps, BeforeValidator(_as_formats)]] = Field(default={})
    sql: str | None = None
    expect: Expect = Expect()


KeyPath = tuple[str, ...]
_MOMENTS = {True: "timestamp", False: "timestamp_ntz"}


def contradictions(feed: Feed, file_format: str) -> Iterator[tuple[KeyPath, str]]:
    """Keys of a feed that contradict another key or have no effect on files of this format, with the reason."""
    if file_format != "csv" and feed.csv != Csv():
        yield ("csv",), f"has no effect on {file_format} files"
    if file_format != "json" and feed.json_ != Json():
        yield ("json",), f"has no effect on {file_format} files"
    if not feed.columns and feed.undeclared != "refuse":
        yield ("undeclared",), "has no effect without a schema"
    if file_format == "csv":
        for name, column in feed.columns.items():
            if parse_type(column.type).inside:
                yield ("schema", name), f"cannot be {column.type}: a value of a CSV file is a plain one"
    if feed.columns and feed.undeclared == "refuse" and feed.sql is None:
        yield from unknown_columns(feed.expect, (feed.rename.get(name, name) for name in feed.columns))
    yield from _csv_contradictions(feed)
    yield from _shape_contradictions(feed)


def _shape_contradictions(feed: Feed) -> Iterator[tuple[KeyPath, str]]:
    """`rename` that makes two columns one, and names that are not those of the columns after it."""
    new: dict[str, str] = {}
    for old, name in feed.rename.items():
        if not name:
            yield ("rename", old), "names no column"
        elif (other := new.setdefault(name, old)) != old:
            yield ("rename", old), f"gives the name {name!r}, which {other!r} gets too"
        if feed.columns and old not in feed.columns and feed.undeclared == "refuse":
            yield ("rename", old), "is no column of `schema`"
    for key, names in (("cast", feed.cast), ("timestamps", feed.timestamps)):
        for name in names:
            if name in feed.rename and name not in new:
                yield (key, name), f"must use the new name, {feed.rename[name]!r}"
            elif feed.columns and feed.undeclared == "refuse" and new.get(name, name) not in feed.columns:
                yield (key, name), "is no column of `schema`"
    for old, column in feed.columns.items():
        name = feed.rename.get(old, old)
        if column.default is not None and (name in feed.cast or name in feed.timestamps):
            yield (
                ("schema", old, "default"),
                "is no value of what `cast` or `timestamps` makes; say in `sql` coalesce(…)",
            )
    for name, times in feed.timestamps.items():
        declared = feed.columns.get(new.get(name, name))
        if declared is None:
            continue
        kind = parse_type(declared.type).name
        if kind in _MOMENTS.values() and kind != _MOMENTS[times.times.are_moments]:
            expected = "with a zone" if kind == _MOMENTS[True] else "without a zone"
            yield (
                ("timestamps", name),
                f"`schema` says {declared.type}, a time {expected}; formats and `zone` here say otherwise",
            )


def _csv_contradictions(feed: Feed) -> Iterator[tuple[KeyPath, str]]:
    csv = feed.csv
    signs = {"delimiter": csv.delimiter, "quote": csv.quote, "escape": csv.escape}
    names_by_sign: dict[str, str] = {}
    for name, sign in signs.items():
        if sign is not None and names_by_sign.setdefault(sign, name) != name:
            yield ("csv", name), f"cannot be {sign!r}: that is the {names_by_sign[sign]}"
    if csv.comment is not None and csv.comment[0] in (csv.quote, csv.delimiter):
        yield ("csv", "comment"), f"cannot begin with {csv.comment[0]!r}: so do rows"
    if csv.decimal_mark == csv.thousands_mark:
        yield ("csv", "thousands_mark"), f"cannot be {csv.decimal_mark!r}: that is the decimal mark"
    for name in csv.null_values if isinstance(csv.null_values, dict) else ():
        if name not in feed.columns:
            yield (
                ("csv", "null_values", name),
                "is no column of `schema`: the texts of a column have to be of a declared type",
            )
    if csv.header is False and not feed.columns:
        yield (
            ("csv", "header"),
            "is false, so nothing names the columns: declare them in `schema`, or give a list of names",
        )
