"""Logs with rows of some columns (as of SQL MERGE INTO): read, written on, compacted; the values are the dict model's."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import COMPACTION, LOG_COMPACTION
from tests.support.clock import FakeClock
from tests.support.partial_logs import update_some
from tests.support.tables import SMALL_BLOOM, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
TWO = {"hoodie.log.compaction.blocks.threshold": 2, **SMALL_BLOOM}
KEYS = "abcdefgh"


def rows(entries: dict[str, tuple]) -> pa.Table:
    """key -> (ts, value, text)"""
    ts, value, text = zip(*entries.values(), strict=True)
    return pa.table(
        {
            "id": list(entries),
            "part": pa.repeat("p", len(entries)),
            "ts": pa.array(ts, pa.int64()),
            "value": pa.array(value, pa.int64()),
            "text": pa.array(text, pa.string()),
        }
    )


def content(table, **read):
    return {row["id"]: (row["ts"], row["value"], row["text"]) for row in table.read(**read).to_pylist()}


@pytest.fixture(params=["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def table(request, tmp_path):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.record.merge.mode": request.param}
    return create(tmp_path / "t", FakeClock(), **options)


@pytest.fixture
def history(table):
    """The table after updates of text, of values, late ones, deletions; the times of the commits; what it holds."""
    event = table.properties.merging.mode == "EVENT_TIME_ORDERING"
    times = []

    def done(result):
        times.append(result.instant.completion_time)

    done(table.write(rows(dict.fromkeys(KEYS, (10, 1, "x"))), "insert", NO_SMALL_FILES))
    some = {"a": (20, 0, "t"), "b": (20, 0, None), "c": (20, 0, "t"), "d": (5, 0, "t"), "g": (20, 0, "t")}
    times.append(update_some(table, rows(some), ["ts", "text"], NO_SMALL_FILES))
    some = {"a": (30, 2, ""), "b": (15, 2, ""), "e": (20, None, "")}
    times.append(update_some(table, rows(some), ["ts", "value"], NO_SMALL_FILES))
    done(table.write(rows({"c": (15, 3, None), "f": (20, 3, "whole"), "g": (5, 3, "late")}), "upsert", NO_SMALL_FILES))
    done(table.write(rows({"h": (0, 0, "")}), "delete", NO_SMALL_FILES))
    times.append(update_some(table, rows({"f": (40, 4, ""), "h": (40, 4, "")}), ["ts", "value"], NO_SMALL_FILES))
    expected = {
        "a": (30, 2, "t"),
        "b": (20, 2, None) if event else (15, 2, None),
        "c": (20, 3, "t") if event else (15, 3, None),
        "d": (10, 1, "x") if event else (5, 1, "t"),
        "e": (20, None, "x"),
        "f": (40, 4, "whole"),
        "g": (20, 3, "t") if event else (5, 3, "late"),
        "h": (40, 4, "x"),
    }
    return table, times, expected


@pytest.mark.format("7.1j", "7.2g", "7.2h")
def test_reads(history):
    table, times, expected = history
    assert content(table) == expected
    assert table.read(columns=["id", "text"]).to_pylist() == [
        {"id": row["id"], "text": row["text"]} for row in table.read().to_pylist()
    ]
    kept = table.read(columns=["id"], filter=pc.field("text") == "t")
    assert set(kept["id"].to_pylist()) == {key for key, row in expected.items() if row[2] == "t"}
    assert content(table, as_of=times[1])["a"] == (20, 1, "t")
    later = {row["id"] for row in table.read_incremental(times[4]).to_pylist()}
    assert later == {"f", "h"}
    (found,) = (row for row in table.read_incremental(times[1], times[2]).to_pylist() if row["id"] == "a")
    assert (found["ts"], found["value"], found["text"]) == (30, 2, "t"), "whole, whatever the commit wrote of it"


@pytest.mark.parametrize("size", [1, 600, 4_000])
def test_in_parts(history, size, tmp_path):
    table, _, _ = history
    options = {"hoodie.memory.merge.max.size": size, "hoodie.memory.spillable.map.path": str(tmp_path)}
    assert table.read(options=options).equals(table.read())


def test_written_on_and_compacted(history):
    table, _, expected = history
    table.write(rows({"a": (50, 5, None), "n": (1, 5, "new")}), "upsert", NO_SMALL_FILES)
    expected |= {"a": (50, 5, None), "n": (1, 5, "new")}
    assert content(table) == expected
    table.schedule(COMPACTION, force=True)
    update_some(table, rows({"a": (60, 6, ""), "b": (60, 6, "")}), ["ts", "value"], NO_SMALL_FILES)
    expected |= {"a": (60, 6, None), "b": (60, 6, None)}
    assert content(table) == expected
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == expected
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == expected
    assert not any(file_slice.log_files for file_slice in table.file_slices())


def test_logs_are_not_compacted_into_one(history, monkeypatch):
    """One block could not show which rows have which columns. A plan of another writer is passed over."""
    table, _, expected = history
    assert table.schedule(LOG_COMPACTION, TWO) is None
    with monkeypatch.context() as patched:
        patched.setattr("hoodie.services.log_compaction.plan.mergeable", lambda _blocks: True)
        time = table.schedule(LOG_COMPACTION, TWO)
    (result,) = table.run(LOG_COMPACTION, TWO, time=time)
    assert not result.metadata.stats
    assert content(table) == expected
