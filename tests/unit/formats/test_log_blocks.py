"""Log files: what is written is found again, and what is damaged is passed over up to the next good block."""

from __future__ import annotations

import io
import json
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError, UnsupportedTableError
from hoodie.formats.hfile import HFileWriter
from hoodie.formats.log import BlockType, Header, encode_block, read_content, read_rows, scan_blocks
from hoodie.storage import LocalStorage

HEADERS = st.dictionaries(st.sampled_from(Header), st.text(max_size=20), max_size=4)
KINDS = st.sampled_from([BlockType.COMMAND, BlockType.DELETE, BlockType.AVRO_DATA, BlockType.PARQUET_DATA])
BLOCKS = st.lists(st.tuples(KINDS, HEADERS, st.binary(max_size=50)), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return LocalStorage(str(tmp_path_factory.mktemp("logs")))


def found(storage, data: bytes) -> list[tuple]:
    """The good blocks of a log file with these bytes."""
    storage.delete("log")
    storage.create("log", data)
    blocks = [block for block in scan_blocks(storage, "log") if block.kind is not BlockType.CORRUPT]
    return [(block.kind, dict(block.headers), read_content(storage, block)) for block in blocks]


@pytest.mark.format("6.1a")
@given(BLOCKS)
def test_round_trip(storage, blocks) -> None:
    assert found(storage, b"".join(encode_block(*block) for block in blocks)) == blocks


@pytest.mark.format("6.5a")
@given(BLOCKS, st.data())
def test_a_torn_tail_costs_only_the_last_block(storage, blocks, data) -> None:
    whole = [encode_block(*block) for block in blocks]
    kept = data.draw(st.integers(0, len(whole[-1]) - 1))
    assert found(storage, b"".join(whole[:-1]) + whole[-1][:kept]) == blocks[:-1]


@pytest.mark.format("6.5a")
@given(BLOCKS, st.binary(max_size=30).filter(lambda junk: b"#HUDI#" not in junk + b"#HUDI"))
def test_junk_between_blocks_is_skipped(storage, blocks, junk) -> None:
    whole = [encode_block(*block) for block in blocks]
    # The block before the junk does not end where another begins, so Hudi's reader takes it for damaged too.
    expected = blocks[:-1] if len(junk) >= len(b"#HUDI#") else blocks
    assert found(storage, b"".join(whole) + junk) == expected
    assert found(storage, junk + b"".join(whole)) == blocks


@pytest.mark.format("6.5a")
def test_a_wrong_length_at_the_end_makes_a_block_corrupt(storage) -> None:
    good = encode_block(BlockType.COMMAND, {Header.INSTANT_TIME: "1"}, b"")
    bad = good[:-1] + bytes([good[-1] + 1])
    assert len(found(storage, bad + good)) == 1


@pytest.mark.parametrize("before", range(7))
def test_a_block_is_found_whose_magic_lies_across_two_reads(storage, before) -> None:
    """The search reads a mebibyte at a time, from the second byte of what is damaged."""
    good = (BlockType.COMMAND, {Header.INSTANT_TIME: "1"}, b"")
    assert found(storage, bytes(2**20 + 1 - before) + encode_block(*good)) == [good]


@pytest.mark.parametrize(("version", "kind"), [(2, 3), (1, 7), (1, -1)])
def test_a_whole_block_that_is_not_known_is_not_passed_over(storage, version, kind) -> None:
    good = encode_block(BlockType.AVRO_DATA, {Header.INSTANT_TIME: "1"}, b"")
    with pytest.raises(UnsupportedTableError, match=rf"version {version}, block type {kind} at byte {len(good)}.*Hudi"):
        found(storage, good + good[:14] + struct.pack(">ii", version, kind) + good[22:])


def test_a_schema_longer_than_one_read(storage) -> None:
    block = (BlockType.COMMAND, {Header.SCHEMA: "x" * 300_000, Header.INSTANT_TIME: "1"}, b"abc")
    assert found(storage, encode_block(*block) * 2) == [block] * 2


def test_a_block_without_rows_says_so(storage) -> None:
    storage.delete("log")
    storage.create("log", encode_block(BlockType.COMMAND, {Header.INSTANT_TIME: "1"}, b""))
    (block,) = scan_blocks(storage, "log")
    with pytest.raises(UnsupportedTableError, match="COMMAND"):
        list(read_rows(storage, block))


@pytest.mark.format("6.2e")
def test_rows_of_an_hfile_block(storage) -> None:
    """The key of a record is the entry's; the record's own is left empty."""
    fields = [{"name": "key", "type": "string"}, {"name": "n", "type": ["null", "long"]}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields})
    content = io.BytesIO()
    writer = HFileWriter(content, "log", block_size=1)
    writer.write(pa.table({"key": ["a", "b", "c"], "value": [b"\x00\x02\x02", b"\x00\x00", b"\x00\x02\x03"]}))
    writer.finish()
    headers = {Header.INSTANT_TIME: "1", Header.SCHEMA: schema}
    storage.delete("log")
    other = encode_block(BlockType.COMMAND, {}, b"")
    storage.create("log", other + encode_block(BlockType.HFILE_DATA, headers, content.getvalue()) + other)
    block = list(scan_blocks(storage, "log"))[1]
    rows = pa.concat_tables(read_rows(storage, block))
    assert rows.to_pydict() == {"key": ["a", "b", "c"], "n": [1, None, -2]}
    assert pa.concat_tables(read_rows(storage, block, ["n", "x"])).to_pydict() == {"n": [1, None, -2]}


@pytest.mark.parametrize("content", [b"", b"x" * 5000], ids=["empty", "junk"])
def test_an_hfile_block_that_is_none(storage, content) -> None:
    storage.delete("log")
    storage.create("log", encode_block(BlockType.HFILE_DATA, {Header.SCHEMA: "{}"}, content))
    (block,) = scan_blocks(storage, "log")
    with pytest.raises(CorruptFileError, match="log"):
        list(read_rows(storage, block))
