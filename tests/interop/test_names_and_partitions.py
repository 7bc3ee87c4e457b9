"""Column names in letters of any script, partitions that lie in each other, and footers of small files: both ways with Hudi."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import RecordKeyError, UnsupportedTableError
from tests.interop.rows import rows
from tests.support.matrix import diagonal

pytestmark = pytest.mark.interop

PEERS = [("hudi12", "9"), ("hudi12", "6"), ("hudi15", "6")]
KINDS = ["COPY_ON_WRITE", "MERGE_ON_READ"]


@pytest.fixture
def peer(request, which):
    return request.getfixturevalue(which)


def theirs(kind, version, key, partition, ordering, **more):
    return {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": key,
        "hoodie.datasource.write.partitionpath.field": partition,
        "hoodie.datasource.write.precombine.field": ordering,
        **({"hoodie.write.table.version": version, "hoodie.write.auto.upgrade": "false"} if version else {}),
        **more,
    }


def ours(path, kind, version, key, partition, ordering, **more):
    options = {
        "hoodie.table.name": "t",
        "hoodie.table.type": kind,
        "hoodie.write.table.version": version,
        "hoodie.table.recordkey.fields": key,
        "hoodie.table.partition.fields": partition,
        "hoodie.table.ordering.fields": ordering,
        **more,
    }
    return HoodieTable.create(str(path), options)


def people(values):
    keys, regions, times, sizes = zip(*values, strict=True)
    sizes = pa.StructArray.from_arrays([pa.array(sizes, pa.int64())], ["größe"])
    return pa.table({"ключ": keys, "区域": regions, "época": times, "maß": sizes})


@pytest.mark.parametrize(("which", "version", "kind"), diagonal(PEERS, KINDS))
def test_names_in_letters_of_any_script(tmp_path, peer, recorded, which, version, kind, hudi_rs_read):
    names = ("ключ", "区域", "época")
    first, second = people([("a", "北", 1, 1), ("b", "南", 1, 2)]), people([("a", "北", 2, 3), ("b", "南", 0, 9)])
    third = people([("b", "南", 3, 5), ("c", "北", 1, 4)])
    wanted = rows(people([("a", "北", 2, 3), ("b", "南", 3, 5), ("c", "北", 1, 4)]))
    options = theirs(kind, version if which == "hudi12" else None, *names, **{"hoodie.metadata.enable": "false"})

    hudis, hudi = tmp_path / "theirs", recorded(which)
    hudi.write(hudis, first, options, "overwrite")
    hudi.write(hudis, second, options)
    opened = HoodieTable.open(hudi.table(hudis))
    assert rows(opened.read()) == rows(peer.read(hudis))
    opened.write(third, "upsert")
    assert rows(opened.read()) == rows(peer.read(hudis)) == wanted

    table = ours(tmp_path / "ours", kind, version, *names)
    for batch in (first, second):
        table.write(batch, "upsert")
    with pytest.raises(Exception, match="Invalid field name"):  # hudi-rs 0.5.0 takes Avro's word for what a name is
        hudi_rs_read(table.base_path)
    peer.write(table.base_path, third, options)
    opened = HoodieTable.open(table.base_path)
    assert rows(opened.read()) == rows(peer.read(table.base_path)) == wanted


def values(*parts):
    return pa.table({"id": [f"k{part}" for part in parts], "part": list(parts), "ts": [1] * len(parts)})


@pytest.mark.parametrize(("which", "kind"), diagonal(["hudi12", "hudi15"], KINDS))
def test_partitions_in_each_other(tmp_path, peer, recorded, which, kind):
    """Hudi writes them and finds the lower one by its metadata table alone. We read both, and make none."""
    options, hudi = theirs(kind, None, "id", "part", "ts"), recorded(which)
    hudi.write(tmp_path / "t", values("a/b", "c/d"), options, "overwrite")
    hudi.write(tmp_path / "t", values("a"), options)
    with_it, without = ({"hoodie.metadata.enable": flag} for flag in ("true", "false"))
    assert rows(hudi.read(tmp_path / "t", **with_it)) == rows(values("a", "a/b", "c/d"))
    assert rows(hudi.read(tmp_path / "t", **without)) == rows(values("a", "c/d"))
    opened = HoodieTable.open(hudi.table(tmp_path / "t"))
    assert rows(opened.read()) == rows(values("a", "a/b", "c/d"))
    with pytest.raises(UnsupportedTableError, match="metadata table alone"):
        opened.write(values("c/e"), "upsert")

    table = ours(tmp_path / "ours", kind, "9" if which == "hudi12" else "6", "id", "part", "ts")
    table.write(values("a/b", "c/d"), "upsert")
    with pytest.raises(RecordKeyError, match="would lie in partition"):
        table.write(values("a"), "upsert")
    assert rows(peer.read(table.base_path)) == rows(table.read()) == rows(values("a/b", "c/d"))


def numbered(start, end, ts):
    return pa.table(
        {"id": [f"key{n:05d}" for n in range(start, end)], "part": ["p"] * (end - start), "ts": [ts] * (end - start)}
    )


@pytest.mark.parametrize(("which", "version", "kind"), diagonal(PEERS, KINDS[::-1]))
def test_hudi_finds_keys_by_small_bloom_filters(tmp_path, peer, which, version, kind, hudi_rs_read):
    """Filters of 128 and 4,096 keys, and such as grew with their file."""
    table = ours(tmp_path / "t", kind, version, "id", "part", "ts")
    no_packing = {"hoodie.parquet.small.file.limit": 0}
    table.write(numbered(0, 2, 1), "bulk_insert")
    table.write(numbered(1000, 4000, 1), "insert", no_packing)
    table.write(numbered(4000, 4100, 1), "insert")
    assert max(path.stat().st_size for path in (tmp_path / "t").rglob("*.parquet")) < 200_000
    options = theirs(
        kind,
        version if which == "hudi12" else None,
        "id",
        "part",
        "ts",
        **{
            "hoodie.index.type": "BLOOM",
            "hoodie.metadata.enable": "false",
        },
    )
    peer.write(
        tmp_path / "t", pa.concat_tables([numbered(0, 1, 2), numbered(3990, 4010, 2), numbered(9000, 9001, 2)]), options
    )
    wanted = rows(
        pa.concat_tables(
            [
                numbered(0, 1, 2),
                numbered(1, 2, 1),
                numbered(1000, 3990, 1),
                numbered(3990, 4010, 2),
                numbered(4010, 4100, 1),
                numbered(9000, 9001, 2),
            ]
        )
    )
    opened = HoodieTable.open(str(tmp_path / "t"))
    assert rows(opened.read()) == rows(peer.read(tmp_path / "t")) == rows(hudi_rs_read(tmp_path / "t")) == wanted
