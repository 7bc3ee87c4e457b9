"""Key and partition columns inside structs: Hudi and we make the same of them, and find each other's rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from tests.interop.recording import RecordedPeer
from tests.support.matrix import sample

pytestmark = pytest.mark.interop

WHO = pa.struct([("id", pa.int64()), ("last", pa.string())])
PLACE = pa.struct([("city", pa.string()), ("zone", pa.int32())])
META = ["_hoodie_record_key", "_hoodie_partition_path"]


def rows(ids, n, lasts=None):
    who = [{"id": id_, "last": last} for id_, last in zip(ids, lasts or [f"L{i}" for i in ids], strict=True)]
    place = [None if id_ == 4 else {"city": f"c{id_ % 2}", "zone": id_ % 3} for id_ in ids]
    return pa.table(
        {"who": pa.array(who, WHO), "place": pa.array(place, PLACE), "n": pa.array([n] * len(ids), pa.int64())}
    )


def options(version, keys, partitions, hive, kind):
    complex_keys = len(keys) > 1 or len(partitions) > 1
    return {
        "hoodie.table.name": "nested",
        "hoodie.datasource.write.recordkey.field": ",".join(keys),
        "hoodie.datasource.write.partitionpath.field": ",".join(partitions),
        "hoodie.datasource.write.precombine.field": "n",
        "hoodie.datasource.write.hive_style_partitioning": hive,
        "hoodie.datasource.write.keygenerator.class": (
            f"org.apache.hudi.keygen.{'Complex' if complex_keys else 'Simple'}KeyGenerator"
        ),
        "hoodie.datasource.write.table.type": kind,
        "hoodie.write.table.version": version,
    }


def seen(table):
    return sorted((key, path, n) for key, path, n in zip(*table.select([*META, "n"]).to_pydict().values(), strict=True))


def check(folder, peer, hudis: RecordedPeer, version, keys, partitions, hive, kind):
    given = options(version, keys, partitions, hive, kind)
    theirs = {**given, "hoodie.datasource.write.operation": "upsert", "hoodie.metadata.enable": "false"}
    first, second, third = rows([1, 2, 3, 4], 1), rows([2, 4, 5], 2), rows([1, 5, 6], 3)
    hudis.write(folder / "theirs", first, theirs, "overwrite")
    HoodieTable.create(str(folder / "ours"), given).write(first)
    written = seen(peer.read(hudis.table(folder / "theirs")))
    assert seen(HoodieTable.open(str(folder / "ours")).read([*META, "n"])) == written
    for name in ("theirs", "ours"):
        HoodieTable.open(str(folder / name)).write(second)
        peer.write(folder / name, third, theirs, "append")
        by_them, by_us = seen(peer.read(folder / name)), seen(HoodieTable.open(str(folder / name)).read([*META, "n"]))
        assert by_them == by_us
        assert [n for *_, n in by_us] == [3, 2, 1, 2, 3, 3]
    return by_us


@pytest.mark.parametrize("kind", sample(["COPY_ON_WRITE", "MERGE_ON_READ"], 1))
def test_one_key_column(tmp_path, hudi12, recorded, kind):
    found = check(tmp_path, hudi12, recorded("hudi12"), "9", ("who.id",), ("place.city",), "false", kind)
    assert found[0] == ("1", "c1", 3)
    assert found[3] == ("4", "__HIVE_DEFAULT_PARTITION__", 2)


def test_several_columns_in_hive_style(tmp_path, hudi12, recorded):
    keys, partitions = ("who.id", "who.last"), ("place.city", "place.zone")
    found = check(tmp_path, hudi12, recorded("hudi12"), "9", keys, partitions, "true", "COPY_ON_WRITE")
    assert found[0] == ("who.id:1,who.last:L1", "place.city=c1/place.zone=1", 3)


# The peer of another version replaces the first: keep its tests together.
def test_version_6(tmp_path, hudi15, recorded):
    check(tmp_path, hudi15, recorded("hudi15"), "6", ("who.id",), ("place.city",), "false", "COPY_ON_WRITE")
