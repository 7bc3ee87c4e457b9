"""`insert` adds rows to any stored ones: its result does not depend on the sizes of files."""

from __future__ import annotations

import tempfile

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import COMPACTION
from tests.support.clock import FakeClock
from tests.support.examples import examples
from tests.support.matrix import pairwise
from tests.support.tables import SMALL_BLOOM, batch, create

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
LIMITS = (0, 100 * 1024 * 1024)  # bytes below which a file is small
VIRTUAL = {"hoodie.populate.meta.fields": "false"}
MERGING = {"hoodie.merge.allow.duplicate.on.inserts": "false"}
COMBINING = {"hoodie.combine.before.insert": "true"}
FIRST = [("a", "p", 2, 1), ("b", "p", 2, 2), ("c", "q", 2, 3)]
ROW = st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.sampled_from("pq"), st.integers(0, 4), st.integers(0, 9))
STEPS = st.lists(st.tuples(st.sampled_from(["insert", "insert", "bulk_insert"]), st.lists(ROW, max_size=4)), max_size=3)


def made(path, kind, mode, virtual=False):
    options = {"hoodie.table.type": kind, "hoodie.record.merge.mode": f"{mode}_TIME_ORDERING"}
    return create(path, FakeClock(), **options, **(VIRTUAL if virtual else {}))


def stored(table, **read):
    return sorted(tuple(row.values()) for row in table.read(**read).to_pylist())


@pytest.mark.histories
@pytest.mark.parametrize(("kind", "mode", "virtual"), pairwise(KINDS, ["EVENT", "COMMIT"], [False, True]))
@settings(max_examples=examples(12), deadline=None)
@given(steps=STEPS, combine=st.booleans())
def test_every_row_stays(kind, mode, virtual, steps, combine):
    """With `hoodie.combine.before.insert` one a key and batch."""
    left = []
    for limit in LIMITS:
        with tempfile.TemporaryDirectory() as folder:
            table, count = made(folder + "/t", kind, mode, virtual), len(FIRST)
            options = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": limit, **(COMBINING if combine else {})}
            table.write(batch(FIRST), "insert", options)
            for operation, rows in steps:
                done = table.write(batch(rows), operation, options)
                added = len({row[:2] for row in rows}) if combine else len(rows)
                assert (done.rows_inserted, done.rows_updated, done.rows_deleted) == (added, 0, 0)
                count += added
            left.append(stored(table))
            assert len(left[-1]) == count
            if kind == "MERGE_ON_READ":
                table.write(batch([("a", "p", 9, 9)]), "upsert", options)
                before = stored(table)
                table.schedule(COMPACTION, force=True)
                table.run(COMPACTION)
                assert stored(table) == before
    assert left[0] == left[1]


def test_a_file_that_grows_keeps_its_rows_and_their_commit(tmp_path):
    table = made(tmp_path / "t", "COPY_ON_WRITE", "EVENT")
    first = table.write(batch(FIRST), "insert", SMALL_BLOOM).instant.time
    second = table.write(batch([("a", "p", 1, 9), ("a", "p", 3, 10)]), "insert", SMALL_BLOOM).instant.time
    assert len(table.file_slices()) == 2, "the file of p has grown, and there is no other"
    found = table.read(columns=["_hoodie_record_key", "id", "ts", "_hoodie_commit_time"])
    assert sorted(tuple(row.values()) for row in found.to_pylist()) == [
        ("a", "a", 1, second),
        ("a", "a", 2, first),
        ("a", "a", 3, second),
        ("b", "b", 2, first),
        ("c", "c", 2, first),
    ]


# Hudi 1.2.0 leaves (tests/interop/test_inserts.py) the row of the greatest ordering value for each key of a small file, or the
# last; with marks of deletions these remove what is stored.
@pytest.mark.parametrize("virtual", [False, True], ids=["keys", "virtual"])
@pytest.mark.parametrize(("mode", "expected"), [("EVENT", [10, 20, 2]), ("COMMIT", [5, 20, 1])])
@pytest.mark.parametrize("kind", KINDS)
def test_without_duplicates_a_small_file_is_updated(tmp_path, kind, mode, expected, virtual):
    table = made(tmp_path / "t", kind, mode, virtual)
    table.write(batch([("a", "p", 10, 0), ("b", "p", 10, 0)]), "insert", SMALL_BLOOM)
    rows = batch([("a", "p", 5, 1), ("b", "p", 20, 2), ("c", "p", 1, 3), ("c", "p", 2, 4), ("c", "p", 1, 5)])
    done = table.write(rows, "insert", SMALL_BLOOM | MERGING)
    assert [row[2] for row in stored(table)] == expected
    assert done.rows_inserted == 1


def test_marks_of_deletions_in_an_insert(tmp_path):
    for name, options, left in (("adds", {}, ["a", "b", "d"]), ("merges", MERGING, ["b", "d"])):
        table = made(tmp_path / name, "COPY_ON_WRITE", "EVENT")
        rows = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])
        table.write(rows.append_column("_hoodie_is_deleted", pa.array([False, False])), "insert", SMALL_BLOOM)
        rows = batch([("a", "p", 2, 1), ("c", "p", 2, 1), ("d", "p", 2, 1), ("e", "q", 1, 1)])
        marked = rows.append_column("_hoodie_is_deleted", pa.array([True, True, False, True]))
        table.write(marked, "insert", SMALL_BLOOM | options)
        assert sorted(table.read()["id"].to_pylist()) == left
