"""Incremental reads: what the commits of a range wrote, as of its end."""

from __future__ import annotations

import pyarrow.compute as pc
import pytest

from hoodie.errors import TimeTravelError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=[("9", "COPY_ON_WRITE"), ("6", "COPY_ON_WRITE"), ("9", "MERGE_ON_READ"), ("6", "MERGE_ON_READ")])
def table(request, tmp_path):
    version, kind = request.param
    options = {"hoodie.write.table.version": version, "hoodie.table.type": kind}
    return create(tmp_path / "t", FakeClock(), **options)


def write(table, rows, operation="upsert"):
    """Returns the time at which the commit counts."""
    done = table.write(batch(rows), operation, SMALL_BLOOM).instant
    return done.time if table.version == 6 else done.completion_time


def found(table, *args, **kwargs):
    return {row["id"]: row["value"] for row in table.read_incremental(*args, **kwargs).to_pylist()}


def test_ranges(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1), ("c", "q", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2), ("d", "p", 2, 2)])
    third = write(table, [("a", "p", 3, 3), ("b", "p", 3, 3)])
    assert found(table, None) == {"a": 3, "b": 3, "c": 1, "d": 2}
    assert found(table, first) == {"a": 3, "b": 3, "d": 2}
    assert found(table, second) == {"a": 3, "b": 3}
    assert found(table, third) == {}
    assert found(table, first, second) == {"a": 2, "d": 2}, "a row is as it was at the end of the range"
    assert found(table, None, first) == {"a": 1, "b": 1, "c": 1}
    assert found(table, first, columns=["id", "value"], filter=pc.field("value") == 2) == {"d": 2}


def test_deleted_rows_do_not_appear(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    write(table, [("a", "p", 2, 2), ("b", "p", 2, 2)])
    write(table, [("b", "p", 3, 3)], "delete")
    assert found(table, first) == {"a": 2}


def test_compactions_and_cleans_change_nothing(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2)])
    if table.properties.is_merge_on_read:
        table.schedule_compaction(force=True)
        assert table.compact()
    assert found(table, first) == {"a": 2}
    assert found(table, second) == {}
    write(table, [("b", "p", 4, 4)])
    table.clean({"hoodie.clean.commits.retained": 1})
    assert found(table, first) == {"a": 2, "b": 4}


def test_an_archived_range_is_refused_unless_everything_is_read(table):
    first = write(table, [("a", "p", 1, 1), ("b", "p", 1, 1)], "insert")
    second = write(table, [("a", "p", 2, 2)])
    write(table, [("c", "p", 3, 3)])
    state = table.state()
    oldest = state.timeline.commits[0]
    table.storage.create(f"{state.layout.archive_folder}/some.archive", b"x")
    for suffix in (".requested", ".inflight", ""):
        name = oldest.file_name if not suffix else f"{oldest.time}.{oldest.action}{suffix}"
        if suffix == ".inflight" and oldest.action == "commit":
            name = f"{oldest.time}.inflight"
        assert table.storage.delete(f"{state.layout.folder}/{name}")
    with pytest.raises(TimeTravelError, match="were archived"):
        table.read_incremental(None)
    with pytest.raises(TimeTravelError, match="full_scan=True"):
        table.read_incremental("20200101000000000")
    assert found(table, None, full_scan=True) == {"a": 2, "b": 1, "c": 3}
    assert found(table, second) == {"c": 3}
    assert first < second


def test_nonsense_is_refused(table):
    write(table, [("a", "p", 1, 1)], "insert")
    with pytest.raises(TimeTravelError, match="yesterday"):
        table.read_incremental("yesterday")
