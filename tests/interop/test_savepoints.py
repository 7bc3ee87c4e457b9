"""Savepoints and restores are Hudi's own: each restores to the other's savepoint, and finishes the other's restore."""

from __future__ import annotations

import shutil

import pytest

from hoodie import COMPACTION, HoodieTable, Restore
from hoodie.engine import LocalEngine
from hoodie.timeline import Action
from tests.interop.rows import rows
from tests.interop.test_clean import batch
from tests.support.faulty import FaultyStorage, Killed

pytestmark = pytest.mark.interop
# The procedures of 1.2.0 take a table of an older version to version 9 before they do anything, and compact its logs then: 0.15.0
# is asked about version 6, and version 8 not about a restore that has begun.
CASES = [("hudi12", "9"), ("hudi12", "8"), ("hudi15", "6")]
BEGUN = [("hudi12", "9"), ("hudi15", "6")]
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


@pytest.fixture
def hudi(request):
    return request.getfixturevalue(request.param)


def options(version, table_type, **more):
    return {
        "hoodie.table.name": "trips",
        "hoodie.datasource.write.table.type": table_type,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "part",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
        "hoodie.write.table.version": version,
        "hoodie.write.auto.upgrade": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.metadata.enable": "false",  # a restore of Hudi's fails where its metadata table is younger than the savepoint
        **more,
    }


def called(hudi, table, name, **arguments):
    hudi.sql("set hoodie.metadata.enable=false")
    known = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    hudi.sql(f"create table if not exists {known} using hudi location '{table.base_path}'")
    given = "".join(f", {key} => '{value}'" for key, value in arguments.items())
    return hudi.sql(f"call {name}(table => '{known}'{given})")


def changed(hudi, table, version, table_type, step):
    """Two commits of Hudi's: an update with new keys, and a deletion."""
    given = options(version, table_type)
    hudi.write(table.base_path, batch(step, "a", "c"), given)
    hudi.write(table.base_path, batch(step, "b"), {**given, "hoodie.datasource.write.operation": "delete"})


def made_by_hudi(hudi, path, version, table_type):
    hudi.write(path, batch(1, "a", "b"), options(version, table_type), "overwrite")
    hudi.write(path, batch(2, "a"), options(version, table_type))
    return HoodieTable.open(str(path))


def same(hudi, table, expected):
    assert rows(table.read()) == expected
    assert rows(hudi.read(table.base_path)) == expected


@pytest.mark.parametrize("table_type", TYPES)
@pytest.mark.parametrize(("hudi", "version"), CASES, indirect=["hudi"])
def test_hudi_restores_to_a_savepoint_of_ours_and_we_to_one_of_hudis(tmp_path, hudi, version, table_type):
    table = made_by_hudi(hudi, tmp_path / "t", version, table_type)
    table.write(batch(3, "a", "b"), "upsert")
    expected = rows(table.read())
    saved = table.savepoint(comments="ours").instant
    assert [row["savepoint_time"] for row in called(hudi, table, "show_savepoints")] == [saved]
    table.write(batch(4, "a", "d"), "upsert")
    changed(hudi, table, version, table_type, 5)
    called(hudi, table, "rollback_to_savepoint", instant_time=saved)
    same(hudi, table, expected)
    table.write(batch(6, "b"), "upsert")
    same(hudi, table, rows(table.read()))

    called(hudi, table, "delete_savepoint", instant_time=saved)
    assert table.savepoints() == []
    saved = table.timeline.commits[-1].time
    called(hudi, table, "create_savepoint", commit_time=saved)
    assert [each.instant for each in table.savepoints()] == [saved]
    expected = rows(table.read())
    changed(hudi, table, version, table_type, 7)
    table.write(batch(8, "a", "e"), "upsert")
    if table_type == "MERGE_ON_READ":
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
        changed(hudi, table, version, table_type, 9)
    table.run(Restore(saved))
    same(hudi, table, expected)
    hudi.write(table.base_path, batch(10, "a", "f"), options(version, table_type))
    table.write(batch(11, "f"), "upsert")
    same(hudi, table, rows(table.read()))
    table.delete_savepoint(saved)
    assert called(hudi, table, "show_savepoints") == []


@pytest.mark.parametrize("table_type", TYPES)
@pytest.mark.parametrize(("hudi", "version"), BEGUN, indirect=["hudi"])
def test_a_restore_that_one_began_the_other_finishes(tmp_path, hudi, version, table_type):
    table = made_by_hudi(hudi, tmp_path / "t", version, table_type)
    expected = rows(table.read())
    saved = table.savepoint().instant
    changed(hudi, table, version, table_type, 4)
    table.write(batch(5, "a", "d"), "upsert")
    now = rows(table.read())

    # Ours died after its first rollback.
    shutil.copytree(tmp_path / "t", tmp_path / "ours")
    calls = FaultyStorage(tmp_path / "ours")
    shutil.copytree(tmp_path / "t", tmp_path / "count")
    counted = FaultyStorage(tmp_path / "count")
    HoodieTable(counted, LocalEngine(1)).run(Restore(saved))
    second = [n for n, (name, path) in enumerate(counted.log, 1) if name == "create" and "rollback.inflight" in path][1]
    calls = FaultyStorage(tmp_path / "ours", second + 1)
    with pytest.raises(Killed):
        HoodieTable(calls, LocalEngine(1)).run(Restore(saved))
    (tmp_path / "ours" / ".hoodie" / "lock").unlink()
    ours = HoodieTable.open(str(tmp_path / "ours"))
    assert rows(ours.read()) == expected
    assert len(rows(hudi.read(ours.base_path))) != len(expected) or rows(hudi.read(ours.base_path)) != now
    called(hudi, ours, "rollback_to_savepoint", instant_time=saved)
    same(hudi, ours, expected)
    assert [i for i in ours.timeline.pending if i.action is not Action.COMPACTION] == []

    # Hudi's died before its first rollback: what a whole one has requested, in the table as it was before.
    shutil.copytree(tmp_path / "t", tmp_path / "theirs")
    called(hudi, table, "rollback_to_savepoint", instant_time=saved)
    same(hudi, table, expected)
    folder = table.state().layout.folder
    for file in table.storage.list(folder).files:
        if ".restore." in file.name and file.name.endswith(("requested", "inflight")):
            shutil.copy(tmp_path / "t" / file.path, tmp_path / "theirs" / file.path)
    theirs = HoodieTable.open(str(tmp_path / "theirs"))
    assert [i.action for i in theirs.timeline.pending] == [Action.RESTORE]
    assert rows(theirs.read()) == expected
    theirs.write(batch(9, "g"), "upsert")
    assert sorted(rows(theirs.read())) == sorted([*expected, *rows(batch(9, "g"))])
    same(hudi, theirs, rows(theirs.read()))
