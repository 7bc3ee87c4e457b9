"""Logs that Hudi's MERGE INTO wrote (`make_merge_into.py` made the tables): rows of some columns among whole ones."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.formats.log import BlockType, Header, columns_of, read_rows, scan_blocks
from hoodie.model.meta_columns import META_COLUMNS
from tests.support.tables import SMALL_BLOOM

TABLES = pytest.mark.parametrize("name", ["event", "commit"])


def snapshot(table):
    return {row["id"]: [row["name"], row["price"], row["ts"]] for row in table.read().to_pylist()}


@pytest.mark.format("7.2g")
@pytest.mark.parametrize(("name", "kind"), [("event", BlockType.PARQUET_DATA), ("commit", BlockType.AVRO_DATA)])
def test_blocks(golden, name, kind):
    """Blocks of some columns: the meta columns, those that were set, the ordering field."""
    table = HoodieTable.open(str(golden("12merge") / name))
    logs = [log.path for file_slice in table.file_slices() for log in file_slice.log_files]
    found = [block for log in logs for block in scan_blocks(table.storage, log) if block.kind is not BlockType.DELETE]
    assert {block.kind for block in found} == {kind}
    first = next(block for block in found if block.is_partial)
    assert first.headers[Header.IS_PARTIAL] == "true"
    assert columns_of(first) == {*META_COLUMNS, "name", "ts"}
    rows = pa.concat_tables(read_rows(table.storage, first)).select(["_hoodie_record_key", "name", "ts"]).to_pylist()
    assert rows[1] == {"_hoodie_record_key": "k2", "name": None, "ts": 20}
    assert any(columns_of(block) == {*META_COLUMNS, "id", "name", "price", "ts"} for block in found)


@pytest.mark.format("7.1j", "7.2g", "7.2h")
@TABLES
def test_read_written_on_and_compacted(golden, expected, tmp_path, name):
    rows = expected("12merge", name)
    shutil.copytree(golden("12merge") / name, tmp_path / name)
    table = HoodieTable.open(str(tmp_path / name))
    assert snapshot(table) == rows
    row = table.read().slice(0, 1)
    table.write(row.set_column(row.schema.get_field_index("price"), "price", pa.array([99.0])), "upsert", SMALL_BLOOM)
    rows[row["id"][0].as_py()][1] = 99.0
    assert snapshot(table) == rows
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, SMALL_BLOOM)
    assert not any(file_slice.log_files for file_slice in table.file_slices())
    assert snapshot(table) == rows
