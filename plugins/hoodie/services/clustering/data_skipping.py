"""How much of the planned files a filter reads, now and when they are clustered: an estimate by the statistics of their footers.

A reader passes over row groups whose least and greatest value rule a filter out. The filter here asks for one value of a column,
each row's value as often as any other's; between the least and the greatest of a row group, values are taken to lie evenly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.config.keys import clustering as keys
from hoodie.engine.base import Engine
from hoodie.formats.data_file import telling_missing
from hoodie.model.clustering import ClusteringPlan
from hoodie.services.clustering.order import SortOrder
from hoodie.services.clustering.task import SORTED_ROW_GROUP
from hoodie.services.stages import FilterRead
from hoodie.storage.base import Storage

_FILES = 1_000
"""Footers that are read: of larger plans evenly chosen ones."""
_COLUMNS = 50
"""Columns that are looked at beside those of the order."""
_POINTS = 5
_WIDER = {keys.Z_ORDER: 1.8, keys.HILBERT: 1.5}
"""So much wider than squares are the row groups of a curve in each column, as measured: they cross its jumps and turns."""
_MEASURED_WIDTH = 0.9
"""The row groups of a curve are wider than squares by this factor in each column, as measured: they cross its jumps and turns."""


@dataclass(frozen=True)
class Chunk:
    """A row group: its file group's place in the plan, rows, compressed bytes, and the least and greatest value by column."""

    group: int
    rows: int
    bytes: int
    ranges: Mapping[str, tuple[Any, Any]]


def expected_skipping(
    storage: Storage, plan: ClusteringPlan, order: SortOrder, schema: pa.Schema, engine: Engine
) -> list[FilterRead]:
    """For the columns of the order, and for others by which filters leave out much now. Without an order, nothing.

    Reads the footers of up to 1,000 base files, and raises MissingFileError. Logs count for nothing. A column that a file does
    not have, or of which it has no statistics, is read whole.
    """
    if not order:
        return []
    plain = [field.name for field in schema if not pa.types.is_nested(field.type) and field.name not in order.columns]
    columns = (*order.columns, *plain[:_COLUMNS])
    bases = [
        (
            number,
            f"{file_slice.partition}/{file_slice.base_file}" if file_slice.partition else str(file_slice.base_file),
        )
        for number, group in enumerate(plan.inputs)
        for file_slice in group.slices
        if file_slice.base_file is not None
    ]
    chosen = bases[:: -(-len(bases) // _FILES) or 1]
    chunks = [chunk for footer_chunks in engine.map(_Footers(storage, columns), chosen) for chunk in footer_chunks]
    estimates = [skipping(chunks, column, order) for column in columns]
    return [
        estimate for estimate in estimates if estimate.column in order.columns or estimate.before <= _MEASURED_WIDTH
    ]


def skipping(chunks: Sequence[Chunk], column: str, order: SortOrder) -> FilterRead:
    """The estimate for one column. After the clustering, each group of the plan is cut along the order into row groups of
    16,384 rows."""
    try:
        return _skipping(chunks, column, order)
    except TypeError:  # its type has changed, and files have values of both
        return FilterRead(column, 1.0, 1.0)


def _skipping(chunks: Sequence[Chunk], column: str, order: SortOrder) -> FilterRead:
    total = sum(chunk.bytes for chunk in chunks) or 1
    same = _same_begin([end for chunk in chunks for end in chunk.ranges.get(column, ())])
    columns = [
        replace(chunk, ranges={column: _between(chunk, column, same)}) for chunk in chunks if column in chunk.ranges
    ]
    always = total - sum(chunk.bytes for chunk in columns)
    weights = list(_points(columns, column))
    rows = sum(weight for _, weight in weights) or 1.0
    reads = _Reads([(*chunk.ranges[column], float(chunk.bytes)) for chunk in columns])
    then = _Reads(list(_clustered(columns, column, order)))
    before = sum(weight * reads.at(value) for value, weight in weights) / rows
    after = sum(weight * then.at(value) for value, weight in weights) / rows
    return FilterRead(column, (before + always) / total, (after + always) / total)


def _between(chunk: Chunk, column: str, same: int) -> tuple[float, float]:
    low, high = chunk.ranges[column]
    return _number(low, same), _number(high, same)


def _number(value: object, same: int) -> float:
    """A number that is greater for a greater value. For texts it is made of the eight bytes after the prefix that all have in
    common (`same`)."""
    match value:
        case int() | float() | Decimal():
            return float(value)
        case datetime():
            return value.replace(tzinfo=value.tzinfo or UTC).timestamp()
        case date():
            return float(value.toordinal())
        case time():
            return timedelta(hours=value.hour, minutes=value.minute, seconds=value.second).total_seconds()
        case str() | bytes():
            return float(int.from_bytes(_bytes(value)[same : same + 8].ljust(8, b"\0")))
    raise TypeError(f"{type(value).__name__} has no place among numbers")


def _same_begin(ends: Sequence[object]) -> int:
    """With how many bytes all texts begin alike; raises TypeError for texts among numbers."""
    texts = [_bytes(end) for end in ends if isinstance(end, str | bytes)]
    if not texts:
        return 0
    if len(texts) < len(ends):
        raise TypeError("texts among numbers")
    pairs = list(zip(min(texts), max(texts), strict=False))
    return next((place for place, (low, high) in enumerate(pairs) if low != high), len(pairs))


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _points(chunks: Iterable[Chunk], column: str) -> Iterator[tuple[float, float]]:
    """Values that rows have, and how many rows each stands for."""
    for chunk in chunks:
        low, high = chunk.ranges[column]
        step = (high - low) / _POINTS
        yield from ((low + step * (number + 0.5), chunk.rows / _POINTS) for number in range(_POINTS))


def _clustered(chunks: Sequence[Chunk], column: str, order: SortOrder) -> Iterator[tuple[float, float, float]]:
    """The range of each group, and the bytes of it that a value in that range reads."""
    groups: dict[int, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.group, []).append(chunk)
    for same in groups.values():
        parts = max(1, -(-sum(chunk.rows for chunk in same) // SORTED_ROW_GROUP))
        low = min(chunk.ranges[column][0] for chunk in same)
        high = max(chunk.ranges[column][1] for chunk in same)
        yield low, high, sum(chunk.bytes for chunk in same) * _share(parts, column, order)


def _share(parts: int, column: str, order: SortOrder) -> float:
    """Share of `parts` row groups that a filter reads: one has the value, by the first column of a sort; along a curve they
    are about squares, or cubes."""
    if column not in order.columns:
        return 1.0
    if order.layout in _WIDER:
        return min(1.0, _WIDER[order.layout] * float(parts ** (-1 / len(order.columns))))
    return 1 / parts if column == order.columns[0] else 1.0


class _Reads:
    """Bytes that stand for ranges of values."""

    def __init__(self, ranges: Sequence[tuple[float, float, float]]) -> None:
        starts, ended = sorted((low, size) for low, _, size in ranges), sorted((high, size) for _, high, size in ranges)
        self._lows, self._highs = [low for low, _ in starts], [high for high, _ in ended]
        self._started = [0.0, *accumulate(size for _, size in starts)]
        self._finished = [0.0, *accumulate(size for _, size in ended)]

    def at(self, value: float) -> float:
        """Bytes of the ranges that hold the value."""
        return self._started[bisect_right(self._lows, value)] - self._finished[bisect_left(self._highs, value)]


@dataclass(frozen=True)
class _Footers:
    """Task function: the place of a group in the plan and the path of a base file -> its row groups."""

    storage: Storage
    columns: tuple[str, ...]

    def __call__(self, base: tuple[int, str]) -> list[Chunk]:
        number, path = base
        with telling_missing(f"{self.storage.base_path}/{path}", "Base"), self.storage.open_input(path) as source:
            footer = pq.read_metadata(source)
        places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
        chosen = {name: places[name] for name in self.columns if name in places}
        return [_chunk(number, footer.row_group(place), chosen) for place in range(footer.num_row_groups)]


def _chunk(number: int, group: pq.RowGroupMetaData, places: Mapping[str, int]) -> Chunk:
    size = sum(group.column(place).total_compressed_size for place in range(group.num_columns))
    ranges = {}
    for name, place in places.items():
        stats = group.column(place).statistics
        if (
            stats is not None and stats.has_min_max and stats.min == stats.min and stats.max == stats.max
        ):  # NaN has no order
            ranges[name] = (stats.min, stats.max)
    return Chunk(number, group.num_rows, size, ranges)
