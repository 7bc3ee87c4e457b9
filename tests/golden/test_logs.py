"""Log files that Hudi wrote, byte by byte: what docs/contributing/format.md walks through."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.formats.log import BlockType, Header, read_content, read_deletes, read_rows, scan_blocks
from hoodie.model.internal_columns import RESET
from hoodie.storage import walk_files


def blocks(golden, name, kind):
    table = HoodieTable.open(str(golden("12v9") / name))
    logs = sorted(f.path for f in walk_files(table.storage, "") if ".log." in f.name and not f.path.startswith("."))
    found = [block for log in logs for block in scan_blocks(table.storage, log)]
    assert {block.kind for block in found} >= {kind}
    return table.storage, [block for block in found if block.kind is kind]


@pytest.mark.format("6.1a", "6.1b", "6.2a", "6.3")
def test_an_avro_block(golden):
    storage, found = blocks(golden, "mor_avro", BlockType.AVRO_DATA)
    (block,) = [block for block in found if "part=p2" in block.path]
    assert storage.info(block.path).size == 1039
    assert (block.offset, block.content_offset, block.content_length) == (0, 0x383, 128)
    table = HoodieTable.open(str(golden("12v9") / "mor_avro"))
    first, second = [instant.time for instant in table.timeline.commits][:2]
    assert block.instant == second
    assert block.headers[Header.RECORD_POSITIONS] == "AQAAAAAAAAAAAAAAOjAAAAEAAAAAAAAAEAAAAAAA"
    assert block.headers[Header.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS] == first
    content = read_content(storage, block)
    assert content[:12] == bytes.fromhex("00000003 00000001 00000074")
    assert content[12:14] == bytes.fromhex("02 22")
    (row,) = pa.concat_tables(read_rows(storage, block)).to_pylist()
    assert (row["id"], row["name"], row["price"], row["ts"], row["part"]) == ("c", "C2", 3.5, 20, "p2")
    assert row["_hoodie_commit_seqno"] == f"{second}_0_1"
    data = storage.read(block.path)
    assert data[-12:] == bytes.fromhex("00000000 0000000000000407"), "no footers; the length again, and six"


@pytest.mark.format("6.2b", "6.4", "7.3a")
def test_a_delete_block(golden):
    storage, found = blocks(golden, "mor_avro", BlockType.DELETE)
    (block,) = found
    content = read_content(storage, block)
    assert content.hex() == "0000000300000010" + "02" + "020262" + "020e" + b"part=p1".hex() + "0400" + "00"
    deleted = read_deletes(storage, block, [pa.field("ts", pa.int64())])
    assert deleted.to_pylist() == [{"_hoodie_record_key": "b", "ts": None, RESET: True}]


@pytest.mark.format("6.2d")
def test_a_parquet_block(golden):
    storage, found = blocks(golden, "mor_parquet", BlockType.PARQUET_DATA)
    for block in found:
        content = read_content(storage, block)
        assert content[:4] == content[-4:] == b"PAR1"
        assert pa.concat_tables(read_rows(storage, block)).schema.names[0] == "_hoodie_commit_time"


@pytest.mark.format("6.2f")
def test_a_cdc_block(golden):
    """It has the fields of an Avro block, with the images of a row as its record."""
    storage, found = blocks(golden, "cow_cdc_data_before", BlockType.CDC_DATA)
    rows = pa.concat_tables([part for block in found for part in read_rows(storage, block)])
    assert rows.schema.names == ["op", "record_key", "before"]
    assert set(rows["op"].to_pylist()) <= {"i", "u", "d"}
