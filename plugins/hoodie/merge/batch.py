"""Incoming rows: one per key. Pure Arrow in, Arrow out (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
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
    `__sequence`; the order of the result is that of the sequence, or that of `rows` when no two share a key.
    """
    keys = key_numbers(rows)
    if keys is None:
        return rows
    # Few keys come more than once: only their rows are sorted.
    several = np.bincount(keys)[keys] > 1
    places = np.flatnonzero(several)
    compared = rows.select([*ordering, SEQUENCE]).filter(pa.array(several))
    sort_keys = [(name, "ascending", "at_start") for name in compared.schema.names]
    ranked = places[pc.sort_indices(compared, sort_keys).to_numpy()]
    last = np.empty(len(rows), dtype=np.int64)
    last[keys[ranked]] = ranked  # of values for the same place the last one stays
    kept = ~several
    kept[last[keys[places]]] = True
    result = rows.filter(pa.array(kept))
    sequence = result[SEQUENCE].to_numpy()
    return result if (np.diff(sequence) > 0).all() else result.take(pa.array(np.argsort(sequence)))


def key_numbers(rows: pa.Table) -> np.ndarray | None:
    """A number below the count of rows for each partition path and record key; None when no two rows share one."""
    keys, distinct = _numbers(rows[RECORD_KEY])
    if distinct == rows.num_rows:
        return None
    paths, several = _numbers(rows[PARTITION_PATH])
    if several == 1:
        return keys
    _, both = np.unique(paths * distinct + keys, return_inverse=True)
    return None if both.max() + 1 == rows.num_rows else both


def _numbers(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """int64 numbers of the values (no nulls), and how many differ."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)
