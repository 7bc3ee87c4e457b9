"""Folder names from timestamps: Hudi's TimestampBased key generator, vectorised (format notes, section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.cache import cached_property
from hoodie.config.properties.timebased import INPUT_FORMAT, OUTPUT_FORMAT, TimestampOptions
from hoodie.errors import ConfigError, RecordKeyError
from hoodie.keygen.joda import (
    UTC_ZONE,
    Pattern,
    PatternError,
    Zone,
    compile_pattern,
    parse,
    print_times,
    zone_of,
)
from hoodie.keygen.joda.fields import DAY, HOUR, MINUTE, SECOND, Flags, Longs

MILLIS = {"MILLISECONDS": 1, "SECONDS": SECOND, "MINUTES": MINUTE, "HOURS": HOUR, "DAYS": DAY}
PARTS_OF_MILLI = {"NANOSECONDS": 1_000_000, "MICROSECONDS": 1_000}
NULL_VALUE = 1  # what Hudi takes for null: one unit after 1970-01-01T00:00Z, in text one millisecond
_WHOLE_NUMBER = r"^-?[0-9]{1,18}$"  # in 64 bits
_FURTHEST = 2**63 - 2 * DAY  # beyond this milliseconds and an offset do not fit in 64 bits


@dataclass(frozen=True)
class TimestampFolders:
    """The texts of a timestamp column in partition paths. `year_now` gives years of two digits their century."""

    options: TimestampOptions
    year_now: int

    def check(self) -> str:
        """The text of one time. Raises ConfigError for zones or patterns that cannot be."""
        _ = self._inputs
        return _print_one(self._output, self._zones[1] or UTC_ZONE)

    def texts(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """The text of each value, null included (utf8, never null).

        Raises RecordKeyError for a type that has no time in it, and for values that are not a time: text that fits no pattern, an
        hour that summer time skips.
        """
        texts, bad = self.read(column, name)
        if pc.any(bad).as_py():
            examples = pc.filter(column, bad)
            detail = f"{len(examples)} such as {examples[0].as_py()!r}"
            patterns = ", ".join(self.options.input_formats)
            raise RecordKeyError(
                f"Partition column {name!r} has a value that is not a time",
                found=detail + (f"; patterns {patterns}" if patterns else ""),
                fix="repair or drop these rows; ingestion can quarantine them",
            )
        return texts

    def read(self, column: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        """The text of each value (utf8, null where there is none), and which values are not a time (bool).

        Raises RecordKeyError for a type that has no time in it.
        """
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if self.options.unit is None:
            return self._of_text(column, name)
        instants, bad = self._instants(column, name)
        texts = self._print(instants, self._zones[1] or UTC_ZONE)
        return pa.chunked_array([pc.if_else(pa.array(bad), None, texts)]), pa.chunked_array([pa.array(bad)])

    def _of_text(self, column: pa.ChunkedArray, name: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            self._refuse_type(column, name)
        encoded = pc.dictionary_encode(pc.fill_null(column.cast(pa.string()), self._null_text)).combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else encoded.type.wrap_array([])
        texts = encoded.dictionary
        result = np.full(len(texts), None, object)
        unparsed = np.arange(len(texts))
        for pattern in self._inputs:
            if not len(unparsed):
                break
            folders, fits = self._parsed(texts.take(pa.array(unparsed)), pattern)
            result[unparsed[fits]] = folders
            unparsed = unparsed[~fits]
        folder_column = pa.array(result, pa.string()).take(encoded.indices)
        return pa.chunked_array([folder_column]), pa.chunked_array([pc.is_null(folder_column)])

    def _parsed(self, texts: pa.StringArray, pattern: Pattern) -> tuple[np.ndarray, Flags]:
        """The folders of the texts that have the pattern (None where they are not a time), and which texts these are."""
        parsed, fits = parse(texts, pattern, self.year_now)
        zone_in, zone_out = self._zones
        zone = zone_in or UTC_ZONE  # Hudi takes the zone of its machine where none is given
        instants, exist = zone.instants(parsed.local)
        instants = np.where(parsed.has_offset, parsed.local - parsed.offset, instants)
        bad = ~(parsed.good & (exist | parsed.has_offset))
        good = np.where(bad, 0, instants)[fits]
        if zone_out is None and zone_in is None and parsed.has_offset.any():
            offsets = parsed.offset[fits]
            folders = print_times(self._output, good + offsets, offsets)
        else:
            folders = self._print(good, zone_out or zone)
        folder_texts: np.ndarray = folders.to_numpy(zero_copy_only=False)
        folder_texts[bad[fits]] = None
        return folder_texts, fits

    def _print(self, instants: Longs, zone: Zone) -> pa.Array:
        offsets = zone.offsets(instants)
        return print_times(self._output, instants + offsets, offsets)

    def _instants(self, column: pa.ChunkedArray, name: str) -> tuple[Longs, Flags]:
        """Milliseconds since 1970, and which values are too far. As in Java numbers are cut to whole ones, and great ones to
        the greatest."""
        values, bad = self._whole_numbers(column, name)
        unit = self.options.unit or ""
        if unit in PARTS_OF_MILLI:
            part = PARTS_OF_MILLI[unit]
            return np.where(values < 0, -(-values // part), values // part), bad
        factor = MILLIS[unit]
        bad = bad | (np.abs(values.astype(np.float64)) * factor >= _FURTHEST)
        return np.where(bad, 0, values) * factor, bad

    def _whole_numbers(self, column: pa.ChunkedArray, name: str) -> tuple[Longs, Flags]:
        """The values as 64 bits hold them, and which do not fit."""
        kind = column.type
        too_far = np.zeros(len(column), np.bool_)
        if pa.types.is_timestamp(kind):
            column = pc.cast(column, pa.timestamp("us", kind.tz)).cast(pa.int64())
        elif pa.types.is_date32(kind):
            column = column.cast(pa.int32()).cast(pa.int64())
        elif pa.types.is_decimal(kind):
            far = pc.fill_null(pc.greater_equal(pc.abs(column), pa.scalar(Decimal(2**63))), False)
            in_range = pc.if_else(far, pa.scalar(None, kind), column)
            column = pc.cast(in_range, pa.int64(), safe=False) if kind.scale == 0 else _cut(in_range)
            too_far = np.asarray(far)
        elif pa.types.is_floating(kind):
            numbers = pc.fill_null(column.cast(pa.float64()), float(NULL_VALUE))
            return _java_long(np.asarray(numbers)), too_far
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):  # Hudi reads a column of numbers back as text
            too_far = np.asarray(pc.invert(pc.fill_null(pc.match_substring_regex(column, _WHOLE_NUMBER), True)))
            column = pc.if_else(pa.array(too_far), pa.scalar(None, kind), column)
        elif not pa.types.is_integer(kind):
            self._refuse_type(column, name)
        return np.asarray(pc.fill_null(column.cast(pa.int64()), NULL_VALUE)), too_far

    @cached_property
    def _null_text(self) -> str:
        """A null in text columns is one millisecond after 1970, written by the first input pattern and read again."""
        zone = self._zones[0] or self._zones[1] or UTC_ZONE
        text: str = _print_one(_pattern(self.options.null_format, INPUT_FORMAT.name), zone)
        return text

    @cached_property
    def _zones(self) -> tuple[Zone | None, Zone | None]:
        return _zone(self.options.input_zone), _zone(self.options.output_zone)

    @cached_property
    def _output(self) -> Pattern:
        return _pattern(self.options.output_format, OUTPUT_FORMAT.name)

    @cached_property
    def _inputs(self) -> tuple[Pattern, ...]:
        patterns = tuple(_pattern(text, INPUT_FORMAT.name) for text in self.options.input_formats)
        for pattern in patterns:
            try:
                pattern.check_readable()
            except PatternError as error:
                raise ConfigError(f"Option {INPUT_FORMAT.name} cannot be used", found=str(error)) from None
        return patterns

    def _refuse_type(self, column: pa.ChunkedArray, name: str) -> None:
        expected = "text" if self.options.unit is None else "numbers, texts of whole ones, dates or timestamps"
        raise RecordKeyError(
            f"Partition column {name!r} cannot be read by the TimestampBased key generator",
            found=f"type {column.type}; the table expects {expected}",
            fix="cast the column before the write",
        )


def _print_one(pattern: Pattern, zone: Zone) -> str:
    """One millisecond after 1970 as text."""
    instant = np.array([NULL_VALUE], np.int64)
    offset = zone.offsets(instant)
    text: str = print_times(pattern, instant + offset, offset)[0].as_py()
    return text


def _cut(column: pa.ChunkedArray) -> pa.ChunkedArray:
    rounded = pc.round(column, 0, round_mode="towards_zero")
    return pc.cast(rounded, pa.int64(), safe=False) if pa.types.is_decimal256(column.type) else rounded.cast(pa.int64())


def _java_long(numbers: np.ndarray) -> Longs:
    """Java's `(long) number`: cut towards zero, at the ends of the range, 0 for what is not a number."""
    finite = np.nan_to_num(numbers, nan=0.0)
    inside = np.clip(finite, -(2.0**63), 2.0**63 - 1024).astype(np.int64)
    return np.where(finite >= 2.0**63, np.iinfo(np.int64).max, inside)


def _zone(text: str | None) -> Zone | None:
    if text is None:
        return None
    try:
        return zone_of(text)
    except ValueError:
        raise ConfigError(
            "A time zone of the key generator is not known",
            found=f"{text!r}, for which Java would silently take GMT",
            fix="use a name such as Europe/Berlin, UTC or GMT+8:00",
        ) from None


def _pattern(text: str, option: str) -> Pattern:
    try:
        return compile_pattern(text)
    except PatternError as error:
        raise ConfigError(f"Option {option} cannot be used", found=str(error), fix="correct the pattern") from None
