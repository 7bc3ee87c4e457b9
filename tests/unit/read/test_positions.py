"""Rows of logs find those of the base file by number if all logs have numbers, by key otherwise. The result is the same."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import hoodie.write.worker.log_file as log_file
from hoodie import COMPACTION, LOG_COMPACTION
from hoodie.engine import LocalEngine
from hoodie.errors import CorruptFileError
from hoodie.formats.base_file import BaseFileReader
from hoodie.formats.log import Header, decode_positions, encode_positions, read_deletes, read_rows, scan_blocks
from hoodie.model.internal_columns import POSITION
from hoodie.model.meta_columns import RECORD_KEY
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

OPTIONS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0, "hoodie.parquet.block.size": 20_000}
BY_KEY = {"options": {"hoodie.merge.use.record.positions": "false"}}
EVERY_7TH = [(f"k{i:04d}", "p", 5 + i % 2, -i) for i in range(0, 2_000, 7)]


def made(path, first="insert", **properties):
    """A base file of several row groups, with updates and deletions in logs; some of the updates are late."""
    table = create(path, FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ", **properties})
    table.write(batch([(f"k{i:04d}", "p", 6 - i % 3, i) for i in range(2_000)]), first, OPTIONS)
    table.write(batch(EVERY_7TH[::-1]), "upsert", OPTIONS)
    table.write(batch(EVERY_7TH[10:20]).select(["id", "part"]), "delete", OPTIONS)
    table.write(batch([(key, "p", 9, 1) for key, *_ in EVERY_7TH[15:25]]), "upsert", OPTIONS)
    return table


def blocks(table):
    (file_slice,) = table.file_slices()
    return file_slice, [block for log in file_slice.log_files for block in scan_blocks(table.storage, log.path)]


@pytest.fixture
def columns_read(monkeypatch):
    """The columns that were read from base files."""
    read, original = set(), BaseFileReader.batches

    def batches(self, columns=None, *args, **options):
        read.update(columns if columns is not None else self.schema.names)
        return original(self, columns, *args, **options)

    monkeypatch.setattr(BaseFileReader, "batches", batches)
    return read


@pytest.mark.format("6.1b")
def test_logs_tell_where_their_rows_stand(tmp_path):
    table = made(tmp_path / "t")
    file_slice, found = blocks(table)
    with BaseFileReader(table.storage, file_slice.base_file.path) as reader:
        assert reader.row_groups > 2
        keys = pa.concat_tables(reader.batches([RECORD_KEY]))[RECORD_KEY]
    assert len(found) == 3
    for block in found:
        assert block.headers[Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == file_slice.base_instant
        deletes = block.kind.name == "DELETE"
        rows = read_deletes(table.storage, block, []) if deletes else pa.concat_tables(read_rows(table.storage, block))
        assert keys.take(pa.array(decode_positions(block))).to_pylist() == rows[RECORD_KEY].to_pylist()


@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.parametrize("virtual", [False, True])
def test_read_without_keys(tmp_path, columns_read, mode, virtual):
    properties = {"hoodie.record.merge.mode": mode, "hoodie.populate.meta.fields": str(not virtual).lower()}
    table = made(tmp_path / "t", **properties)
    condition = pc.field("value") < 0
    for columns in (["value"], ["value", "ts"], ["value", "id"], ["id", "part", "ts", "value"]):
        for chosen in (None, condition):
            by_key = table.read(columns, chosen, **BY_KEY).sort_by([(name, "ascending") for name in columns])
            columns_read.clear()
            found = table.read(columns, chosen).sort_by([(name, "ascending") for name in columns])
            assert found.equals(by_key)
            assert found.num_rows > 200
            assert columns_read <= {*columns, "ts"}
    # Ten were deleted; five of them came again.
    assert len(content(table)) == 1_995


def test_the_key_may_be_wanted_too(tmp_path):
    table = made(tmp_path / "t")
    columns = [RECORD_KEY, "_hoodie_partition_path", "id"]
    found = table.read(columns)
    assert found[RECORD_KEY].equals(found["id"])
    assert found["_hoodie_partition_path"].unique().to_pylist() == ["part=p"]
    assert found.sort_by("id").equals(table.read(columns, **BY_KEY).sort_by("id"))


def test_incremental(tmp_path, columns_read):
    table = made(tmp_path / "t")
    since = [instant.completion_time for instant in table.timeline.commits]
    for start in (None, *since):
        by_key = table.read_incremental(start, columns=["id", "value"], **BY_KEY)
        columns_read.clear()
        found = table.read_incremental(start, columns=["id", "value"])
        assert found.sort_by("id").equals(by_key.sort_by("id"))
        assert RECORD_KEY not in columns_read
    assert table.read_incremental(since[-2]).num_rows == 10


def test_positions_in_another_base_file_do_not_count(tmp_path, columns_read):
    """The base file of a compaction that was pending when the log was written."""
    table = made(tmp_path / "t")
    table.schedule(COMPACTION, force=True)
    table.write(batch([(key, "p", 20, 20) for key, *_ in EVERY_7TH]), "upsert", OPTIONS)
    expected = content(table)
    table.run(COMPACTION, SMALL_BLOOM)
    file_slice, (block,) = blocks(table)
    assert block.headers[Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] != file_slice.base_instant
    columns_read.clear()
    assert content(table) == expected
    assert RECORD_KEY in columns_read


def test_a_key_that_stands_twice_has_no_position(tmp_path):
    table = create(tmp_path / "t", FakeClock(), LocalEngine(1), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1), ("b", "p", 1, 1), ("a", "p", 1, 2)]), "bulk_insert", OPTIONS)
    table.write(batch([("b", "p", 2, 2)]), "upsert", OPTIONS)
    table.write(batch([("a", "p", 2, 3), ("b", "p", 2, 3)]), "upsert", OPTIONS)
    _, (first, second) = blocks(table)
    assert Header.RECORD_POSITIONS in first.headers
    assert Header.RECORD_POSITIONS not in second.headers
    assert sorted(table.read(["id", "value"]).to_pydict()["value"]) == [3, 3, 3]


@pytest.mark.parametrize(
    ("properties", "options"),
    [({"hoodie.write.table.version": "6"}, {}), ({}, {"hoodie.write.record.positions": "false"})],
)
def test_logs_without_positions(tmp_path, properties, options):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ", **properties})
    for ts in (1, 2):
        table.write(batch([("a", "p", ts, ts)]), "upsert", {**OPTIONS, **options})
    _, (block,) = blocks(table)
    assert Header.RECORD_POSITIONS not in block.headers
    assert content(table) == {"a": ("p", 2, 2)}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda rows: rows.set_column(0, POSITION, pa.array([2_000 + n for n in range(len(rows))])), "has 2000 rows"),
        (lambda rows: rows.slice(1), r"\d+ positions for \d+ rows"),
        (lambda rows: pa.concat_tables([rows, pa.table({POSITION: [1_999]})]), r"\d+ positions for \d+ rows"),
    ],
)
def test_wrong_positions_are_told_with_a_way_out(tmp_path, monkeypatch, wrong, told):
    original = encode_positions
    monkeypatch.setattr(log_file, "encode_positions", lambda rows, base: original(wrong(rows.select([POSITION])), base))
    table = made(tmp_path / "t")
    with pytest.raises(CorruptFileError, match=told + r".*hoodie\.merge\.use\.record\.positions=false"):
        table.read()
    expected = content(table, **BY_KEY)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert content(table) == expected, "compactions go by keys"


def test_an_added_column_and_nothing_else(tmp_path):
    """The base file has no column of those that are read: its rows count all the same."""
    properties = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.ordering.fields": ""}
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ", **properties})
    table.write(batch([(f"k{n}", "p", 1, n) for n in range(5)]), "insert", OPTIONS)
    table.write(batch([("k1", "p", 1, 1)]).append_column("note", pa.array(["new"])), "upsert", OPTIONS)
    assert sorted(table.read(["note"])["note"].to_pylist(), key=str) == [None, None, None, None, "new"]


def test_merged_logs_tell_none(tmp_path):
    """A log compaction keeps one row of a key. If the base file has the key twice, that would hide one row too few."""
    table = made(tmp_path / "t")
    expected = content(table)
    assert table.schedule(LOG_COMPACTION, {"hoodie.log.compaction.blocks.threshold": 2})
    table.run(LOG_COMPACTION, SMALL_BLOOM)
    _, found = blocks(table)
    assert any(Header.COMPACTED_BLOCK_TIMES in block.headers for block in found)
    assert not any(Header.RECORD_POSITIONS in b.headers for b in found if Header.COMPACTED_BLOCK_TIMES in b.headers)
    assert content(table) == content(table, **BY_KEY) == expected
