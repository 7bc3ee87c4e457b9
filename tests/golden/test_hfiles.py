"""The HFiles of Hudi's tables: every one is read whole, and by key and prefix."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.formats.bootstrap_index import read_bootstrap_files, read_bootstrap_index
from hoodie.formats.hfile import open_hfile
from hoodie.storage import LocalStorage

ARCHIVES = ["12v9", "15v6"]


@pytest.mark.parametrize(("archive", "least"), [("12v9", 20), ("15v6", 15)])
def test_every_hfile(golden, archive, least):
    storage = LocalStorage(str(golden(archive)))
    files = [str(path.relative_to(golden(archive))) for path in sorted(golden(archive).rglob("*.hfile"))]
    assert len(files) >= least
    for file in files:
        with open_hfile(storage, file) as reader:
            entries = pa.Table.from_batches(reader.scan())
            assert entries.num_rows == reader.entry_count > 0
            assert pa.Table.from_batches(reader.lookup(entries["key"])).equals(entries)
            first = entries["key"][0].as_py()
            assert next(reader.lookup_prefix(first[:3]))["key"][0].as_py() == first
            if "metadata/" in file:
                assert reader.info["minRecordKey"] == first
                assert reader.meta_block("bloomFilter")


@pytest.mark.parametrize("archive", ARCHIVES)
def test_bootstrap_index(golden, archive):
    table = golden(archive) / "boot_mor"
    storage = LocalStorage(str(table))
    index = read_bootstrap_index(storage)
    assert index.source_base_path == f"/tmp/hudi-golden/{archive}/_bootsrc"
    assert [(file.partition, file.source_partition) for file in index.files] == [("part=p1",) * 2, ("part=p2",) * 2]
    for file in index.files:
        place = file.source.uri.removeprefix(f"file:{index.source_base_path}/")
        assert (golden(archive) / "_bootsrc" / place).stat().st_size == file.source.length
        assert list(table.glob(f"{file.partition}/{file.file_id}_*_00000000000001.parquet"))
    names = [file.group for file in index.files]
    assert read_bootstrap_files(storage, names) == dict(zip(names, index.files, strict=True))
    assert read_bootstrap_index(storage, ["part=p2"]).files == index.files[1:]


def test_an_index_of_several_levels():
    """The HBase of Hudi 0.15.0 wrote 200 entries with `hfile.index.block.max.size=100`."""
    storage = LocalStorage(str(Path(__file__).parent / "hfiles"))
    with open_hfile(storage, "hbase-three-levels.hfile") as reader:
        assert reader.block_count == 50
        entries = pa.Table.from_batches(reader.scan())
        assert entries["key"].to_pylist() == [f"key-{number:03}".encode() for number in range(200)]
        assert entries["value"].to_pylist() == [str(number).encode() for number in range(200)]
        found = pa.Table.from_batches(reader.lookup(pa.array(["key-150", "key-1501", "key-007"])))
        assert found["value"].to_pylist() == [b"7", b"150"]
