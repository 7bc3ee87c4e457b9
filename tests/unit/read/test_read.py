"""Reading: only the needed columns and row groups, older schemas, the past."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie.config.properties.store import update_properties
from hoodie.engine import LocalEngine
from hoodie.errors import (
    ConfigError,
    CorruptTableError,
    SchemaConflictError,
    TimeTravelError,
    UnsupportedTableError,
)
from hoodie.formats.base_file import BaseFileReader
from hoodie.model.meta_columns import COMMIT_TIME, FILE_NAME, RECORD_KEY
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def table(tmp_path):
    return create(tmp_path / "t", FakeClock())


def test_columns_filter_and_meta_columns(table):
    table.write(batch([(f"k{i}", "pq"[i % 2], i, i) for i in range(100)]), "insert", SMALL_BLOOM)
    found = table.read(columns=["value", RECORD_KEY], filter=(pc.field("ts") >= 90) & (pc.field("part") == "p"))
    assert found.schema.names == ["value", RECORD_KEY]
    assert sorted(found["value"].to_pylist()) == [90, 92, 94, 96, 98]
    with pytest.raises(ConfigError, match="no column 'nope'"):
        table.read(columns=["nope"])
    with pytest.raises(ConfigError, match="filter does not fit"):
        table.read(filter=pc.field("nope") > 1)


@pytest.mark.parametrize("stored", [False, True])
def test_a_time_without_a_zone_does_not_fit_a_column_with_one(tmp_path, stored):
    """Also where there is no row that the filter could be computed of."""
    at = pa.array([datetime(2026, 1, 1, tzinfo=UTC)] if stored else [], pa.timestamp("us", "UTC"))
    table = create(tmp_path / "t", **{"hoodie.table.ordering.fields": "", "hoodie.table.partition.fields": ""})
    table.write(pa.table({"id": pa.array(["a"] * len(at), pa.string()), "at": at}), "insert")
    with pytest.raises(ConfigError, match=r"filter does not fit.*without timezone.*at \(timestamp\[us, tz=UTC\]\)"):
        table.read(filter=pc.field("at") > datetime(2025, 1, 1))
    assert table.read(filter=pc.field("at") > datetime(2025, 1, 1, tzinfo=UTC)).num_rows == len(at)


def test_row_groups_are_left_out_by_their_statistics(table):
    rows = batch([(f"k{i:06d}", "p", i, i) for i in range(200_000)])
    table.write(rows, "bulk_insert", {**SMALL_BLOOM, "hoodie.parquet.block.size": 2_000_000})
    groups, matching = 0, 0
    for file_slice in table.file_slices():
        with BaseFileReader(table.storage, file_slice.base_file.path) as reader:
            groups += reader._file.num_row_groups
            schema = pa.schema([reader.schema.field("ts")])
            matching += len(reader.matching(pc.field("ts") == 5, schema))
    assert groups > 2
    assert matching == 1
    assert table.read(columns=["id"], filter=pc.field("ts") == 5)["id"].to_pylist() == ["k000005"]


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_a_filter_over_logs(tmp_path, monkeypatch, mode, by_position):
    """A row group without rows for the filter is read only if it decides whether a row of the logs remains."""
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.record.merge.mode": mode}
    small = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, "hoodie.parquet.block.size": 100_000}
    table = create(tmp_path / "t", FakeClock(), LocalEngine(1), **options)
    table.write(batch([(f"k{i:06d}", "p", i, i) for i in range(10_000)]), "bulk_insert", small)
    stored = [1, 2, 5_000, 9_998, 9_999]
    table.write(batch([(f"k{i:06d}", "p", i + i % 2 - 1, 5) for i in stored]), "upsert", small)  # even: late
    table.write(batch([("k000005", "p", 5, 0)]), "delete", small)
    (file_slice,) = table.file_slices()
    assert file_slice.log_files
    reads, original = [], BaseFileReader.batches
    monkeypatch.setattr(
        BaseFileReader, "batches", lambda self, *args: reads.append((args[0], len(args[1]))) or original(self, *args)
    )
    condition = (pc.field("value") == 5) & (pc.field("ts") > 0)
    chosen = {"hoodie.merge.use.record.positions": by_position}
    whole = table.read(columns=["id", "value", "ts"], options=chosen)
    ((_, groups),) = reads
    assert groups > 2
    found = table.read(columns=["id", "value", "ts"], filter=condition, options=chosen)
    assert found.sort_by("id").equals(whole.filter(condition).sort_by("id"))
    wins = stored if mode == "COMMIT_TIME_ORDERING" else [1, 9_999]
    assert found.sort_by("id")["id"].to_pylist() == [f"k{i:06d}" for i in wins]
    needed = ["ts"] if mode == "EVENT_TIME_ORDERING" else []
    needed += [] if by_position else [RECORD_KEY]
    compared = [(needed, groups - 1)] if needed else []
    assert [number for _, number in reads[1:2]] == [1]
    assert [(list(columns), number) for columns, number in reads[2:]] == compared


@pytest.mark.parametrize("by_position", [True, False])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_a_filter_gives_the_rows_of_a_key_that_stands_twice_as_often_as_a_whole_read(tmp_path, mode, by_position):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.record.merge.mode": mode}
    tiny = {**SMALL_BLOOM, "hoodie.parquet.block.size": 1}
    table = create(tmp_path / "t", FakeClock(), LocalEngine(1), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1)]), "insert", tiny)
    table.write(batch([("a", "p", 2, 2)]), "insert", tiny)  # into the same file
    table.write(batch([("a", "p", 3, 3)]), "upsert", tiny)
    chosen = {"hoodie.merge.use.record.positions": by_position}
    whole = table.read(options=chosen)
    assert whole["id"].to_pylist().count("a") == 2
    found = table.read(filter=pc.field("value") == 3, options=chosen)
    assert found.num_rows == whole.filter(pc.field("value") == 3).num_rows == 2


def test_a_column_that_was_added_later(table):
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    wider = batch([("b", "q", 1, 1)]).append_column("note", pa.array(["new"]))
    table.write(wider, "insert", SMALL_BLOOM)
    rows = {row["id"]: row["note"] for row in table.read().to_pylist()}
    assert rows == {"a": None, "b": "new"}
    assert table.read(columns=["note"])["note"].to_pylist().count(None) == 1
    assert table.read(columns=["id"], filter=pc.field("note").is_valid())["id"].to_pylist() == ["b"]
    # Rows without the column keep being accepted, and the stored value of others is not touched.
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert {row["id"]: row["note"] for row in table.read().to_pylist()} == rows


def test_a_type_that_was_widened(table):
    narrow = batch([("a", "p", 1, 1)]).set_column(3, "value", pa.array([7], pa.int32()))
    table.write(narrow, "insert", SMALL_BLOOM)
    table.write(batch([("b", "q", 1, 1 << 40)]), "insert", SMALL_BLOOM)
    assert table.schema.field("value").type == pa.int64()
    assert {row["id"]: row["value"] for row in table.read().to_pylist()} == {"a": 7, "b": 1 << 40}
    assert table.read(columns=["id"], filter=pc.field("value") == 7)["id"].to_pylist() == ["a"]


def test_other_changes_are_refused_by_name(table):
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    text = batch([("a", "p", 2, 1)]).set_column(3, "value", pa.array(["x"]))
    with pytest.raises(SchemaConflictError, match="'value'"):
        table.write(text, "upsert", SMALL_BLOOM)
    assert content(table) == {"a": ("p", 1, 1)}


def test_time_travel(table):
    times = [table.write(batch([("a", "p", i, i)]), "upsert", SMALL_BLOOM).instant.time for i in range(3)]
    for value, time in enumerate(times):
        assert content(table, as_of=time) == {"a": ("p", value, value)}
    moment = datetime.strptime(times[1], "%Y%m%d%H%M%S%f").isoformat(timespec="milliseconds")
    assert content(table, as_of=moment) == {"a": ("p", 1, 1)}
    for wrong in ("yesterday", "2020", "20251231000000000"):
        with pytest.raises(TimeTravelError):
            table.read(as_of=wrong)


def test_updated_rows_keep_their_place_and_moved_rows_their_commit(table):
    first = table.write(batch([(f"k{i}", "p", 1, i) for i in range(5)]), "insert", SMALL_BLOOM).instant.time
    second = table.write(batch([("k2", "p", 2, 99)]), "upsert", SMALL_BLOOM).instant.time
    rows = table.read(columns=["id", "value", COMMIT_TIME, FILE_NAME])
    assert rows["id"].to_pylist() == [f"k{i}" for i in range(5)]
    assert rows["value"].to_pylist() == [0, 1, 99, 3, 4]
    assert rows[COMMIT_TIME].to_pylist() == [first, first, second, first, first]
    assert set(rows[FILE_NAME].to_pylist()) == {table.file_slices()[0].base_file.name}


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("data", [b"", b"Obj\x01 torn", b'{"partitionToWriteStats": {"p"'])
def test_a_torn_commit_is_named_and_never_read_as_empty(tmp_path, version, data):
    table = create(tmp_path / version, FakeClock(), **{"hoodie.write.table.version": version})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    state = table.state()
    name = state.timeline.commits[0].file_name
    path = f"{state.layout.folder}/{name}"
    table.storage.delete(path)
    table.storage.create(path, data)
    with pytest.raises(CorruptTableError, match=name):
        table.read()
    with pytest.raises(CorruptTableError, match=name):
        table.write(batch([("b", "p", 1, 1)]), "insert", SMALL_BLOOM)


def test_small_files_are_filled_first(tmp_path):
    table = create(tmp_path / "t", FakeClock(), engine=LocalEngine(1))
    options = {**SMALL_BLOOM, "hoodie.parquet.max.file.size": 20_000, "hoodie.parquet.small.file.limit": 15_000,
               "hoodie.copyonwrite.record.size.estimate": 100}  # fmt: skip
    table.write(batch([(f"a{i}", "p", 1, 1) for i in range(50)]), "insert", options)
    assert len(table.file_slices()) == 1
    table.write(batch([(f"b{i}", "p", 1, 1) for i in range(400)]), "insert", options)
    slices = table.file_slices()
    assert len(slices) > 1
    assert len(content(table)) == 450
    assert sorted(s.base_instant for s in slices)[0] == table.timeline.commits[1].time, "the small file was rewritten"
    table.write(batch([("c", "p", 1, 1)]), "insert", {**options, "hoodie.parquet.small.file.limit": 0})
    assert len(table.file_slices()) == len(slices) + 1


def test_an_empty_table(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    assert table.read().num_rows == 0
    with pytest.raises(SchemaConflictError, match="no schema yet"):
        _ = table.schema
    table.write(batch([]), "upsert", SMALL_BLOOM)
    assert table.read().num_rows == 0
    assert table.schema.names == ["id", "part", "ts", "value"]


def test_partition_columns_that_only_folders_tell_are_not_read_as_null(table):
    """Hudi's tables with hoodie.datasource.write.drop.partition.columns=true."""
    table.write(batch([("a", "p", 1, 1)]), "insert")
    dropped = {"hoodie.datasource.write.drop.partition.columns": "true"}
    update_properties(table.storage, table.properties.with_values(dropped))
    for read in ({}, {"columns": ["part"]}, {"columns": ["id"], "filter": pc.field("part") == "p"}):
        with pytest.raises(UnsupportedTableError, match=r"Columns part .* cannot be read"):
            table.read(**read)
    assert table.read(columns=["id", "value"]).to_pylist() == [{"id": "a", "value": 1}]
