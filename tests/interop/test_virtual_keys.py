"""Tables with virtual keys that Hudi and we write in turn: no meta column has a value, both compute the keys again."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, HoodieTable
from tests.interop.rows import rows
from tests.interop.test_compaction import call
from tests.interop.test_cow import hudi_options, make_table
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM

pytestmark = pytest.mark.interop

META = "hoodie.populate.meta.fields"
NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
HIVE = "hoodie.datasource.write.hive_style_partitioning"
THEIRS = {"hoodie.metadata.enable": "false", "hoodie.compact.inline": "false"}
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
KEYS = {
    "Simple": ("id", "part"),
    "Complex": ("id,kind", "part"),
    "Nonpartitioned": ("id", ""),
}
CASES = [
    ("hudi12", COW, "Simple", "9"),
    ("hudi12", COW, "Complex", "9"),
    ("hudi12", COW, "Nonpartitioned", "6"),
    ("hudi12", MOR, "Simple", "9"),
    ("hudi12", MOR, "Simple", "6"),
    ("hudi15", COW, "Simple", "6"),
    ("hudi15", MOR, "Simple", "6"),
]


def options(kind, keygen, version, **more):
    keys, partitions = KEYS[keygen]
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.recordkey.field": keys,
        "hoodie.datasource.write.partitionpath.field": partitions,
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{keygen}KeyGenerator",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.write.table.version": version,
        HIVE: "true",
        META: "false",
        **more,
    }


def first():
    return make_table([f"k{i}" for i in range(10)], [10] * 10, [1.0] * 10)


def ours_writes_on(ours, step):
    """An upsert with a late row, new keys, and a deletion."""
    ids = ["k1", "k2", "k3", f"k{step}0", f"k{step}1"]
    ours.write(make_table(ids, [step * 20, 1, step * 20, 10, 10], [float(step)] * 5), "upsert", NO_SMALL_FILES)
    ours.write(make_table([f"k{step}"], [0], [0.0]), "delete", NO_SMALL_FILES)


def theirs_writes_on(hudi, ours, step, **more):
    given = {
        **hudi_options(ours, True),
        "hoodie.datasource.write.table.type": ours.properties.table_type,
        META: "false",
        **THEIRS,
        **more,
    }
    ids = ["k1", "k2", "k4", f"k{step}2", f"k{step}3"]
    change = make_table(ids, [step * 20 + 5, 1, step * 20 + 5, 10, 10], [step + 0.5] * 5)
    hudi.write(ours.base_path, change, {**given, "hoodie.datasource.write.operation": "upsert"})
    gone = make_table([f"k{step}0"], [99], [0.0])
    hudi.write(ours.base_path, gone, {**given, "hoodie.datasource.write.operation": "delete"})


def compacted(ours):
    if ours.properties.is_merge_on_read:
        assert ours.schedule(COMPACTION, force=True)
        ours.run(COMPACTION, SMALL_BLOOM)
        assert not any(file_slice.log_files for file_slice in ours.file_slices())


def same(ours, hudi):
    found = rows(ours.read())
    assert len({row[0] for row in found}) == len(found) > 5
    assert rows(hudi.read(ours.base_path)) == found
    return found


@pytest.mark.parametrize(("peer", "kind", "keygen", "version"), sample(CASES, 6))
def test_in_turn_with_hudi(tmp_path, request, peer, kind, keygen, version):
    hudi = request.getfixturevalue(peer)
    ours = HoodieTable.create(str(tmp_path / "ours"), options(kind, keygen, version))
    ours.write(first(), "insert", NO_SMALL_FILES)
    given = options(kind, keygen, version, **THEIRS)
    hudi.write(tmp_path / "theirs", first(), {**given, "hoodie.datasource.write.operation": "upsert"}, "overwrite")
    theirs = HoodieTable.open(str(tmp_path / "theirs"))
    for table in (ours, theirs):
        ours_writes_on(table, 2)
        same(table, hudi)
        theirs_writes_on(hudi, table, 3)
        same(table, hudi)
        compacted(table)
        ours_writes_on(table, 4)
        theirs_writes_on(hudi, table, 5)
        before = same(table, hudi)
        if kind == MOR and peer == "hudi12":
            call(hudi, table, "scheduleAndExecute")
            assert same(table, hudi) == before
        ours_writes_on(table, 6)
        same(table, hudi)
    if peer == "hudi12":  # 0.15 makes tables in which the later row wins, with any ordering value
        assert rows(ours.read()) == rows(theirs.read())


@pytest.mark.parametrize(("peer", "version", "kind"), sample([("hudi15", "6", COW), ("hudi12", "9", MOR)], 1))
def test_switched_on_and_on_with_hudi(tmp_path, request, peer, kind, version):
    hudi = request.getfixturevalue(peer)
    ours = HoodieTable.create(str(tmp_path / "t"), options(kind, "Simple", version, **{META: "true"}))
    ours.write(first(), "insert", NO_SMALL_FILES)
    theirs_writes_on(hudi, ours, 2, **{META: "true"})
    ours.write(make_table(["k1", "k5"], [50, 50], [5.0, 5.0]), "upsert", {**NO_SMALL_FILES, META: "false"})
    same(ours, hudi)
    theirs_writes_on(hudi, ours, 3)
    ours_writes_on(ours, 4)
    before = same(ours, hudi)
    compacted(ours)
    assert same(ours, hudi) == before
    theirs_writes_on(hudi, ours, 5)
    same(ours, hudi)


@pytest.mark.parametrize("kind", [COW, MOR])
@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("populate", ["false", "true"])
def test_hudi_rs_reads_them(tmp_path, hudi_rs_read, kind, version, populate):
    """Logs and their deletions, and files from before the switch."""
    ours = HoodieTable.create(str(tmp_path / "t"), options(kind, "Simple", version, **{META: populate}))
    ours.write(first(), "insert", NO_SMALL_FILES)
    ours.write(make_table(["k1", "k5"], [50, 1], [5.0, 5.0]), "upsert", {**NO_SMALL_FILES, META: "false"})
    ours_writes_on(ours, 4)
    assert rows(hudi_rs_read(ours.base_path)) == rows(ours.read())


@pytest.mark.parametrize(
    "more",
    [
        {"hoodie.table.keygenerator.type": "CUSTOM", "hoodie.table.partition.fields": "part:SIMPLE"},
        {
            "hoodie.table.keygenerator.type": "TIMESTAMP",
            "hoodie.table.partition.fields": "ts",
            "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
            "hoodie.keygen.timebased.output.dateformat": "yyyy",
        },
    ],
)
def test_generators_that_hudi_12_only_reads(tmp_path, hudi12, hudi_rs_read, more):
    given = {"hoodie.table.name": "trips", "hoodie.table.recordkey.fields": "id", META: "false", **more}
    ours = HoodieTable.create(str(tmp_path / "t"), given)
    ours.write(first(), "insert", NO_SMALL_FILES)
    ours.write(make_table(["k1", "k20"], [10, 10], [2.0, 2.0]), "upsert", NO_SMALL_FILES)
    found = rows(ours.read(), ["id", "price"])
    assert rows(hudi12.read(ours.base_path), ["id", "price"]) == found
    if "CUSTOM" not in more.values():  # hudi-rs takes `part:SIMPLE` for the name of a column
        assert rows(hudi_rs_read(ours.base_path), ["id", "price"]) == found
