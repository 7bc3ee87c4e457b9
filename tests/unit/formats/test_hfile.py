"""HFiles: what is written is found again, by every way of reading; what is damaged or out of order is refused."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.errors import CorruptFileError, RecordKeyError, UnsupportedTableError
from hoodie.formats.hfile import ENTRIES, Codec, HFileReader, HFileWriter, open_hfile
from hoodie.formats.hfile.blocks import Magic, decode_block, encode_block
from hoodie.storage import LocalStorage

KEYS = st.one_of(
    st.binary(max_size=6), st.text("ab", max_size=8).map(str.encode), st.binary(min_size=300, max_size=300)
)
FILES = st.dictionaries(KEYS, st.one_of(st.binary(max_size=20), st.binary(min_size=200, max_size=400)), max_size=40)
CODECS = st.sampled_from(Codec)
BLOCK_SIZES = st.sampled_from([1, 100, 1000, 1 << 20])


def table(entries):
    keys, values = ([entry[place] for entry in entries] for place in (0, 1))
    return pa.table([pa.array(keys, pa.binary()), pa.array(values, pa.binary())], schema=ENTRIES)


def written(*batches, codec=Codec.GZ, block_size=1000, info=None, meta_blocks=None) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, "test.hfile", codec=codec, block_size=block_size)
    for batch in batches:
        writer.write(batch)
    writer.finish(info, meta_blocks)
    return sink.getvalue()


def opened(data: bytes) -> HFileReader:
    return HFileReader(pa.BufferReader(data), len(data), "test.hfile")


def pairs(batches):
    return [(row["key"], row["value"]) for batch in batches for row in batch.to_pylist()]


@given(FILES, st.integers(0, 40), CODECS, BLOCK_SIZES, st.dictionaries(st.text(max_size=5), st.binary(max_size=200)))
def test_round_trip(entries, cut, codec, block_size, named) -> None:
    rows = sorted(entries.items())
    data = written(
        table(rows[:cut]), table(rows[cut:]), codec=codec, block_size=block_size, info=named, meta_blocks=named
    )
    reader = opened(data)
    assert pairs(reader.scan()) == rows
    assert reader.entry_count == len(rows)
    assert {name: reader.info[name] for name in named} == named
    assert {name: reader.meta_block(name) for name in [*named, "absent"]} == {**named, "absent": None}


@given(FILES, st.lists(KEYS, max_size=10), st.data(), CODECS, BLOCK_SIZES)
def test_lookups_find_what_a_scan_finds(entries, others, data, codec, block_size) -> None:
    rows = sorted(entries.items())
    reader = opened(written(table(rows), codec=codec, block_size=block_size))
    wanted = others + (data.draw(st.lists(st.sampled_from([key for key, _ in rows]))) if rows else [])
    assert pairs(reader.lookup(pa.array(wanted, pa.binary()))) == [row for row in rows if row[0] in wanted]
    for prefix in {b"", b"a", *(key[:length] for key in wanted for length in (1, 2, 99))}:
        assert pairs(reader.lookup_prefix(prefix)) == [row for row in rows if row[0].startswith(prefix)]


class CountingFile(io.BytesIO):
    """Counts the bytes that are read."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


def test_only_the_blocks_asked_for_are_read() -> None:
    rows = [(f"key-{number:06}".encode(), b"x" * 500) for number in range(4000)]
    data = written(table(rows), codec=Codec.NONE, block_size=10_000)
    source = CountingFile(data)
    reader = HFileReader(source, len(data), "test.hfile")
    assert reader.block_count > 150
    assert pairs(reader.lookup(pa.array(["key-002000", "key-000001", "nope"]))) == [rows[1], rows[2000]]
    assert pairs(reader.lookup_prefix(b"key-00300")) == rows[3000:3010]
    assert source.count < 64 * 1024 + 5 * 10_100


def test_a_file_inside_another(tmp_path) -> None:
    data = written(table([(b"a", b"1"), (b"b", b"2")]))
    (tmp_path / "log").write_bytes(b"before" + data + b"behind")
    with open_hfile(LocalStorage(str(tmp_path)), "log", 6, len(data)) as reader:
        assert pairs(reader.scan()) == [(b"a", b"1"), (b"b", b"2")]


@pytest.mark.parametrize(
    ("batches", "found"),
    [
        ([[(b"b", b""), (b"a", b"")]], "the key 'a' after 'b'. To do: sort the entries"),
        ([[(b"b", b"")], [(b"a", b"")]], "the key 'a' after 'b'. To do: sort the entries"),
        ([[(b"a", b""), (b"a", b"")]], "the key 'a' twice. To do: keep one"),
        ([[(b"a", b"")], [(b"a", b"")]], "the key 'a' twice. To do: keep one"),
        ([[(b"\xff", b""), (b"a", b"")]], "sort the entries"),
        ([[(b"a" * 32768, b"")]], "more than 32767 bytes"),
    ],
)
def test_what_cannot_be_written(batches, found) -> None:
    with pytest.raises(RecordKeyError, match=found):
        written(*(table(batch) for batch in batches))


def test_nulls_cannot_be_written() -> None:
    for key, value in (("a", None), (None, b"")):
        with pytest.raises(RecordKeyError, match="null"):
            written(pa.table({"key": pa.array([key], pa.string()), "value": pa.array([value], pa.binary())}))


@pytest.mark.parametrize(
    ("size", "found"), [(9, "10 bytes that should have 9"), (11, "should have 11"), (0, "should have 0")]
)
def test_no_more_is_unzipped_than_a_block_says_of_itself(size, found) -> None:
    """A megabyte of zeros is a kilobyte of gzip."""
    block = bytearray(encode_block(Magic.DATA, bytes(1 << 20), Codec.GZ, -1))
    block[12:16] = size.to_bytes(4, "big")
    block[24] = 0  # without checksums, as Hudi 1.x
    with pytest.raises(CorruptFileError, match=found):
        decode_block(memoryview(bytes(block)), Magic.DATA, Codec.GZ, "test")


@given(CODECS, st.data())
def test_damage_is_found(codec, data) -> None:
    """Every byte that matters is covered by a checksum, or a typed error says what is wrong."""
    rows = [(f"key-{number:04}".encode(), b"value" * 10) for number in range(100)]
    good = written(table(rows), codec=codec, info={"schema": b"{}"})
    place = data.draw(st.integers(0, len(good) - 1))
    kept = data.draw(st.integers(0, len(good) - 1))
    flipped = good[:place] + bytes([good[place] ^ data.draw(st.integers(1, 255))]) + good[place + 1 :]
    for damaged in (good[:kept], flipped):
        try:
            found = pairs(opened(damaged).scan())
        except (CorruptFileError, UnsupportedTableError) as problem:
            if "test.hfile" in str(problem) and problem.fix:
                continue
            raise
        assert found == rows


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (b"HoodieHBaseKVComparator", b"FancyBackwardComparator", "the comparator .*FancyBackwardComparator"),
        (b"Comparator\x60\x02", b"Comparator\x60\x03", "the codec SNAPPY"),
        (b"\x03\x00\x00\x03", b"\x03\x00\x00\x02", "version 2"),
    ],
)
def test_files_of_other_kinds(old, new, found) -> None:
    data = written(table([(b"a", b"1")]), codec=Codec.NONE)
    assert old in data[-4096:]
    with pytest.raises(UnsupportedTableError, match=found):
        opened(data[:-4096] + data[-4096:].replace(old, new))


def test_cells_of_hbase_are_not_taken_for_ours() -> None:
    """A key with a column family has more behind its row than ours."""
    data = written(table([(b"row", b"1")]), codec=Codec.NONE)
    old = b"\x00\x03row\x00\x7f"
    cell = encode_block(Magic.DATA, data[33 : 33 + 4 + 4 + 15 + 2].replace(old, b"\x00\x02row\x00\x7f"), Codec.NONE, -1)
    assert len(cell) == data.index(b"IDXROOT2")
    with pytest.raises(UnsupportedTableError, match="column families"):
        list(opened(cell + data[len(cell) :]).scan())
