"""Blocks of logs of changes have the records of Hudi's."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given

from hoodie.formats.log import BlockType, Header, scan_blocks
from hoodie.formats.log.change_writer import ChangeBlocks
from hoodie.formats.log.rows import read_rows
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.time import Time
from hoodie.storage import storage_of
from tests.support.arrow_strategies import tables

INSTANT = Time.of("20260101000000000")


@pytest.mark.parametrize("mode", ["OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER"])
@given(images=tables())
def test_values_of_every_type_come_back(mode, images):
    count = images.num_rows
    before = pa.StructArray.from_arrays([each.combine_chunks() for each in images.columns], fields=list(images.schema))
    after = pa.concat_arrays([before.slice(1), pa.nulls(min(1, count), before.type)])
    keys = pa.array([f"ß{number}" for number in range(count)], pa.string())
    changes = pa.table([pa.repeat("u", count), keys, before, after], ["op", RECORD_KEY, "before", "after"])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "log").write_bytes(ChangeBlocks(mode, "t", images.schema, INSTANT).encode(changes))
        storage = storage_of(folder)
        (block,) = scan_blocks(storage, "log")
        assert (block.kind, block.headers[Header.INSTANT_TIME]) == (BlockType.CDC_DATA, INSTANT)
        rows = [rows for table in read_rows(storage, block) for rows in table.to_pylist()]
    expected = {"op": ["u"] * count, "record_key": keys.to_pylist(), "ts_ms": [INSTANT] * count}
    expected |= {"before": before.to_pylist(), "after": after.to_pylist()}
    for name in rows[0] if rows else ():
        assert repr([row[name] for row in rows]) == repr(expected[name]), name


def test_a_block_without_changes(tmp_path):
    data = pa.schema([("id", pa.string())])
    image = pa.nulls(0, pa.struct(list(data)))
    blocks = ChangeBlocks("DATA_BEFORE_AFTER", "t", data, INSTANT)
    empty = pa.table([pa.array([], pa.string())] * 2 + [image] * 2, ["op", RECORD_KEY, "before", "after"])
    (tmp_path / "log").write_bytes(blocks.encode(empty))
    storage = storage_of(tmp_path)
    (block,) = scan_blocks(storage, "log")
    assert sum(rows.num_rows for rows in read_rows(storage, block)) == 0


def test_the_record_is_named_as_by_hudi(golden):
    """A log of each mode that Hudi wrote has the same names and types."""
    folder = golden("12v9-cdc").parent / "cdc-12v9"
    for mode in ("data_before", "data_before_after"):
        table = folder / f"cow_dml_{mode}"
        path = next(iter(table.rglob("*.cdc")))
        (block,) = scan_blocks(storage_of(table), str(path.relative_to(table)))
        theirs = json.loads(block.headers[Header.SCHEMA])
        data = pa.schema([("id", pa.string()), ("name", pa.string()), ("price", pa.float64()), ("ts", pa.int64())])
        data = data.append(pa.field("day", pa.date32())).append(pa.field("part", pa.string()))
        ours = json.loads(ChangeBlocks(mode.upper(), f"cow_dml_{mode}", data, INSTANT).header)
        assert (ours["name"], ours["namespace"]) == (theirs["name"], theirs["namespace"])
        assert [(each["name"], each["type"]) for each in ours["fields"]] == [
            (each["name"], each["type"]) for each in theirs["fields"]
        ]
