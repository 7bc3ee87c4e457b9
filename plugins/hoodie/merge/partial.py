"""Partial updates: rows that leave columns to the row before them. Pure Arrow in, Arrow out (format notes, section 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.merge.batch import key_numbers
from hoodie.merge.ordering import comparable
from hoodie.model.internal_columns import DELETE, LACKS, RESET, SEQUENCE, is_internal
from hoodie.model.meta_columns import META_COLUMNS
from hoodie.schema import values_of

_Mask = npt.NDArray[np.bool_]
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PartialUpdate:
    """Rule by which a value of a row counts as not given, so that the other row's is taken (`hoodie.table.partial.update.mode`).

    Without a `marker` a null is not given (IGNORE_DEFAULTS); with one only a string or bytes value equal to it
    (FILL_UNAVAILABLE). `between_logs` is False where rows of logs replace each other whole and only the stored row fills.
    """

    marker: str | None = None
    between_logs: bool = True

    def missing(self, rows: pa.Table, name: str) -> _Mask | None:
        """Per row whether the value of the column is not given; None when all are given."""
        column = rows[name]
        if self.marker is None:
            return _flags(pc.is_null(column)) if column.null_count else None
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            equal = pc.equal(column, pa.scalar(self.marker, column.type))
        elif pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            equal = pc.equal(column, pa.scalar(self.marker.encode(), column.type))
        else:
            return None
        mask = _flags(pc.fill_null(equal, False))
        return mask if mask.any() else None

    def filled(self, rows: pa.Table, source: pa.Table, stands: _Places, other: _Places) -> tuple[pa.Table, _Mask]:
        """`rows`, which are those of `source` at `stands`, filled from those at `other`; and which of them changed.

        If `stands` and `other` are equal there is no other row.
        """
        pairs = np.flatnonzero(stands != other)
        changed = np.zeros(len(stands), dtype=bool)
        for name in self.fillable(source.schema.names):
            missing = self.missing(rows, name)
            if missing is None:
                continue
            holes = pairs[missing[pairs]]
            chosen = stands.copy()
            chosen[holes] = other[holes]
            changed[holes] = True
            rows = replaced(rows, source, (name, LACKS + name), chosen)
        return rows, changed

    def fillable(self, names: Sequence[str]) -> list[str]:
        """The columns among these that another row may fill: not the meta columns, not our own."""
        return [name for name in names if name not in META_COLUMNS and not is_internal(name)]


@dataclass(frozen=True)
class PartialRows(PartialUpdate):
    """Rows of log blocks that hold only some columns (block header IS_PARTIAL): the others are not given, null is a value."""

    def missing(self, rows: pa.Table, name: str) -> _Mask | None:
        if LACKS + name not in rows.schema.names:
            return None
        mask = _flags(rows[LACKS + name])
        return mask if mask.any() else None


def folded_per_key(rows: pa.Table, ordering: Sequence[str], partial: PartialUpdate) -> pa.Table:
    """The winning row of each key after all its rows were applied in their order, filled from the others.

    `rows` have `_hoodie_record_key`, `_hoodie_partition_path`, `@sequence`, `@delete`, the `ordering` columns and, from logs,
    `@reset`. A row takes the place of the one before it unless its ordering values are lower; the winner is filled from the
    other, but a deletion neither fills nor is filled. The order of the result is that of the sequence.
    """
    keys = key_numbers(rows)
    if keys is None:
        return rows
    rows = rows.combine_chunks()
    sequence = _numpy(rows[SEQUENCE])
    order = np.lexsort((sequence, keys))
    resets = _flags(rows[RESET])[order] if RESET in rows.schema.names else np.zeros(len(order), dtype=bool)
    group = _groups(keys[order])
    alive = np.arange(len(order)) >= _last(resets, group)[group]  # what was before a reset is forgotten
    order, resets, group = order[alive], resets[alive], _groups(group[alive])
    places = np.arange(len(order))
    rank = np.where(resets, 0, 1 + _ranks(rows, ordering)[order])
    highest = group * (np.int64(len(rows) + 2)) + rank
    leads = np.maximum.accumulate(highest) == highest  # the row wins when it arrives
    deletes = _flags(rows[DELETE])[order]
    winner = _last(leads, group)
    # Nothing before the last deletion that stood, nor a late row against it, fills what came after.
    since = _first(leads & (places > _last(leads & deletes, group)[group]), group, len(order))
    gives = (places >= since[group]) & ~deletes
    result = rows.take(pa.array(order[winner]))
    for name in partial.fillable(rows.schema.names):
        missing = partial.missing(rows, name)
        if missing is None or not missing[order[winner]].any():
            continue
        has_value = gives & ~missing[order]
        leading, late = _last(has_value & leads, group), _first(has_value & ~leads, group, len(order))
        chosen = np.where(leading >= 0, leading, np.where(late < len(order), late, winner))
        chosen = np.where(deletes[winner], winner, chosen)
        result = replaced(result, rows, (name, LACKS + name), order[chosen])
    return result.take(pa.array(np.argsort(sequence[order[winner]], kind="stable")))


def replaced(rows: pa.Table, source: pa.Table, names: Sequence[str], places: _Places) -> pa.Table:
    """`rows` with the named columns, as far as they have them, taken from `places` of `source`."""
    for name in names:
        position = rows.schema.get_field_index(name)
        if position >= 0:
            rows = rows.set_column(position, rows.schema.field(position), source[name].take(pa.array(places)))
    return rows


def _ranks(rows: pa.Table, ordering: Sequence[str]) -> npt.NDArray[np.int64]:
    """A number per row that orders as its ordering values do, compared as a tuple, null lowest; all 0 without any."""
    ranks = np.zeros(rows.num_rows, dtype=np.int64)
    for name in ordering:
        column = comparable(values_of(rows, name).combine_chunks())
        dense = np.where(_flags(pc.is_null(column)), 0, _numpy(pc.rank(column, tiebreaker="dense")).astype(np.int64))
        both = ranks * (rows.num_rows + 1) + dense
        ranks = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return ranks


def _groups(sorted_keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of each row's group, from 0, for equal keys in sequence."""
    return np.concatenate([[0], np.cumsum(sorted_keys[1:] != sorted_keys[:-1])]).astype(np.int64)


def _last(mask: _Mask, group: npt.NDArray[np.int64]) -> _Places:
    """Per group the place of its last marked row, -1 without one."""
    places = np.where(mask, np.arange(len(mask), dtype=np.int64), -1)
    return np.maximum.reduceat(places, _starts(group))


def _first(mask: _Mask, group: npt.NDArray[np.int64], none: int) -> _Places:
    """Per group the place of its first marked row, `none` without one."""
    places = np.where(mask, np.arange(len(mask), dtype=np.int64), none)
    return np.minimum.reduceat(places, _starts(group))


def _starts(group: npt.NDArray[np.int64]) -> _Places:
    return np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))


def _flags(column: pa.ChunkedArray | pa.Array) -> _Mask:
    return _numpy(column).astype(np.bool_, copy=False)


def _numpy(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.generic]:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values
