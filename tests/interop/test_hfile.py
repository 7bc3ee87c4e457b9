"""HFiles both ways: Apache Hudi's own readers, and the HBase of 0.15.0, read ours; we read theirs."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.formats.bootstrap_index import FILE_IDS_PATH, FOLDER, read_bootstrap_index, write_bootstrap_index
from hoodie.formats.hfile import ENTRIES, Codec, HFileWriter, open_hfile
from hoodie.storage import LocalStorage
from tests.support.matrix import diagonal

pytestmark = pytest.mark.interop

RANDOM = random.Random(7)
NARROW = [(f"key-{number:05}ü".encode(), RANDOM.randbytes(RANDOM.randrange(40))) for number in range(2000)]
WIDE = [(f"{number:04}".encode() * 40, RANDOM.randbytes(9000)) for number in range(60)]  # blocks of several checksums
SHAPES = {
    "many blocks": (NARROW, 1000),
    "blocks of several checksums": (WIDE, 100_000),
    "one block": (NARROW[:1], 1 << 20),
    "no entries": ([], 1 << 20),
}
VALUES = {"schema": b"{}", "minRecordKey": b"a"}


def write_ours(path: Path, entries, codec: Codec, block_size: int) -> None:
    with path.open("wb") as sink:
        writer = HFileWriter(sink, str(path), codec=codec, block_size=block_size, created_ms=1)
        for start in range(0, len(entries), 700):
            keys, values = zip(*entries[start : start + 700], strict=True)
            writer.write(pa.table([pa.array(keys, pa.binary()), pa.array(values, pa.binary())], schema=ENTRIES))
        writer.finish(VALUES, {"bloomFilter": b"bloom"})


def read_ours(path: Path) -> dict:
    """Entries by a scan, by keys and by prefix."""
    with open_hfile(LocalStorage(str(path.parent)), path.name) as reader:
        scanned = pa.Table.from_batches(reader.scan(), ENTRIES)
        assert pa.Table.from_batches(reader.lookup(scanned["key"]), ENTRIES).equals(scanned)
        assert pa.Table.from_batches(reader.lookup_prefix(b""), ENTRIES).equals(scanned)
        assert reader.entry_count == scanned.num_rows
        assert reader.info["schema"] == b"{}"
        bloom = reader.meta_block("bloomFilter")
        levels = reader._trailer.index_levels
    entries = [(row["key"], row["value"]) for row in scanned.to_pylist()]
    return {"entries": entries, "bloom": bloom, "levels": levels}


@pytest.fixture(params=[("hudi12", "native"), ("hudi15", "native"), ("hudi15", "hbase")], ids="-".join, scope="module")
def _reader(request):
    return request.param


@pytest.fixture
def read_hfile(_reader, request):
    version, kind = _reader
    peer = request.getfixturevalue(version)
    return lambda path, keys: peer.read_hfile(path, kind, keys)


@pytest.mark.parametrize(("shape", "codec"), diagonal(SHAPES, Codec), ids=lambda each: getattr(each, "name", each))
def test_java_reads_ours(read_hfile, tmp_path, shape, codec):
    entries, block_size = SHAPES[shape]
    write_ours(tmp_path / "ours.hfile", entries, codec, block_size)
    some = entries[:: max(1, len(entries) // 60)]
    wanted = sorted([key for key, _ in some] + [key + b"!" for key, _ in some])
    found = read_hfile(tmp_path / "ours.hfile", wanted)
    assert found.entries == entries
    assert found.count == len(entries)
    assert found.found == some
    assert {name: found.info[name] for name in VALUES} == VALUES
    assert found.bloom == b"bloom"


@pytest.mark.parametrize(
    ("shape", "codec"), diagonal(["many blocks", "blocks of several checksums", "one block"], ["GZ", "NONE"])
)
def test_we_read_those_of_hudi(hudi12, tmp_path, shape, codec):
    entries, block_size = SHAPES[shape]
    hudi12.write_hfile(tmp_path / "theirs.hfile", "native", codec, block_size, entries)
    assert read_ours(tmp_path / "theirs.hfile") == {"entries": entries, "bloom": b"bloom", "levels": 1}


@pytest.mark.parametrize("codec", ["GZ", "NONE"])
@pytest.mark.parametrize(
    ("shape", "index_size", "levels"),
    [
        ("many blocks", 100_000, 1),
        ("many blocks", 1500, 2),
        ("many blocks", 200, 3),
        ("blocks of several checksums", 100_000, 1),
    ],
)
def test_we_read_those_of_hbase(hudi15, tmp_path, shape, index_size, levels, codec):
    entries, block_size = SHAPES[shape]
    hudi15.write_hfile(tmp_path / "theirs.hfile", "hbase", codec, block_size, entries, index_size)
    found = read_ours(tmp_path / "theirs.hfile")
    assert found["entries"] == entries
    assert found["levels"] >= levels


@pytest.mark.parametrize(("version", "archive"), [("hudi12", "12v9"), ("hudi12", "15v6"), ("hudi15", "15v6")])
def test_bootstrap_index(golden, request, tmp_path, version, archive):
    """Hudi reads from our index what it read from the one that Hudi wrote."""
    peer = request.getfixturevalue(version)
    table = tmp_path / "boot_mor"
    shutil.copytree(golden(archive) / "boot_mor", table)
    theirs = peer.bootstrap_index(table)
    storage = LocalStorage(str(table))
    index = read_bootstrap_index(storage)
    assert theirs["base"] == index.source_base_path
    files = [[f.partition, f.file_id, f.source_partition, f.source.uri, f.source.length] for f in index.files]
    assert sorted(theirs["by_partition"]) == sorted(theirs["by_id"]) == files
    shutil.rmtree(table / FOLDER)
    write_bootstrap_index(storage, index)
    assert (table / FILE_IDS_PATH).exists()
    ours = peer.bootstrap_index(table)
    assert {name: sorted(value) for name, value in ours.items()} == {
        name: sorted(value) for name, value in theirs.items()
    }
