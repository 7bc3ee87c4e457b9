"""The difference between two states of a file group, row by row, by record key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.merge.base import Places
from hoodie.merge.equality import same_rows

_COMPARED = 1 << 16  # rows that are copied at a time to compare them


@dataclass(frozen=True)
class Difference:
    """Numbers of rows, those of a pair in the same place."""

    deleted: Places  # places of the rows before
    updated_before: Places
    updated_after: Places
    inserted: Places  # places of the rows after


def difference(before: pa.Table, after: pa.Table, key: str) -> Difference:
    """Compare the rows before and after. Both tables have the same schema, with the column `key`.

    A row whose values are the same is not a change. Inserts may leave several rows of a key: then its first row is
    compared with its first row, and so on.
    """
    old, new = _identities(before[key], after[key])
    count = int(max(old.max(initial=-1), new.max(initial=-1))) + 1
    place = np.full(count, -1, dtype=np.int64)
    place[new] = np.arange(len(new))
    partner = place[old]
    deleted = np.flatnonzero(partner < 0)
    matched = np.zeros(count, dtype=bool)
    matched[old] = True
    inserted = np.flatnonzero(~matched[new])
    stayed = np.flatnonzero(partner >= 0)
    stayed = stayed[np.argsort(partner[stayed], kind="stable")]
    data = [name for name in before.schema.names if name != key]
    changed = [stayed[:0], *_changed(before.select(data), after.select(data), stayed, partner[stayed])]
    updated = np.concatenate(changed)
    return Difference(deleted, updated, partner[updated], inserted)


def _changed(before: pa.Table, after: pa.Table, old: Places, new: Places) -> Iterator[Places]:
    """Those of `old` whose row has other values than its partner in `new`."""
    for start in range(0, len(old), _COMPARED):
        some, others = old[start : start + _COMPARED], new[start : start + _COMPARED]
        yield some[~same_rows(before.take(pa.array(some)), after.take(pa.array(others)))]


def _identities(before: pa.ChunkedArray, after: pa.ChunkedArray) -> tuple[Places, Places]:
    """A number for each row, the same on both sides for the same occurrence of the same key."""
    chunks = [chunk.cast(pa.string()) for chunk in (*before.chunks, *after.chunks)]
    encoded = pc.dictionary_encode(pa.chunked_array(chunks, pa.string()), null_encoding="encode")
    numbers = [np.asarray(chunk.indices).astype(np.int64) for chunk in encoded.chunks]
    codes = np.concatenate([np.empty(0, np.int64), *numbers])
    old, new = codes[: len(before)], codes[len(before) :]
    occurrence, other_occurrence = _occurrences(old), _occurrences(new)
    most = int(max(occurrence.max(initial=0), other_occurrence.max(initial=0))) + 1
    return (old, new) if most == 1 else (old * most + occurrence, new * most + other_occurrence)


def _occurrences(codes: Places) -> Places:
    """Count, for each place, the earlier places with the same code."""
    if not len(codes) or np.bincount(codes).max() == 1:
        return np.zeros(len(codes), dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    begins = np.maximum.accumulate(np.where(first, np.arange(len(codes)), 0))
    result = np.empty(len(codes), dtype=np.int64)
    result[order] = np.arange(len(codes)) - begins
    return result
