"""Incoming rows: one per key. Pure Arrow in, Arrow out (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY

SEQUENCE = "__sequence"
"""int64 column of incoming rows: their place in the input, which settles ties the same way on every engine."""
DELETE = "__delete"
"""Boolean column of incoming rows: the row removes its key instead of replacing it."""


def latest_per_key(rows: pa.Table, ordering: Sequence[str]) -> pa.Table:
    """Of the rows that share partition path and record key, the one with the greatest ordering values; of equals, the last.

    A null ordering value is lower than any other. `rows` has the columns `_hoodie_record_key`, `_hoodie_partition_path` and
    `__sequence`; the order of the result is that of the sequence.
    """
    if not has_duplicates(rows):
        return rows
    sort_keys = [*((name, "ascending", "at_start") for name in ordering), (SEQUENCE, "ascending", "at_start")]
    order = pc.sort_indices(rows.select([*ordering, SEQUENCE]), sort_keys)
    keys = rows.select([PARTITION_PATH, RECORD_KEY]).take(order).append_column("row", order)
    last = keys.group_by([PARTITION_PATH, RECORD_KEY], use_threads=False).aggregate([("row", "last")])["row_last"]
    return rows.take(last.take(pc.sort_indices(rows[SEQUENCE].take(last))))


def has_duplicates(rows: pa.Table) -> bool:
    """Whether two rows share partition path and record key."""
    if pc.count_distinct(rows[RECORD_KEY]).as_py() == rows.num_rows:
        return False
    groups = rows.select([PARTITION_PATH, RECORD_KEY]).group_by([PARTITION_PATH, RECORD_KEY]).aggregate([])
    return bool(groups.num_rows < rows.num_rows)
