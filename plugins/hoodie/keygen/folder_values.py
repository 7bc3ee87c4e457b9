"""Values of a partition's folders in its rows: the inverse of `partition_path` (format notes, section 1.4).

A guarantee is an Arrow expression that is true of every row; if a path can be read in several ways (the value of
`__HIVE_DEFAULT_PARTITION__` is null, empty or that text) there are several, one of which is true of each row. Unknown text gives
no guarantee.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.properties.table import TableProperties
from hoodie.config.properties.timebased import TimestampOptions
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.keygen.folder_times import FolderTimes
from hoodie.keygen.partition_path import DEFAULT_PARTITION
from hoodie.schema import find_field

Guarantees = list[pc.Expression]

_NULLS = frozenset({DEFAULT_PARTITION, "default"})  # the second one: releases before 0.12
_INTEGER = re.compile(r"-?[0-9]+")
_YEAR_OR_MONTH = re.compile(r"[0-9]{4}(-[0-9]{2})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DEEPEST = 8  # folders; the ways to read a path grow with them


@dataclass(frozen=True)
class FolderValues:
    """How the folders of a table's partitions are read."""

    columns: tuple[_Column, ...]

    def of_partition(self, path: str) -> Guarantees:
        """One of these is true of each row of the partition."""
        return self._readings(path, below=False)

    def of_folder(self, path: str) -> Guarantees:
        """One of these is true of each row in or below the folder."""
        return self._readings(path, below=True)

    def _readings(self, path: str, *, below: bool) -> Guarantees:
        steps = path.split("/")
        readings = _readings(self.columns, steps, below=below) if len(steps) <= _DEEPEST else []
        return readings or [nothing()]


@cache
def nothing() -> pc.Expression:
    """True of every row. Not a constant: Arrow's first conversion of a Python value imports pandas (decision 9)."""
    return pc.scalar(True)


def folder_values(properties: TableProperties, schema: pa.Schema) -> FolderValues | None:
    """The reader of a table's partition paths; `schema` are its data columns. None when its folders guarantee nothing."""
    fields = properties.partition_fields
    try:
        if (
            not fields
            or properties.drops_partition_columns
            or properties.keygen_type in ("NON_PARTITION", "GLOBAL_DELETE")
        ):
            return None
        stamped = frozenset(properties.timestamp_partition_fields)
        times = FolderTimes(TimestampOptions.of_properties(properties.raw)) if stamped else None
    except UnsupportedTableError:  # a key generator of someone's own, or Custom columns without their types
        return None
    except (ConfigError, KeyError):  # Hudi does not keep the options of Custom tables, 0.15 not the type
        times = None
    naming = _Naming(properties.hive_style_partitioning, properties.url_encode_partitioning)
    return FolderValues(
        tuple(
            _column(name, find_field(schema, name), naming, stamped, times, slashes=properties.slash_dates)
            for name in fields
        )
    )


@dataclass(frozen=True, slots=True)
class _Naming:
    hive_style: bool
    url_encoded: bool


def _column(
    name: str,
    field: pa.Field | None,
    naming: _Naming,
    stamped: frozenset[str],
    times: FolderTimes | None,
    *,
    slashes: bool,
) -> _Column:
    kind = pa.null() if field is None else field.type
    if name in stamped:
        return _Column(name, kind, naming) if times is None or not times.steps else _Times(name, kind, naming, times)
    if pa.types.is_date32(kind):
        return _Days(name, kind, naming)
    if pa.types.is_string(kind):
        return _DayTexts(name, kind, naming) if slashes else _Text(name, kind, naming)
    single = pa.types.is_boolean(kind) or pa.types.is_integer(kind)
    single = single or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return _Single(name, kind, naming) if single else _Column(name, kind, naming)


@dataclass(frozen=True)
class _Column:
    """A partition column; of this kind nothing is known, not even how many folders a value makes."""

    name: str
    type: pa.DataType
    naming: _Naming

    def values(self, steps: Sequence[str]) -> Guarantees:
        """Guarantees of values that the folders `steps` name; none when they are not a whole value."""
        return [nothing()]

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        """Guarantees of values whose folders begin with `steps` and go on below."""
        return [nothing()]

    @property
    def field(self) -> pc.Expression:
        return pc.field(*self.name.split("."))

    def texts(self, steps: Sequence[str]) -> Iterator[list[str]]:
        """The value's part of each folder, in every way in which it can be meant."""
        prefix = f"{self.name}="
        ways = [list(steps)]
        if steps[0].startswith(prefix):
            bare = [steps[0].removeprefix(prefix), *steps[1:]]
            ways = [bare] if self.naming.hive_style else [*ways, bare]
        for way in ways:
            yield way
            decoded = [unquote(step) for step in way]
            if decoded != way:
                yield decoded

    def any_of(self, readings: Iterable[Guarantees | None]) -> Guarantees:
        """Guarantees of any of the ways to read a text; None for a text that is not of the type."""
        guarantees = [reading for reading in readings if reading is not None]
        return [guarantee for ways in guarantees for guarantee in ways] if guarantees else [nothing()]

    def nulls(self, text: str) -> Guarantees | None:
        """Guarantees of a folder of nulls; None for another one."""
        if text and text not in _NULLS:
            return None
        # In a struct the null may be that of the struct.
        return [nothing()] if "." in self.name else [self.field.is_null()]


class _Single(_Column):
    """Numbers and the like: one folder a value."""

    def values(self, steps: Sequence[str]) -> Guarantees:
        if len(steps) > 1:
            return []
        return self.any_of(self.nulls(text) or self._equal(text) for (text,) in self.texts(steps))

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        return []

    def _equal(self, text: str) -> Guarantees | None:
        values = _parsed(text, self.type)
        return None if values is None else [self.field == value for value in values]


class _Text(_Column):
    """Text. Without encoding a value may make several folders: by slashes of its own, or, with an option of Hudi's writes that
    not every table keeps (slash separated dates), also by hyphens."""

    def values(self, steps: Sequence[str]) -> Guarantees:
        if len(steps) > 1 and self.naming.url_encoded:
            return []
        return [guarantee for texts in self.texts(steps) for guarantee in self._equal(texts)]

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        if self.naming.url_encoded:
            return []
        low, high = "-", "0"  # from the hyphen to what follows the slash
        ways = [text for texts in self.texts(steps) for text in _joined(texts)]
        return [(self.field >= text + low) & (self.field < text + high) for text in ways]

    def _equal(self, texts: Sequence[str]) -> Guarantees:
        nulls = self.nulls(texts[0]) if len(texts) == 1 else None
        same = {*_joined(texts), *([""] if nulls else [])}
        return [*(nulls or []), *(self.field == text for text in sorted(same))]


class _DayTexts(_Text):
    """Days as text, in a table that says that their folders are separated by slashes: then three such folders are a day."""

    def values(self, steps: Sequence[str]) -> Guarantees:
        text = "-".join(steps)
        return [self.field == text] if len(steps) > 1 and _DAY.fullmatch(text) else super().values(steps)

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        text = "-".join(steps)
        if len(steps) > 1 and _DAY.fullmatch(text):
            return []
        if not _YEAR_OR_MONTH.fullmatch(text):
            return super().starting_with(steps)
        return [(self.field >= text + "-") & (self.field < text + ".")]  # a full stop follows the hyphen


class _Days(_Single):
    """Dates: `2026-01-02`, or a folder each for year, month and day."""

    def values(self, steps: Sequence[str]) -> Guarantees:
        if len(steps) != 3:
            return super().values(steps)
        return self.any_of(self._equal("-".join(texts)) for texts in self.texts(steps))

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        return self.any_of(self._within("-".join(texts)) for texts in self.texts(steps)) if len(steps) < 3 else []

    def _within(self, text: str) -> Guarantees | None:
        if not _YEAR_OR_MONTH.fullmatch(text):
            return None
        first = np.datetime64(text)
        return [(self.field >= _day(first)) & (self.field < _day(first + 1))]


@dataclass(frozen=True)
class _Times(_Column):
    """Times, whose pattern says how many folders there are."""

    times: FolderTimes

    def values(self, steps: Sequence[str]) -> Guarantees:
        return self._of_times(steps) if len(steps) == self.times.steps or self.naming.url_encoded else []

    def starting_with(self, steps: Sequence[str]) -> Guarantees:
        return self._of_times(steps) if len(steps) < self.times.steps else []

    def _of_times(self, steps: Sequence[str]) -> Guarantees:
        ways = ("/".join(texts).split("/") for texts in self.texts(steps))
        return self.any_of(self.times.values(way, self.field, self.type) for way in ways)


def _day(first: np.datetime64) -> pa.Scalar:
    return pa.scalar(first.astype("M8[D]").item(), pa.date32())


def _joined(texts: Sequence[str]) -> Iterator[str]:
    """The texts with a hyphen or a slash in each place between them."""
    for between in product("-/", repeat=len(texts) - 1):
        yield texts[0] + "".join(sign + text for sign, text in zip(between, texts[1:], strict=True))


def _readings(columns: Sequence[_Column], steps: Sequence[str], *, below: bool) -> Guarantees:
    """Every way to give each column its folders; with `below` further folders may follow."""
    if not steps:
        return [nothing()] if below or not columns else []
    if not columns:
        return []
    guarantees = columns[0].starting_with(steps) if below else []
    for used in range(1, len(steps) + 1):
        guarantees_below = _readings(columns[1:], steps[used:], below=below)
        if guarantees_below:
            guarantees += [
                _both(value, others) for value in columns[0].values(steps[:used]) for others in guarantees_below
            ]
    return guarantees


def _both(left: pc.Expression, right: pc.Expression) -> pc.Expression:
    return right if left is nothing() else left if right is nothing() else left & right


def _parsed(text: str, kind: pa.DataType) -> list[pa.Scalar] | None:
    """The values of the type with this text; None when it is not sure which these are."""
    if pa.types.is_boolean(kind):
        return [pa.scalar(text == "true")] if text in ("true", "false") else None
    if pa.types.is_integer(kind) and not _INTEGER.fullmatch(text):
        return None
    widths = [kind]
    if pa.types.is_float64(kind):
        widths.append(pa.float32())  # the folder may be older than the column's greater width
    elif not (
        pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_date32(kind) or pa.types.is_decimal(kind)
    ):
        return None
    try:
        if pa.types.is_date32(kind) and _INTEGER.fullmatch(text):
            return [pa.scalar(text).cast(pa.int32()).cast(kind)]  # days since 1970
        values = [pa.scalar(text).cast(width).cast(kind) for width in widths]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Zero has two forms, and NaN is not equal to itself.
    return None if pa.types.is_floating(kind) and not values[0].as_py() * 0 == 0 != values[0].as_py() else values
