"""The doctor repairs its findings, keeps copies, and leaves rows as they were."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hoodie import CLEAN, COMPACTION, HoodieTable
from hoodie.doctor.catalogue import CHECKS
from hoodie.doctor.repair import _REPAIRS, decide_mending
from hoodie.errors import LockHeldError, LockLostError, PendingInstantError
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.audit import audit_names, read_audit
from hoodie.transaction.instant_generator import new_time
from hoodie.transaction.locks import table_lock
from tests.support.locks import NO_WAIT
from tests.support.tables import SMALL_BLOOM, batch, content, create

VERSIONS = ("6", "9")


def filled(path, version="9", commits=3):
    table = create(path, **{"hoodie.write.table.version": version})
    for step in range(commits):
        table.write(batch([("a", "p", step, step), (f"b{step}", "q", step, step)]), "upsert", SMALL_BLOOM)
    return table


def orphan(table, path, body=b"orphan"):
    last = table.timeline.commits[-1].time
    (file := Path(path, f"part=p/aaaa-0_0-1-2_{int(last) + 1}.parquet")).write_bytes(body)
    return file


def mended(table):
    """Repair all. Returns the findings that remain."""
    before, diagnosis = content(table), table.diagnose()
    told = table.mend(diagnosis)
    assert content(table) == before
    return told, [each.check for each in table.diagnose().findings]


def test_every_check_that_is_mended_says_what_is_done():
    assert set(_REPAIRS) == {name for name, check in CHECKS.items() if check.fixed}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_empty_instant_comes_first_and_its_line_can_be_pasted(tmp_path, version):
    table = filled(tmp_path, version)
    first, commit, _ = table.timeline.commits
    path = tmp_path / table.state().layout.path(commit)
    path.write_bytes(b"")
    (finding,) = table.diagnose().findings
    assert (finding.check, finding.instant) == ("empty-instant", commit.time)
    decision = decide_mending(table.diagnose())
    assert decision.plan is None
    assert "before the empty instant" in decision.reason
    _, line, _, fix, _, load, _ = finding.remedy.split("`")
    subprocess.run(line, shell=True, check=True)
    assert (fix, load) == (
        f"hudi-services rollback --instant {commit.time}",
        f"hudi-services ingest --reload-since {first.time}",
    )
    assert not path.exists()
    assert (tmp_path / ".hoodie/.quarantine" / path.name).exists()
    assert "rolled back" in table.mend(table.diagnose())[0]
    assert table.diagnose().findings == ()
    assert sorted(content(table)) == ["a", "b0", "b1", "b2"], "a later commit wrote b1, too"


def test_an_empty_instant_stays_if_a_clean_removed_what_it_replaced(tmp_path):
    """Its rollback would take the rows of earlier commits, too."""
    table = filled(tmp_path)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    (tmp_path / table.state().layout.path(table.timeline.commits[-1])).write_bytes(b"")
    (finding,) = table.diagnose().findings
    assert finding.check == "empty-instant"
    assert "a clean has removed" in finding.remedy
    assert "`" not in finding.remedy


@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_nobody_are_moved_and_noted(tmp_path, version):
    table = filled(tmp_path, version)
    lost = orphan(table, tmp_path)
    extra = tmp_path / f"part=p/bbbb-0_0-1-2_{table.timeline.commits[-1].time}.parquet"
    extra.write_bytes(b"attempt")
    diagnosis = table.diagnose()
    decision = decide_mending(diagnosis)
    assert decision.items.bytes == len(b"orphan") + len(b"attempt")
    assert "uncommitted-file: moved aside" in decision.as_text("doctor")
    assert len(table.mend(diagnosis)) == 2
    assert table.diagnose().findings == ()
    assert not lost.exists()
    assert not extra.exists()
    kept = {path.name.partition("~")[0]: path.read_bytes() for path in tmp_path.glob(".hoodie/.quarantine/part=p/*")}
    assert kept == {lost.name: b"orphan", extra.name: b"attempt"}
    (name,) = audit_names(table.storage)
    entry = read_audit(table.storage, name)
    assert (entry.action, len(entry.files), bool(entry.outcome)) == ("doctor", 2, True)
    assert len(content(table)) == 4


def test_nothing_is_moved_once_the_lock_is_lost(tmp_path, monkeypatch):
    """The doctor was stopped for long after its first file: others may have committed the second."""
    table = filled(tmp_path)
    first = orphan(table, tmp_path)
    second = first.with_name(first.name.replace("aaaa", "bbbb"))
    second.write_bytes(b"orphan")
    diagnosis, asked = table.diagnose(), []

    def held():
        asked.append(first.exists())
        if not asked[-1]:
            raise LockLostError("The lock is lost", fix="run it again")

    with monkeypatch.context() as patched:
        patched.setattr("hoodie.doctor.repair.ensure_held", held)
        with pytest.raises(LockLostError):
            table.mend(diagnosis)
    assert asked == [True, False]
    assert second.read_bytes() == b"orphan"
    table.mend(table.diagnose())
    assert not second.exists()


def test_only_what_was_shown_is_moved_and_only_while_it_is_nobodys(tmp_path):
    table = filled(tmp_path)
    shown = orphan(table, tmp_path)
    diagnosis = table.diagnose()
    later = tmp_path / "part=q" / shown.name
    later.write_bytes(b"x")
    shown.unlink()  # another doctor was faster
    assert table.mend(diagnosis) == []
    assert later.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_partition_is_found_again(tmp_path, version):
    table = filled(tmp_path, version)
    before = content(table)
    (tmp_path / "part=p/.hoodie_partition_metadata").unlink()
    table.mend(table.diagnose())
    assert content(table) == before
    assert table.diagnose().findings == ()
    assert b"partitionDepth=1" in (tmp_path / "part=p/.hoodie_partition_metadata").read_bytes()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("torn", [b"", b"torn"])
def test_a_torn_clean_is_done_once_more(tmp_path, version, torn):
    table = filled(tmp_path, version, commits=4)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    (clean,) = table.timeline.completed(Action.CLEAN)
    Path(tmp_path, table.state().layout.path(clean)).write_bytes(torn)
    diagnosis = table.diagnose()
    assert {each.check for each in diagnosis.findings} <= {"torn-service-instant", "half-done", "held-back"}
    assert len(diagnosis.of("torn-service-instant")) == 1
    table.mend(diagnosis)
    assert table.diagnose().findings == ()
    assert table.timeline.completed(Action.CLEAN)[0].time == clean.time


def test_torn_plans_are_moved(tmp_path):
    table = filled(tmp_path)
    for action in (Action.CLEAN, Action.ROLLBACK, Action.RESTORE):
        state = table.state()
        instants.request(state, new_time(state, table.clock), action, b"torn")
    told, left = mended(table)
    assert left == []
    assert len([line for line in told if "moved" in line]) == 3


def test_what_died_is_taken_back(tmp_path):
    table = filled(tmp_path)
    state = table.state()
    begun = instants.start(state, instants.request(state, time := new_time(state, table.clock), Action.COMMIT))
    (tmp_path / f"part=p/aaaa-0_0-1-2_{time}.parquet").write_bytes(b"x")
    marker = tmp_path / ".hoodie/.temp" / table.timeline.commits[0].time / "part=p/x.marker.CREATE"
    marker.parent.mkdir(parents=True)
    marker.touch()
    told, left = mended(table)
    assert left == []
    assert begun.time in told[0]


@pytest.mark.parametrize("gone", [True, False])
def test_properties_come_from_their_backup_and_the_damaged_ones_are_kept(tmp_path, gone):
    table = filled(tmp_path)
    main, backup = tmp_path / ".hoodie/hoodie.properties", tmp_path / ".hoodie/hoodie.properties.backup"
    whole = main.read_bytes()
    backup.write_bytes(whole)
    main.unlink() if gone else main.write_bytes(b"damaged")
    _, left = mended(table)
    assert left == []
    assert main.read_bytes() == whole
    assert not backup.exists()
    kept = list(tmp_path.glob(".hoodie/.quarantine/.hoodie/hoodie.properties~*"))
    assert [each.read_bytes() for each in kept] == ([] if gone else [b"damaged"])


def test_a_writer_at_work_is_left_alone(tmp_path):
    table = filled(tmp_path)
    file = orphan(table, tmp_path)
    diagnosis = table.diagnose()
    with table_lock(table.storage, table.clock, "other", NO_WAIT), pytest.raises(LockHeldError):
        table.mend(diagnosis, {"hoodie.write.lock.wait_time_ms": 0, "hoodie.write.lock.num_retries": 0})
    state = table.state()
    instants.start(state, instants.request(state, time := new_time(state, table.clock), Action.COMMIT))
    beat = tmp_path / ".hoodie/.heartbeat" / time
    beat.parent.mkdir(exist_ok=True)
    beat.touch()
    with pytest.raises(PendingInstantError):
        table.mend(diagnosis)
    assert file.exists()
    os.utime(beat, (0, 0))
    table.mend(table.diagnose())
    assert table.diagnose().findings == ()


def test_a_healthy_table_is_not_touched(tmp_path):
    table = filled(tmp_path)
    assert table.mend(table.diagnose()) == []
    assert not (tmp_path / ".hoodie/.quarantine").exists()


def test_two_doctors_at_once_mend_a_table_once(tmp_path):
    table = filled(tmp_path)
    lost = {orphan(table, tmp_path).name}
    diagnosis, before = table.diagnose(), content(table)
    with ThreadPoolExecutor(2) as pool:
        doctors = [HoodieTable.open(str(tmp_path)) for _ in range(2)]
        told = [line for each in pool.map(lambda one: one.mend(diagnosis), doctors) for line in each]
    assert len(told) == 1
    assert {path.name.partition("~")[0] for path in tmp_path.glob(".hoodie/.quarantine/part=p/*")} == lost
    assert content(table) == before
    assert table.diagnose().findings == ()


def test_what_can_be_read_by_the_time_that_somebody_agrees_stays(tmp_path):
    """A clean's file that another process was still writing."""
    table = create(tmp_path, **{"hoodie.write.table.version": "6"})
    for step in range(4):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    (done,) = (tmp_path / ".hoodie").glob("*.clean")
    body = done.read_bytes()
    done.write_bytes(body[:9])
    diagnosis = table.diagnose()
    assert [each.check for each in diagnosis.findings] == ["torn-service-instant"]
    done.write_bytes(body)
    table.mend(diagnosis)
    assert done.read_bytes() == body


def test_logs_of_a_plan_that_is_gone_are_damage_and_stay(tmp_path):
    """In version 6 they carry its instant."""
    table = create(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"})
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)
    table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    (plan,) = (tmp_path / ".hoodie").glob("*.compaction.requested")
    plan.write_bytes(b"torn")
    (told,) = table.diagnose().findings
    assert told.check == "torn-waiting-plan"
    assert "unschedule" not in told.remedy
    plan.unlink()
    (told,) = table.diagnose().findings
    assert told.check == "unread-file"
    table.mend(table.diagnose())
    assert (tmp_path / told.path).exists()
