"""Tables that Hudi bootstrapped without their rows: read, updated, compacted. Their index names absolute paths."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import CorruptFileError, CorruptTableError, MissingFileError
from hoodie.formats.bootstrap_index import FILE_IDS_PATH, PARTITIONS_PATH, read_bootstrap_index, write_bootstrap_index
from hoodie.storage import LocalStorage

ARCHIVES = ["12v9", "15v6"]


@pytest.fixture(params=ARCHIVES)
def moved(golden, request, tmp_path):
    """A copy of the table and of its source, with an index that knows where the source is now."""
    for name in ("boot_mor", "_bootsrc"):
        shutil.copytree(golden(request.param) / name, tmp_path / name)
    storage = LocalStorage(str(tmp_path / "boot_mor"))
    index = read_bootstrap_index(storage)
    old, new = index.source_base_path, str(tmp_path / "_bootsrc")
    files = [replace(f, source=replace(f.source, uri=f.source.uri.replace(old, new))) for f in index.files]
    for path in (PARTITIONS_PATH, FILE_IDS_PATH):
        storage.delete(path)
    write_bootstrap_index(storage, replace(index, source_base_path=new, files=tuple(files)))
    for file in files:  # archives keep whole seconds
        os.utime(file.source.uri.removeprefix("file:"), ns=(0, file.source.modified_ms * 1_000_000))
    return request.param, HoodieTable.open(storage.base_path), tmp_path / "_bootsrc"


def snapshot(table, **read):
    return {row["id"]: [row["name"], row["price"], row["ts"]] for row in table.read(**read).to_pylist()}


@pytest.mark.format("14q")
def test_read(moved, expected):
    archive, table, _ = moved
    wanted = expected(archive, "boot_mor")
    assert snapshot(table) == wanted
    first = table.timeline.commits[0].time
    before = snapshot(table, as_of=first)
    assert before != wanted
    only_base = snapshot(table, read_optimized=True)
    assert {key: row for key, row in only_base.items() if key in before} == before
    everything = table.read(
        columns=["_hoodie_record_key", "id", "part", "_hoodie_partition_path", "_hoodie_commit_time"]
    )
    for row in everything.to_pylist():
        assert row["id"] == row["_hoodie_record_key"]
        assert row["_hoodie_partition_path"] == f"part={row['part']}", "the source has no such column: the folder tells"
    assert table.read(columns=["part"], as_of=first)["part"].to_pylist() == ["p1", "p1", "p2", "p2"]
    for condition in (pc.field("price") > 3, pc.field("_hoodie_record_key") == "b", pc.field("part") == "p2"):
        rows = table.read(columns=table.schema.names, filter=condition)
        assert 0 < rows.num_rows < everything.num_rows


@pytest.mark.format("14q")
def test_write_on(moved, expected):
    archive, table, source = moved
    stored = sorted((file, file.stat().st_mtime_ns) for file in source.rglob("*"))
    wanted = expected(archive, "boot_mor")
    rows = table.read()
    one = rows.filter(pc.equal(rows["id"], "a"))
    newer = one.set_column(one.schema.get_field_index("price"), "price", pc.add(one["price"], 100.0))
    new = one.set_column(one.schema.get_field_index("id"), "id", pa.array(["zz"]))
    table.write(pa.concat_tables([newer, new]), "upsert")
    old = wanted["a"]
    wanted |= {"a": [old[0], old[1] + 100.0, old[2]], "zz": old}
    assert snapshot(table) == wanted
    time = table.schedule(COMPACTION, force=True)
    table.run(COMPACTION, time=time)
    assert snapshot(table) == wanted
    assert any(s.base_instant == time and not s.log_files for s in table.file_slices())
    table.write(rows.filter(pc.equal(rows["id"], "b")), "delete")
    del wanted["b"]
    assert snapshot(table) == wanted
    assert stored == sorted((file, file.stat().st_mtime_ns) for file in source.rglob("*"))


def test_what_is_missing_is_named(moved):
    _, table, source = moved
    (victim, *_) = source.glob("part=p1/*.parquet")
    content = victim.read_bytes()
    victim.unlink()
    with pytest.raises(MissingFileError, match="rows of a bootstrapped table"):
        table.read()
    victim.write_bytes(content + b"x")
    with pytest.raises(CorruptFileError, match="changed since it was bootstrapped"):
        table.read()
    table.storage.delete(PARTITIONS_PATH)
    with pytest.raises(CorruptTableError, match="index"):
        table.read()


def test_a_source_file_that_was_replaced_by_one_of_the_same_size(moved):
    """Otherwise its rows would get the keys of other rows."""
    _, table, source = moved
    (victim, *_) = source.glob("part=p1/*.parquet")
    rows = table.read()
    before = victim.stat()
    victim.write_bytes(victim.read_bytes())
    assert victim.stat().st_size == before.st_size
    with pytest.raises(CorruptFileError, match=rf"{victim.name} was written again.*the bootstrap index has.*touch -d"):
        table.read()
    os.utime(victim, ns=(0, before.st_mtime_ns // 10**9 * 10**9))  # as copies of some tools have it
    assert table.read() == rows
