"""Logs have Avro blocks if an ordering field is text: in Parquet blocks Hudi misreads it (tests/interop shows both)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, LOG_COMPACTION
from hoodie.formats.log import BlockType, scan_blocks
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, create

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
TWO = {"hoodie.log.compaction.blocks.threshold": 2, **SMALL_BLOOM}


def rows(entries):
    """(id, text, value) with a map, to have what is not flat too"""
    ids, text, value = zip(*entries, strict=True)
    maps = pa.array([[("n", number)] if number else None for number in value], pa.map_(pa.string(), pa.int64()))
    return pa.table(
        {"id": ids, "part": ["p"] * len(ids), "at": text, "value": pa.array(value, pa.int64()), "map": maps}
    )


def found(table):
    return {row["id"]: (row["at"], row["value"], row["map"]) for row in table.read().to_pylist()}


def kinds(table):
    paths = [log.path for file_slice in table.file_slices() for log in file_slice.log_files]
    return [block.kind for path in paths for block in scan_blocks(table.storage, path)]


@pytest.mark.format("6.2a", "7.3f")
@pytest.mark.parametrize(
    ("version", "ordering"), [("9", "at"), ("9", "value,at"), ("9", "value"), ("6", "at"), ("6", "value")]
)
def test_blocks_of_a_table(tmp_path, version, ordering):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.table.ordering.fields": ordering}
    table = create(tmp_path / "t", FakeClock(), **options, **{"hoodie.write.table.version": version})
    table.write(rows([("a", "b", 5), ("b", "b", 5), ("c", "b", 5)]), "insert", NO_SMALL_FILES)
    table.write(rows([("a", "c", 6), ("b", "bb", 7), ("c", "aa", 4)]), "upsert", NO_SMALL_FILES)
    table.write(rows([("a", "bz", 0), ("b", "cc", 9)]), "upsert", NO_SMALL_FILES)
    wanted = BlockType.PARQUET_DATA if ordering == "value" else BlockType.AVRO_DATA
    assert kinds(table) == [wanted] * 2
    expected = {"a": ("c", 6, [("n", 6)]), "b": ("cc", 9, [("n", 9)]), "c": ("b", 5, [("n", 5)])}
    assert found(table) == expected
    if version == "9":
        table.run(LOG_COMPACTION, TWO, time=table.schedule(LOG_COMPACTION, TWO))
        assert kinds(table)[-1] is wanted
        assert found(table) == expected
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert found(table) == expected


def test_the_later_write_wins_without_asking(tmp_path):
    options = {"hoodie.table.ordering.fields": "at", "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
    table = create(tmp_path / "t", FakeClock(), **options, **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(rows([("a", "b", 5)]), "insert", NO_SMALL_FILES)
    table.write(rows([("a", "a", 6)]), "upsert", NO_SMALL_FILES)
    assert kinds(table) == [BlockType.PARQUET_DATA]
    assert found(table) == {"a": ("a", 6, [("n", 6)])}
