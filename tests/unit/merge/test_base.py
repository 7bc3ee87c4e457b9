"""Incoming rows are merged into the batches of a base file, and what met nothing is left to insert."""

from __future__ import annotations

import pyarrow as pa

from hoodie.merge.base import BaseAddition, BaseMerger
from hoodie.model.internal_columns import DELETE
from hoodie.model.meta_columns import RECORD_KEY

COLUMNS = (RECORD_KEY, "ts", "value")


def table(*entries):
    keys, times, values = zip(*entries, strict=True) if entries else ((), (), ())
    columns = [pa.array(keys, pa.string()), pa.array(times, pa.int64()), pa.array(values, pa.string())]
    return pa.table(columns, COLUMNS)


def merger(*entries, ordering=("ts",)):
    """Merges rows of (key, ts, value). A value of None makes a deletion."""
    rows = table(*entries)
    return BaseMerger(rows.append_column(DELETE, rows["value"].is_null()), COLUMNS, ordering)


def content(rows):
    return list(zip(*(rows[name].to_pylist() for name in COLUMNS), strict=True))


def test_updated_rows_keep_their_place_and_deleted_ones_go():
    found = merger(("c", 2, "new"), ("a", 2, None), ("x", 2, "added"), ("y", 2, None))
    merged = found.merge(table(("a", 1, "old"), ("b", 1, "old"), ("c", 1, "old")))
    assert content(merged.rows) == [("b", 1, "old"), ("c", 2, "new")]
    assert (merged.updated, merged.deleted) == (1, 1)
    assert (merged.changed.tolist(), merged.removed.tolist(), merged.changed_rows.tolist()) == ([2], [0], [1])
    assert content(found.inserts()) == [("x", 2, "added")]


def test_rows_with_lower_ordering_values_change_nothing():
    found = merger(("a", 1, "late"), ("b", 1, None))
    stored = table(("a", 2, "old"), ("b", 2, "old"))
    merged = found.merge(stored)
    assert merged.rows is stored
    assert (merged.updated, merged.deleted) == (0, 0)
    assert not len(merged.changed)
    assert not len(merged.removed)
    assert content(found.inserts()) == [], "they have met their keys"


def test_each_batch_takes_its_own_rows():
    found = merger(("a", 2, "new"), ("c", 2, None), ("d", 2, "new"), ordering=())
    first, second = table(("a", 9, "old"), ("b", 9, "old")), table(("c", 9, "old"))
    assert content(found.merge(first).rows) == [("a", 2, "new"), ("b", 9, "old")]
    merged = found.merge(second)
    assert content(merged.rows) == []
    assert merged.removed.tolist() == [0]
    assert content(found.inserts()) == [("d", 2, "new")]


def test_an_addition_keeps_all_rows_of_both():
    stored, new = table(("a", 1, "old")), table(("a", 2, "new"))
    addition = BaseAddition(new)
    assert addition.merge(stored).rows is stored
    assert addition.inserts() is new
