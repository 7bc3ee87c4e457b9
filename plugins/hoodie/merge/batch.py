"""Incoming rows: one per key. Pure Arrow in, Arrow out (format notes, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.merge.ordering import comparable
from hoodie.model.internal_columns import SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import top_level, values_of

IDENTITY = (RECORD_KEY, PARTITION_PATH)
"""The columns by which rows are the same row of a table."""


def latest_per_key(rows: pa.Table, ordering: Sequence[str], identity: Sequence[str] = IDENTITY) -> pa.Table:
    """The row with the greatest ordering values of those that share their identity; on a tie, the last.

    A null ordering value is lower than any other. `rows` has the columns `identity` and `@sequence`; the order of the result is
    that of the sequence, or that of `rows` when no two share a key.
    """
    keys = key_numbers(rows, identity)
    if keys is None:
        return rows
    # Few keys come more than once: only their rows are sorted.
    several = np.bincount(keys)[keys] > 1
    places = np.flatnonzero(several)
    duplicates = rows.select([*top_level(ordering), SEQUENCE]).filter(pa.array(several))
    compared = pa.table({name: comparable(values_of(duplicates, name)) for name in (*ordering, SEQUENCE)})
    sort_keys = [(name, "ascending", "at_start") for name in compared.schema.names]
    ranked = places[pc.sort_indices(compared, sort_keys).to_numpy()]
    last = np.empty(len(rows), dtype=np.int64)
    last[keys[ranked]] = ranked  # the last of several values for one place stays
    keep = ~several
    keep[last[keys[places]]] = True
    result = rows.filter(pa.array(keep))
    sequence = result[SEQUENCE].to_numpy()
    return result if (np.diff(sequence) > 0).all() else result.take(pa.array(np.argsort(sequence)))


def key_numbers(rows: pa.Table, identity: Sequence[str] = IDENTITY) -> np.ndarray | None:
    """A number below the count of rows for each different value of the columns `identity`; None when no two rows share one."""
    first, *others = identity
    keys, distinct = _numbers(rows[first])
    for name in others:
        if distinct == rows.num_rows:
            break
        more, several = _numbers(rows[name])
        if several > 1:
            _, keys = np.unique(more * distinct + keys, return_inverse=True)
            distinct = int(keys.max()) + 1
    return None if distinct == rows.num_rows else keys


def _numbers(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """int64 numbers of the values (no nulls, integers from 0 on), and how many differ."""
    if pa.types.is_integer(column.type):
        values = column.to_numpy()
        present = np.zeros(values.max(initial=-1) + 1, dtype=bool)
        present[values] = True
        ranks = np.cumsum(present)
        return ranks[values] - 1, int(ranks[-1]) if len(ranks) else 0
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)
