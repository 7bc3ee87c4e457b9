"""The archiver: nothing is lost, and readers and writers that need an old instant find it."""

from __future__ import annotations

import json

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION, HoodieTable, Restore
from hoodie.errors import ConfigError, LockLostError
from hoodie.model.restore import RestorePlan, RestoreResult
from hoodie.timeline import Action
from hoodie.timeline.archive.manifest import Manifest, Manifests
from hoodie.timeline.codecs.restore import encode_restore_plan, encode_restore_result
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.window import Window
from tests.support.archive import archive, beyond_savepoints
from tests.support.clock import FakeClock
from tests.support.long_timelines import SHORT, all_instants, written
from tests.support.tables import SMALL_BLOOM, batch, content, create


def test_old_instants_move_and_nothing_else_changes(table):
    merge_on_read = table.state().properties.is_merge_on_read
    if merge_on_read:
        assert table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": 1})
        table.run(COMPACTION)
        for number in (8, 9):
            table.write(batch([("same", "p", number + 1, number)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 3})
    before, rows, commits = all_instants(table), content(table), table.timeline.commits
    bodies = {i.key: table.state().commit_metadata(i) for i in commits}
    table.run(ARCHIVE, SHORT)
    again = HoodieTable.open(table.base_path)
    assert all_instants(again) == before
    assert content(again) == rows
    assert len(again.timeline.commits) in ((2, 3) if merge_on_read else (2,))
    state = again.state()
    assert {i.key: state.commit_metadata(i) for i in state.archive.instants() if i.key in bodies} == {
        key: body for key, body in bodies.items() if key not in {i.key for i in again.timeline}
    }
    left = {file.name.partition(".")[0].partition("_")[0] for file in again.storage.list(state.layout.folder).files}
    gone = {i.time for i in state.archive.instants()}
    assert gone
    assert not gone & left
    assert again.run(ARCHIVE, SHORT).instants == 0
    again.write(batch([("same", "p", 99, 99)]), "upsert", SMALL_BLOOM)
    assert content(again)["same"] == ("p", 99, 99)


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize(("saved", "kept"), [((0,), (5, 6, 7, 8)), ((0, 4), (7, 8)), ((0, 4, 8), ())])
def test_rows_archived_beyond_savepoints_stay_when_those_are_deleted(version, tmp_path, kind, saved, kept):
    table, commits, rows = beyond_savepoints(tmp_path / "t", version, saved, kept, **{"hoodie.table.type": kind})
    assert content(table) == rows
    changes = table.read_incremental(commits[0].time).num_rows
    assert changes == (9 if version == "9" else 8)  # by completion, or by begin
    for place in saved:
        table.delete_savepoint(commits[place].time)
        again = HoodieTable.open(table.base_path)
        assert content(again) == rows
        assert again.read_incremental(commits[0].time).num_rows == changes
        assert again.read(as_of=commits[3].time).num_rows == 4
    table.write(batch([("k2", "p2", 9, 99)]), "upsert", SMALL_BLOOM)
    assert content(table) == rows | {"k2": ("p2", 9, 99)}
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    table.run(ARCHIVE, SHORT)
    assert content(HoodieTable.open(table.base_path)) == rows | {"k2": ("p2", 9, 99)}


def test_a_restore_keeps_what_was_archived_beyond_older_savepoints(version, tmp_path):
    table, commits, rows = beyond_savepoints(tmp_path / "t", version, (0, 5), (6, 7, 8))
    table.run(Restore(commits[5].time))
    restored = {key: row for key, row in rows.items() if key <= "k5"}
    assert len(table.timeline.commits) == 2
    assert content(table) == restored
    table.write(batch([("k3", "p3", 9, 99)]), "upsert", SMALL_BLOOM)
    assert content(table) == restored | {"k3": ("p3", 9, 99)}


def test_archived_commits_that_hudi_restored_past_do_not_come_back(version, tmp_path):
    """This archiver and this restore refuse it; Hudi takes back what is on the active timeline, and leaves the archived ones."""
    table, commits, rows = beyond_savepoints(tmp_path / "t", version, (1,), (7, 8))
    state = table.state()
    plan = RestorePlan(commits[1].time, tuple((i.time, str(i.action)) for i in reversed(commits[7:])))
    begun = instants.request(state, new_time(state, table.clock), Action.RESTORE, encode_restore_plan(plan))
    begun = instants.start(state, begun)
    for commit in commits[7:]:
        for file in table.storage.list(state.layout.folder).files:
            if file.name.startswith(commit.time):
                table.storage.delete(file.path)
    instants.complete(
        state, begun, encode_restore_result(RestoreResult(begun.time, 0, ()), table.base_path), table.clock
    )
    assert set(content(table)) == {"k0", "k1"}
    table.write(batch([("k9", "p9", 9, 99)]), "upsert", SMALL_BLOOM)
    assert content(table) == {key: rows[key] for key in ("k0", "k1")} | {"k9": ("p9", 9, 99)}


def test_markers_of_a_commit_that_was_archived_beyond_a_savepoint_delete_nothing(version, tmp_path):
    table, commits, rows = beyond_savepoints(tmp_path / "t", version, (0,), (5, 6, 7, 8))
    [path] = (stat.path for stat in table.state().commit_metadata(table.state().archive.instants()[-1]).stats)
    table.storage.create(f".hoodie/.temp/{commits[4].time}/{path}.marker.CREATE", b"")
    table.delete_savepoint(commits[0].time)
    table.write(batch([("k9", "p9", 9, 99)]), "upsert", SMALL_BLOOM)
    assert content(table) == rows | {"k9": ("p9", 9, 99)}


def test_files_of_a_lost_attempt_go_before_their_commit_is_archived(version, tmp_path):
    """Once it is archived, no list has its own files apart from these."""
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    third = table.timeline.commits[2]
    [own] = (stat.path for stat in table.state().commit_metadata(third).stats)
    lost = f"part=p/00000000-0000-4000-8000-000000000000-0_7-7-7_{third.time}.parquet"
    table.storage.create(lost, table.storage.read(own))
    table.storage.create(f".hoodie/.temp/{third.time}/{lost}.marker.CREATE", b"")
    rows = content(table)
    assert table.run(ARCHIVE, SHORT).instants == 6
    assert table.storage.info(lost) is None
    assert content(table) == rows


def test_a_commit_that_others_were_archived_after_conflicts_all_the_same(version, tmp_path):
    """It was archived, and then newer ones by themselves: a search for it must not end at the last file."""
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    late = table.timeline.commits[1]
    begun = table.state().before([late])
    for first in (0, 2, 4):
        archive(table, table.timeline.commits[:2])
        assert table.timeline.commits[0].time > late.time, first
    [found] = Window(begun, table.state()).commits
    assert found.key == late.key


def test_levels_of_the_history_are_merged_and_old_files_go(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    options = SHORT | {"hoodie.timeline.compaction.batch.size": 2, "hoodie.timeline.manifest.retained.versions": 2}
    for number in range(14):
        table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", SMALL_BLOOM)
        table.run(ARCHIVE, options)
    state = table.state()
    folder = state.layout.archive_folder
    names = [file.name for file in table.storage.list(folder).files]
    times = [i.time for i in state.archive.instants()]
    assert times == sorted(set(times))
    assert len(times) + len(state.timeline) == 14
    assert {name.rpartition("_")[2] for name in names if name.endswith(".parquet")} >= {"1.parquet"}
    assert sum(name.startswith("manifest_") for name in names) <= 2 + 2
    version = table.storage.read(f"{folder}/_version_").decode()
    manifest = json.loads(table.storage.read(f"{folder}/manifest_{version}"))
    assert {file["fileName"] for file in manifest["files"]} <= set(names)
    assert all(table.storage.info(f"{folder}/{f['fileName']}").size == f["fileLen"] for f in manifest["files"])
    for instant in state.archive.instants():
        assert state.commit_metadata(instant).stats


def test_a_write_archives_when_it_is_due(version, tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": version})
    options = SMALL_BLOOM | SHORT
    for number in range(3):
        assert table.write(batch([(f"k{number}", "p", 1, number)]), "upsert", options).services == ()
    [outcome] = table.write(batch([("k3", "p", 1, 3)]), "upsert", options).services
    assert (outcome.service, outcome.failed) == ("archive", False)
    assert outcome.message.startswith("2 instants archived")
    assert len(table.timeline.commits) == 2
    for number in range(4, 8):
        told = table.write(
            batch([(f"k{number}", "p", 1, number)]), options=options | {"hoodie.archive.automatic": "false"}
        )
        assert told.services == ()
    assert len(table.timeline.commits) == 6
    with pytest.raises(ConfigError, match="must be greater"):
        table.write(batch([("no", "p", 1, 1)]), options={**SMALL_BLOOM, "hoodie.keep.max.commits": 4})
    assert "no" not in content(table)


def test_an_archival_after_a_write_that_fails_is_told(tmp_path):
    """Archived logs of version 6 hold bodies in another encoding, so a torn one cannot be archived."""
    table = written(tmp_path / "t", 4, **{"hoodie.write.table.version": "6"})
    torn = table.state().layout.inflight_path(table.timeline.commits[0].time, Action.COMMIT)
    table.storage.delete(torn)
    table.storage.create(torn, b"torn")
    options = SMALL_BLOOM | SHORT
    [outcome] = table.write(batch([("k", "p", 1, 1)]), "insert", options).services
    assert (outcome.service, outcome.failed, outcome.counts) == ("archive", True, True)
    assert torn.rpartition("/")[2] in outcome.message
    [outcome] = table.write(batch([("l", "p", 1, 1)]), "insert", options | {"hoodie.archive.async": "true"}).services
    assert (outcome.failed, outcome.counts) == (True, False)
    assert len(table.timeline.commits) == 6
    assert table.storage.list(".hoodie/archived").files == () or [
        file.name for file in table.storage.list(".hoodie/archived").files
    ] == [".keep"]


def test_what_was_completed_and_archived_meanwhile_conflicts_all_the_same(version, tmp_path):
    """A writer that began while another was under way compares with what that one did."""
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    late = table.timeline.commits[1]
    begun = table.state().before([late])
    table.run(ARCHIVE, SHORT)
    window = Window(begun, table.state())
    [found] = window.commits
    assert (found.time, found.is_archived) == (late.time, True)
    assert window.now.commit_metadata(found).stats
    assert window.taken_back == ()


def test_what_is_archived_beyond_a_savepoint_was_not_taken_back(version, tmp_path):
    table = written(tmp_path / "t", 8, **{"hoodie.write.table.version": version})
    table.savepoint(table.timeline.commits[1].time)
    begun, saved = table.state(), table.timeline.commits[1]
    archive(table, [instant for instant in table.timeline if instant.time != saved.time][:3])  # as Hudi's may
    window = Window(begun, table.state())
    assert (window.commits, window.taken_back) == ((), ())


def test_a_manifest_of_who_lost_its_lock_does_not_count(tmp_path):
    """It would hide what the next holder of the lock has archived."""
    table = written(tmp_path / "t", 6)
    manifests = Manifests(table.storage, table.state().layout.archive_folder)
    stale = manifests.current()
    table.run(ARCHIVE, SHORT)
    archived = table.state().archive.instants()
    with pytest.raises(LockLostError, match="was changed by another process"):
        manifests.replace(Manifest(stale.number, (), b"0"), ())
    assert table.state().archive.instants() == archived
    assert len(archived) == 4
