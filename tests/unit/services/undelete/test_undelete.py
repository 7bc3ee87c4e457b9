"""A clean that sets files aside, and putting them back: older versions are there again, the table of now stays as it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hoodie import CLEAN, COMPACTION, Restore, Rollback, Undelete
from hoodie.errors import (
    ConfigError,
    CorruptTableError,
    HoodieError,
    LockLostError,
    PendingInstantError,
    TimeTravelError,
    UndeleteError,
)
from hoodie.model.names import is_data_file
from hoodie.services.clean.plan import GRACE_UNTIL
from hoodie.storage import walk_files
from hoodie.timeline import Action
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.transaction import instants
from hoodie.transaction.audit import audit_names, read_audit
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.trash import FOLDER, asides
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

GRACE = {"hoodie.clean.commits.retained": 1, "hoodie.delete.grace.hours": 24}
LOGS = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["9", "6"])
def version(request):
    return request.param


def cow(path, clock, version="9"):
    """Four commits; the first two were cleaned."""
    table = create(path, clock, **{"hoodie.write.table.version": version})
    times = [upsert(table, ("a", "p", step, step), ("b", "q", step, step)) for step in range(4)]
    return table, times


def mor(path, clock, version="9"):
    """Base files and logs, compacted twice."""
    table = create(path, clock, **{"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"})
    times = []
    for step in range(3):
        times.append(upsert(table, ("a", "p", 2 * step, 2 * step)))
        times.append(upsert(table, ("a", "p", 2 * step + 1, 2 * step + 1)))
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)
    return table, times


def upsert(table, *entries):
    return table.write(batch(entries), "upsert", LOGS).instant.time


def visible(table):
    files = (file.path for file in walk_files(table.storage, "") if is_data_file(file.name))
    return {path for path in files if not path.startswith(".hoodie")}


@pytest.mark.parametrize("make", [cow, mor])
def test_there_and_back(tmp_path, clock, version, make):
    table, times = make(tmp_path / "t", clock, version)
    before, now = visible(table), content(table)
    past = {time: content(table, as_of=time) for time in times}
    run = table.run(CLEAN, GRACE)
    assert run.files_deleted >= 2
    gone = before - visible(table)
    assert len(gone) == run.files_deleted
    (aside,) = asides(table.storage)
    assert {aside.path_of(info) for info in aside.files(table.storage)} == gone
    assert aside.until - clock.time < timedelta(hours=24)
    with pytest.raises(TimeTravelError):
        content(table, as_of=times[0])
    assert content(table) == now

    decision = table.explain(Undelete())
    assert {item.path for item in decision.items} == gone
    assert decision.facts["cleans"][0]["clean"] == run.results[0].start
    done = table.run(Undelete(run.results[0].start))
    assert done.files == len(gone)
    assert visible(table) == before
    assert asides(table.storage) == []
    assert content(table) == now
    assert {time: content(table, as_of=time) for time in times} == past
    upsert(table, ("a", "p", 99, 99))
    assert content(table) == {**now, "a": ("p", 99, 99)}


def test_by_partition(tmp_path, clock):
    table, times = cow(tmp_path / "t", clock)
    table.run(CLEAN, GRACE)
    assert table.run(Undelete(partitions=("./part=p/",))).files == 2
    assert {info.path.split("/")[-2] for info in asides(table.storage)[0].files(table.storage)} == {"part=q"}
    with pytest.raises(TimeTravelError, match="part=q"):
        content(table, as_of=times[0])
    with pytest.raises(UndeleteError, match="in part=nowhere"):
        table.run(Undelete(partitions=("part=nowhere",)))
    with pytest.raises(UndeleteError, match="To do: look at all of it"):
        table.run(Undelete("20200101000000000"))
    assert table.run(Undelete()).files == 2
    assert content(table, as_of=times[0]) == {"a": ("p", 0, 0), "b": ("q", 0, 0)}


def test_what_only_an_older_clean_has_set_aside_does_not_hide_the_gap_of_the_later_one(tmp_path, clock):
    table, times = cow(tmp_path / "t", clock)
    first = table.run(CLEAN, GRACE).results[0].start
    times += [upsert(table, ("a", "p", step, step), ("b", "q", step, step)) for step in (4, 5)]
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    table.run(Undelete(first))
    assert content(table, as_of=times[1]) == {"a": ("p", 1, 1), "b": ("q", 1, 1)}
    with pytest.raises(TimeTravelError):
        content(table, as_of=times[2])
    assert content(table, as_of=times[4])["a"] == ("p", 4, 4)


def test_after_the_grace_time_the_next_clean_deletes_for_good(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    said, _ = CLEAN.report(table.run(CLEAN, GRACE))
    assert said.startswith(f"4 files set aside until {clock.time + timedelta(hours=24):%Y-%m-%d %H:%M} UTC; ")
    table.run(CLEAN, GRACE)
    assert asides(table.storage), "its time is not over"
    clock.time += timedelta(hours=25)
    assert "would delete for good what clean" in table.explain(CLEAN, GRACE).as_text("clean")
    now = content(table)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert asides(table.storage) == []
    assert not any(file.path.startswith(FOLDER) for file in walk_files(table.storage, FOLDER))
    assert content(table) == now
    assert [name.action for name in audit_names(table.storage)] == ["purge", "clean"]
    assert table.explain(Undelete()).plan is None


def test_the_audit_tells_what_was_put_back(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    done = table.run(CLEAN, GRACE).results[0]
    table.run(Undelete(done.start))
    entry = next(read_audit(table.storage, n) for n in audit_names(table.storage) if n.action == "undelete")
    assert done.start in entry.planned["why"]
    assert len(entry.files) == 4
    assert entry.outcome is not None


@pytest.mark.parametrize("action", ["rollback", "restore"])
def test_what_a_restore_or_a_rollback_deleted_is_gone_for_good_and_that_is_said(tmp_path, clock, action):
    table, _ = cow(tmp_path / "t", clock)
    saved = table.savepoint().instant
    last = upsert(table, ("a", "p", 9, 9))
    done = table.run(Rollback(last)).instant if action == "rollback" else table.run(Restore(saved)).result.start
    with pytest.raises(UndeleteError, match=f"a {action}, which deletes files for good.*show audit --instant {done}"):
        table.run(Undelete(done))


def test_files_of_commits_that_a_restore_took_back_stay_aside(tmp_path, clock):
    table, times = cow(tmp_path / "t", clock)
    table.savepoint(times[1])
    clean = table.run(CLEAN, {**GRACE}).results[0]
    assert clean.deleted
    saved = content(table, as_of=times[1])
    table.run(Restore(times[1]))
    assert content(table) == saved
    upsert(table, ("z", "r", 7, 7))
    now = content(table)
    before = visible(table)
    decision = table.explain(Undelete())
    stay = {entry["path"] for entry in decision.facts["stay_aside"]}
    assert all(times[2] not in path for path in (item.path for item in decision.items))
    table.run(Undelete())
    assert content(table) == now
    assert not stay & visible(table)
    assert before <= visible(table)


def test_a_group_whose_replacement_is_not_known_any_more_stays_aside(tmp_path, clock):
    """A file that nothing supersedes would be part of the table as it is now."""
    table, times = cow(tmp_path / "t", clock)
    table.run(CLEAN, GRACE)
    (aside,) = asides(table.storage)
    old = next(info for info in aside.files(table.storage) if times[0] in info.name)
    lone = old.path.replace(old.name[:8], "00000000").replace(times[0], "20200101000000000")  # of an archived commit
    table.storage.create(lone, table.storage.read(old.path))
    decision = table.explain(Undelete())
    (stays,) = decision.facts["stay_aside"]
    assert lone.endswith(stays["path"])
    assert stays["reason"] == "it would be part of the table as it is now"
    assert table.run(Undelete()).files == 4
    assert content(table)["a"] == ("p", 3, 3)
    assert table.storage.info(lone) is not None
    assert table.explain(Undelete()).plan is None


@pytest.mark.parametrize("same_size", [False, True])
def test_another_file_of_the_name_is_not_touched(tmp_path, clock, same_size):
    table, _ = cow(tmp_path / "t", clock)
    table.run(CLEAN, GRACE)
    item = next(iter(table.explain(Undelete()).items))
    other = b"x" * (item.bytes if same_size else 7)
    table.storage.create(item.path, other)
    decision = table.explain(Undelete())
    assert [(e["path"], e["reason"]) for e in decision.facts["stay_aside"]] == [
        (item.path, "another file of that name is there")
    ]
    assert table.run(Undelete()).files == 3
    assert table.storage.read(item.path) == other
    table.storage.delete(item.path)
    assert table.run(Undelete()).files == 1


def test_what_a_killed_undelete_left_in_both_places_is_put_back(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    table.run(CLEAN, GRACE)
    (aside,) = asides(table.storage)
    info = next(aside.files(table.storage))
    table.storage.create(aside.path_of(info), table.storage.read(info.path))
    assert table.run(Undelete()).files == 4
    assert asides(table.storage) == []


def test_nothing_is_put_back_once_the_lock_is_lost(tmp_path, clock, monkeypatch):
    table, _ = cow(tmp_path / "t", clock)
    table.run(CLEAN, GRACE)
    stopped = list(visible(table))

    def lost():
        raise LockLostError("The lock is lost", fix="run it again")

    with monkeypatch.context() as patched:
        patched.setattr("hoodie.services.undelete.service.ensure_held", lost)
        with pytest.raises(LockLostError):
            table.run(Undelete())
    assert sorted(visible(table)) == sorted(stopped)
    assert table.run(Undelete()).files == 4


def test_not_while_a_clean_is_pending(tmp_path, clock, monkeypatch):
    table, _ = cow(tmp_path / "t", clock)
    monkeypatch.setattr(type(table.storage), "move", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(HoodieError, match="could not delete"):
        table.run(CLEAN, GRACE)
    monkeypatch.undo()
    with pytest.raises(PendingInstantError, match="hudi-services clean"):
        table.run(Undelete())
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted == 4
    assert asides(table.storage), "the plan says so, whatever the options of who finishes it"
    assert table.run(Undelete()).files == 4


def test_a_plan_with_a_time_that_is_none_deletes_nothing(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    plan = table.explain(CLEAN, GRACE).plan
    for text in ("../../x", "", "20261399000000"):
        plan.extra[GRACE_UNTIL] = text
        state, before = table.state(), visible(table)
        made = instants.request(state, new_time(state, clock), Action.CLEAN, encode_clean_plan(plan, table.base_path))
        with pytest.raises(CorruptTableError, match=GRACE_UNTIL):
            table.run(CLEAN)
        assert visible(table) == before
        table.storage.delete(state.layout.path(made))


def test_strange_things_in_the_folder_are_passed_over(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    for path in ("x/f", "1_2/f", "20260101000000000_20269999000000/f", "20260101000000000_20260102000000/notes.txt"):
        table.storage.create(f"{FOLDER}/{path}", b"x")
    assert table.explain(Undelete()).plan is None


def test_grace_and_the_deletion_of_sources_exclude_each_other(tmp_path, clock):
    table, _ = cow(tmp_path / "t", clock)
    with pytest.raises(ConfigError, match="exclude each other"):
        table.explain(CLEAN, {**GRACE, "hoodie.clean.delete.bootstrap.base.file": True})
