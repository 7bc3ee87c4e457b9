"""Rows by the chunks of their keys, in files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.columns import DeclaredTable
from hudi_services.sources.cdc.mysql.equality import spool
from hudi_services.sources.cdc.mysql.equality.chunks import digests
from hudi_services.sources.cdc.mysql.equality.spool import PARTS, spooled

TABLE = DeclaredTable("d", "t", (LoggedColumn(Code.LONG, 0, "id"),), ("id",), {})


@pytest.mark.parametrize("held", [0, 1_000, 10_000], ids=["files", "files but for few rows", "memory and files"])
def test_rows_of_a_chunk_are_in_one_part_in_both_sides(tmp_path, monkeypatch, held):
    monkeypatch.setattr(spool, "_GATHERED", 2_100)  # bytes: some gathered rows are the last ones, and few
    monkeypatch.setattr(spool, "_HELD", held)
    rows = pa.table({"id": pa.array(range(1_000), pa.int32())}, TABLE.schema)
    with digests(TABLE, ("id",)) as computed:
        one = spooled(computed, TABLE.schema, rows.to_batches(max_chunksize=100), None, tmp_path / "one")
        other = spooled(computed, TABLE.schema, rows.slice(0, 500).to_batches(), None, tmp_path / "other")
        numbers = computed.chunks(rows.to_batches()[0])
        wanted = np.unique(numbers[:10])
        some = spooled(computed, TABLE.schema, rows.to_batches(), wanted, tmp_path / "some")
    assert (one.rows, other.rows, some.rows) == (1_000, 500, int(np.isin(numbers, wanted).sum()))
    parts = [set(one.part(number)["id"].to_pylist()) for number in range(PARTS)]
    assert sum(map(len, parts)) == 1_000
    assert len([part for part in parts if part]) == PARTS
    for number in range(PARTS):
        assert {key for key in parts[number] if key < 500} == set(other.part(number)["id"].to_pylist())
    kept = [key for number in range(PARTS) for key in some.part(number)["id"].to_pylist()]
    assert set(range(10)) <= set(kept)
    assert len(kept) == some.rows


def test_few_rows_stay_in_memory_and_more_go_to_files(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "_GATHERED", 1_000)
    monkeypatch.setattr(spool, "_HELD", 500)
    for count, has_files in ((0, False), (100, False), (200, True), (260, True)):  # 4 bytes each
        rows = pa.table({"id": pa.array(range(count), pa.int32())}, TABLE.schema)
        folder = tmp_path / str(count)
        with digests(TABLE, ("id",)) as computed:
            one = spooled(computed, TABLE.schema, rows.to_batches(max_chunksize=50), None, folder)
        assert any(folder.iterdir()) == has_files
        found = pa.concat_tables(one.part(number) for number in range(PARTS))
        assert sorted(found["id"].to_pylist()) == list(range(count))
        assert found.schema == TABLE.schema
