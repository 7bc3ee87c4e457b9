"""Folder names from timestamps: Hudi's TimestampBased key generator, vectorised (format notes, section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.config.timebased import INPUT_FORMAT, OUTPUT_FORMAT, TimestampOptions
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

_MILLIS = {"MILLISECONDS": 1, "SECONDS": SECOND, "MINUTES": MINUTE, "HOURS": HOUR, "DAYS": DAY}
_PARTS_OF_MILLI = {"NANOSECONDS": 1_000_000, "MICROSECONDS": 1_000}
_NULL = 1  # what Hudi takes for null: one unit after 1970-01-01T00:00Z, in text one millisecond
_FURTHEST = 2**63 - 2 * DAY  # beyond this milliseconds and an offset do not fit in 64 bits


@dataclass(frozen=True)
class TimestampFolders:
    """The texts of a timestamp column in partition paths. `year_now` gives years of two digits their century."""

    options: TimestampOptions
    year_now: int

    def check(self) -> str:
        """The text of one time. Raises ConfigError for zones or patterns that cannot be."""
        _ = self._inputs
        return _one(self._output, self._zones[1] or UTC_ZONE)

    def texts(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """The text of each value, null included (utf8, never null).

        Raises RecordKeyError for a type that has no time in it, and for values that are no time: text that fits no pattern, an
        hour that summer time skips.
        """
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if self.options.unit is None:
            return self._of_text(column, name)
        instants = self._instants(column, name)
        return pa.chunked_array([self._print(instants, self._zones[1] or UTC_ZONE)])

    def _of_text(self, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            self._refuse_type(column, name)
        encoded = pc.dictionary_encode(pc.fill_null(column.cast(pa.string()), self._null_text)).combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else encoded.type.wrap_array([])
        texts = encoded.dictionary
        result = np.full(len(texts), None, object)
        left = np.arange(len(texts))
        for pattern in self._inputs:
            if not len(left):
                break
            folders, fits = self._parsed(texts.take(pa.array(left)), pattern, name)
            result[left[fits]] = folders
            left = left[~fits]
        if len(left):
            self._refuse_value(name, texts[int(left[0])].as_py(), len(left))
        return pa.chunked_array([pa.array(result, pa.string()).take(encoded.indices)])

    def _parsed(self, texts: pa.StringArray, pattern: Pattern, name: str) -> tuple[np.ndarray, Flags]:
        """The folders of the texts that have the pattern, and which these are."""
        parsed, fits = parse(texts, pattern, self.year_now)
        zone_in, zone_out = self._zones
        zone = zone_in or UTC_ZONE  # Hudi takes the zone of its machine where none is given
        instants, exist = zone.instants(parsed.local)
        instants = np.where(parsed.has_offset, parsed.local - parsed.offset, instants)
        bad = fits & ~(parsed.good & (exist | parsed.has_offset))
        if bad.any():
            self._refuse_value(name, texts[int(np.flatnonzero(bad)[0])].as_py(), int(bad.sum()))
        good = instants[fits]
        if zone_out is None and zone_in is None and parsed.has_offset.any():
            offsets = parsed.offset[fits]
            folders = print_times(self._output, good + offsets, offsets)
        else:
            folders = self._print(good, zone_out or zone)
        return folders.to_numpy(zero_copy_only=False), fits

    def _print(self, instants: Longs, zone: Zone) -> pa.Array:
        offsets = zone.offsets(instants)
        return print_times(self._output, instants + offsets, offsets)

    def _instants(self, column: pa.ChunkedArray, name: str) -> Longs:
        """Milliseconds since 1970. As in Java numbers are cut to whole ones, and great ones to the greatest."""
        values = self._whole_numbers(column, name)
        unit = self.options.unit or ""
        if unit in _PARTS_OF_MILLI:
            part = _PARTS_OF_MILLI[unit]
            return np.where(values < 0, -(-values // part), values // part)
        factor = _MILLIS[unit]
        far = np.abs(values.astype(np.float64)) * factor >= _FURTHEST
        if far.any():
            self._refuse_value(name, int(values[far][0]), int(far.sum()))
        return values * factor

    def _whole_numbers(self, column: pa.ChunkedArray, name: str) -> Longs:
        kind = column.type
        if pa.types.is_timestamp(kind):
            column = pc.cast(column, pa.timestamp("us", kind.tz)).cast(pa.int64())
        elif pa.types.is_date32(kind):
            column = column.cast(pa.int32()).cast(pa.int64())
        elif pa.types.is_decimal(kind):
            try:
                column = pc.cast(column, pa.int64(), safe=False) if kind.scale == 0 else _cut(column)
            except pa.ArrowInvalid:
                self._refuse_value(name, f"numbers of {kind}", len(column))
        elif pa.types.is_floating(kind):
            numbers = pc.fill_null(column.cast(pa.float64()), float(_NULL))
            return _java_long(np.asarray(numbers))
        elif not pa.types.is_integer(kind):
            self._refuse_type(column, name)
        return np.asarray(pc.fill_null(column.cast(pa.int64()), _NULL))

    @cached_property
    def _null_text(self) -> str:
        """A null in text columns is one millisecond after 1970, written by the first input pattern and read again."""
        zone = self._zones[0] or self._zones[1] or UTC_ZONE
        text: str = _one(_pattern(self.options.null_format, INPUT_FORMAT.name), zone)
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
        wanted = "text" if self.options.unit is None else "numbers, dates or timestamps"
        raise RecordKeyError(
            f"Partition column {name!r} cannot be read by the TimestampBased key generator",
            found=f"type {column.type}; the table expects {wanted}",
            fix="cast the column before the write",
        )

    def _refuse_value(self, name: str, value: object, count: int) -> None:
        raise RecordKeyError(
            f"Partition column {name!r} has a value that is no time",
            found=f"{count} such as {value!r}"
            + (f"; patterns {', '.join(self.options.input_formats)}" if self.options.input_formats else ""),
            fix="repair or drop these rows",
        )


def _one(pattern: Pattern, zone: Zone) -> str:
    """One millisecond after 1970 as text."""
    instant = np.array([_NULL], np.int64)
    offset = zone.offsets(instant)
    text: str = print_times(pattern, instant + offset, offset)[0].as_py()
    return text


def _cut(column: pa.ChunkedArray) -> pa.ChunkedArray:
    whole = pc.round(column, 0, round_mode="towards_zero")
    return pc.cast(whole, pa.int64(), safe=False) if pa.types.is_decimal256(column.type) else whole.cast(pa.int64())


def _java_long(numbers: np.ndarray) -> Longs:
    """Java's `(long) number`: cut towards zero, at the ends of the range, 0 for what is no number."""
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
