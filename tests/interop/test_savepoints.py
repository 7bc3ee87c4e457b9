"""Savepoints and restores are Hudi's own: each restores to the other's savepoint, and finishes the other's restore."""

from __future__ import annotations

import shutil

import pytest

from hoodie import COMPACTION, HoodieTable, Restore, Rollback
from hoodie.engine import LocalEngine
from hoodie.timeline import Action
from tests.interop.peer import PeerError
from tests.interop.recording import RecordedPeer
from tests.interop.rows import rows
from tests.interop.test_clean import batch
from tests.support.faulty import FaultyStorage, Killed
from tests.support.matrix import diagonal, sample

pytestmark = pytest.mark.interop
# The procedures of 1.2.0 take a table of an older version to version 9 before they do anything, and compact its logs then, unless
# the session says the version (`called`).
CASES = [("hudi12", "9"), ("hudi12", "8"), ("hudi15", "6"), ("hudi12", "6")]
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
BEGUN = [(*case, kind) for case in CASES for kind in TYPES]


@pytest.fixture
def hudi(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def hudis(request, recorded) -> RecordedPeer:
    """The same release, for the table as it is before anybody else writes it."""
    return recorded(request.node.callspec.params.get("hudi", "hudi12"))


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


def called(hudi, table, name, upgrade=False, **arguments):
    version = table.properties.raw["hoodie.table.version"]
    stays = {} if upgrade else {"hoodie.write.auto.upgrade": "false", "hoodie.write.table.version": version}
    for option, value in stays.items():
        hudi.sql(f"set {option}={value}")
    hudi.sql("set hoodie.metadata.enable=false")
    known = table.base_path.replace("/", "_").replace("-", "_").strip("_")
    hudi.sql(f"create table if not exists {known} using hudi location '{table.base_path}'")
    given = "".join(f", {key} => '{value}'" for key, value in arguments.items())
    try:
        return hudi.sql(f"call {name}(table => '{known}'{given})")
    finally:
        for option in stays:
            hudi.sql(f"reset {option}")


def changed(hudi, table, version, table_type, step):
    """Two commits of Hudi's: an update with new keys, and a deletion."""
    given = options(version, table_type)
    hudi.write(table.base_path, batch(step, "a", "c"), given)
    hudi.write(table.base_path, batch(step, "b"), {**given, "hoodie.datasource.write.operation": "delete"})


def made_by_hudi(hudis, path, version, table_type):
    hudis.write(path, batch(1, "a", "b"), options(version, table_type), "overwrite")
    hudis.write(path, batch(2, "a"), options(version, table_type))
    return HoodieTable.open(hudis.table(path))


def same(hudi, table, expected):
    assert rows(table.read()) == expected
    assert rows(hudi.read(table.base_path)) == expected


@pytest.mark.parametrize(("hudi", "version", "table_type"), sample(BEGUN, 5), indirect=["hudi"])
def test_hudi_restores_to_a_savepoint_of_ours_and_we_to_one_of_hudis(tmp_path, hudi, hudis, version, table_type):
    table = made_by_hudi(hudis, tmp_path / "t", version, table_type)
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


@pytest.mark.parametrize(
    ("hudi", "version", "table_type"),
    sample(BEGUN, 1),
    indirect=["hudi"],
)
def test_a_restore_that_one_began_the_other_finishes(tmp_path, hudi, hudis, version, table_type):
    table = made_by_hudi(hudis, tmp_path / "t", version, table_type)
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


@pytest.mark.deep("Hudi alone computes it")
def test_hudi_cannot_tidy_up_after_a_restore_of_its_own_that_had_requested_a_rollback(tmp_path, hudi12, recorded):
    """Neither after a restore of ours: the restore is complete all the same, and the next writer ends the rollback."""
    path = tmp_path / "t"
    table = made_by_hudi(recorded("hudi12"), path, "9", "COPY_ON_WRITE")
    expected, saved = rows(table.read()), table.savepoint().instant
    changed(hudi12, table, "9", "COPY_ON_WRITE", 3)
    hudi12.write(table.base_path, batch(4, "a"), options("9", "COPY_ON_WRITE"))
    last = table.timeline.commits[-1]
    (stat,) = table.state().commit_metadata(last).stats
    file = path / stat.path
    kept = file.read_bytes()
    file.unlink()
    (file / "not empty").mkdir(parents=True)  # a path that no process can delete as a file
    with pytest.raises(PeerError, match="HoodieRestoreException"):
        called(hudi12, table, "rollback_to_savepoint", instant_time=saved)
    shutil.rmtree(file)
    file.write_bytes(kept)
    assert {i.action for i in table.timeline.pending} == {Action.COMMIT, Action.RESTORE, Action.ROLLBACK}
    begun = [i for i in table.timeline.pending if i.action is Action.ROLLBACK]
    (
        path / table.state().layout.inflight_path(begun[0].time, Action.ROLLBACK)
    ).unlink()  # as if it had died before that
    shutil.copytree(path, tmp_path / "ours")

    with pytest.raises(PeerError, match=f"Could not delete instant.*{begun[0].time}__rollback__INFLIGHT"):
        called(hudi12, table, "rollback_to_savepoint", instant_time=saved)
    assert [i.time for i in table.timeline.pending] == [begun[0].time]
    assert table.timeline.completed(Action.RESTORE)
    same(hudi12, table, expected)
    shutil.copytree(path, tmp_path / "we go on")
    hudi12.write(table.base_path, batch(9, "g"), options("9", "COPY_ON_WRITE"))
    assert table.timeline.pending == ()
    same(hudi12, table, sorted([*expected, *rows(batch(9, "g"))]))

    for copy in ("ours", "we go on"):
        shutil.rmtree(path)
        shutil.move(tmp_path / copy, path)  # the plan of the rollback names its files by their whole paths
        assert rows(table.read()) == expected
        table.write(batch(9, "g"), "upsert")
        assert table.timeline.pending == ()
        same(hudi12, table, sorted([*expected, *rows(batch(9, "g"))]))


@pytest.mark.parametrize("hudi", ["hudi12"], indirect=True)
def test_a_write_after_the_plan_of_a_compaction_is_rolled_back_before_it(tmp_path, hudi, hudis):
    """By the times at which they began, though the compaction was completed last; the other way round neither does it."""
    path = tmp_path / "t"
    table = made_by_hudi(hudis, path, "9", "MERGE_ON_READ")
    planned = table.schedule(COMPACTION, force=True)
    expected = rows(table.read())
    written = table.write(batch(3, "a"), "upsert").instant.time
    table.run(COMPACTION)
    now = rows(table.read())
    shutil.copytree(path, tmp_path / "ours")
    with pytest.raises(PeerError, match=f"Found commits after time :{planned}"):
        called(hudi, table, "rollback_to_instant", instant_time=planned)
    same(hudi, table, now)
    called(hudi, table, "rollback_to_instant", instant_time=written)
    same(hudi, table, expected)
    called(hudi, table, "rollback_to_instant", instant_time=planned)
    same(hudi, table, expected)
    ours = HoodieTable.open(str(tmp_path / "ours"))
    ours.run(Rollback(written))
    same(hudi, ours, expected)
    ours.run(Rollback(planned))
    same(hudi, ours, expected)


@pytest.mark.parametrize(("table_type", "op"), diagonal(TYPES, ["schedule", "scheduleAndExecute"]))
def test_a_restore_goes_back_over_a_clustering_of_hudis(tmp_path, hudi12, hudis, table_type, op):
    """One that it ran, with writes on top, and one that it has only planned."""
    table = made_by_hudi(hudis, tmp_path / "t", "9", table_type)
    table.write(batch(3, "a", "b"), "upsert")
    expected, saved = rows(table.read()), table.savepoint().instant
    table.write(batch(4, "a", "d"), "upsert")
    given = {**options("9", table_type), "hoodie.clustering.plan.strategy.small.file.limit": "10000000"}
    told = ",".join(f"{key}={value}" for key, value in given.items())
    hudi12.sql(f"call run_clustering(path => '{table.base_path}', op => '{op}', options => '{told}')")
    clustered = [each for each in table.timeline if each.action.completed_as is Action.REPLACE_COMMIT]
    assert [each.is_completed for each in clustered] == [op == "scheduleAndExecute"]
    if op == "scheduleAndExecute":
        before = rows(table.read())
        assert rows(hudi12.read(table.base_path)) == before
        table.write(batch(5, "a", "e"), "upsert")
    table.run(Restore(saved))
    same(hudi12, table, expected)
    assert not [instant for instant in table.timeline if instant.action.completed_as is Action.REPLACE_COMMIT]
    hudi12.write(table.base_path, batch(6, "b", "g"), options("9", table_type))
    table.write(batch(7, "g"), "upsert")
    same(hudi12, table, rows(table.read()))
    assert {row[0] for row in rows(table.read())} == {row[0] for row in expected} | {"g0", "g1"}


def test_a_restore_goes_back_over_an_upgrade_of_the_table(tmp_path, hudi12, recorded):
    """Its logs are named as in version 6 then. Hudi's own upgrades the table, and does not know the logs of such names: what they
    hold shows again, to Hudi, with its next write, unless a doctor has moved them aside. Ours takes them back."""
    path = tmp_path / "t"
    table = made_by_hudi(recorded("hudi12"), path, "6", "MERGE_ON_READ")
    table.write(batch(3, "a", "b"), "upsert")
    expected, saved = rows(table.read()), table.savepoint().instant
    table.write(batch(4, "a", "d"), "upsert")
    changed(hudi12, table, "6", "MERGE_ON_READ", 5)
    shutil.copytree(path, tmp_path / "before")

    called(hudi12, table, "rollback_to_savepoint", upgrade=True, instant_time=saved)
    table = HoodieTable.open(str(path))
    assert table.version == 9
    same(hudi12, table, expected)
    shutil.copytree(path, tmp_path / "restored")
    hudi12.write(path, batch(9, "g"), options("9", "MERGE_ON_READ"))
    right = sorted([*expected, *rows(batch(9, "g"))])
    assert sorted(rows(table.read())) == right
    assert sorted(rows(hudi12.read(path))) != right

    shutil.rmtree(path)
    shutil.move(tmp_path / "restored", path)
    table = HoodieTable.open(str(path))
    told = table.diagnose()
    assert {each.check for each in told.findings} == {"uncommitted-file", "orphan-file"}
    assert {
        stat.path for each in table.timeline.commits for stat in table.state().commit_metadata(each).stats
    }.isdisjoint(each.path for each in told.findings)
    table.mend(told)
    same(hudi12, table, expected)
    hudi12.write(path, batch(9, "g"), options("9", "MERGE_ON_READ"))
    same(hudi12, table, right)

    shutil.rmtree(path)
    shutil.move(tmp_path / "before", path)
    upgraded = {**options("9", "MERGE_ON_READ"), "hoodie.write.auto.upgrade": "true"}
    hudi12.write(path, batch(6, "b", "h"), upgraded)
    table = HoodieTable.open(str(path))
    assert table.version == 9
    table.run(Restore(saved))
    same(hudi12, table, expected)
    table.write(batch(7, "b"), "upsert")
    same(hudi12, table, rows(table.read()))
    hudi12.write(path, batch(8, "a"), options("9", "MERGE_ON_READ"))
    same(hudi12, table, rows(table.read()))
