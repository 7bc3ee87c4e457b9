"""A table with commits that are dated years ahead."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import ChangeRangeError, TimeTravelError
from hoodie.model.time import Time
from hoodie.read.incremental import time_in_range
from hoodie.services.restore.service import Restore
from hoodie.services.rollback.service import Rollback
from hoodie.timeline import Action, Instant, State
from hoodie.times import ago
from hoodie.view.future import Future
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import look_at
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


class Ahead(SystemClock):
    """The clock of a machine whose battery is empty."""

    def now(self):
        return super().now() + timedelta(days=731)


def test_doctor_and_services_say_so_with_the_way_out(tmp_path):
    table = create(tmp_path / "t", Ahead())
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    first, last = (commit.time for commit in table.timeline.commits)
    table = HoodieTable.open(table.base_path)
    (found,) = table.diagnose().findings
    assert (found.check, found.severity, found.instant) == ("future-instant", "warning", first)
    assert found.what == f"commit {first} is dated later than now, and 1 instant after it"
    assert "730 d 23 h ahead" in found.found or "731 d 0 h ahead" in found.found
    assert f"hudi-services rollback --instant {last}" in found.remedy
    shown = overview(look_at(ChosenTable(table.base_path, None), table.clock))
    (warning,) = shown.values["findings"]
    future = Future.of(table.timeline, table.clock.now(), UTC)
    assert (warning["check"], warning["grave"], warning["remedy"]) == ("future-instant", False, future.fix)
    assert (warning["title"].startswith(future.title), shown.values["problems"]) == (True, [])
    assert shown.values["age"] < 0
    hours = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 1}
    assert "2 commits dated later than now count as new" in table.explain(CLEAN, hours).reason
    with pytest.raises(TimeTravelError, match=f"ask for {first}.*clock of its writer was ahead"):
        table.read(as_of=datetime.now(UTC))
    assert table.read(as_of=first).num_rows == 1


def filled_ahead(path, version, commits):
    """A table with a commit of now, and then commits of a clock that is ahead."""
    table = create(path, **{"hoodie.write.table.version": version})
    table.write(batch([("a", "p", 0, 0)]), "upsert", SMALL_BLOOM)
    ahead = HoodieTable.open(table.base_path, clock=Ahead())
    for value in range(1, commits + 1):
        ahead.write(batch([("a", "p", value, value), (f"b{value}", "p", value, value)]), "upsert", SMALL_BLOOM)
    return HoodieTable.open(table.base_path), ahead


def ahead_of(table):
    future = Future.of(table.timeline, table.clock.now(), UTC)
    return [instant.action for instant in future.instants] if future is not None else []


@pytest.mark.parametrize("version", ["6", "9"])
def test_rollbacks_of_commits_ahead_are_of_now(tmp_path, version):
    table, _ahead = filled_ahead(tmp_path / "t", version, 2)
    positions = [time_in_range(table.state(), commit) for commit in table.timeline.commits]
    while ahead_of(table):
        (found,) = table.diagnose().findings
        table.run(Rollback(found.remedy.partition("--instant ")[2].partition("`")[0]))
    assert table.diagnose().findings == ()
    table.write(batch([("c", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    assert not ahead_of(table)
    assert sorted(table.read()["id"].to_pylist()) == ["a", "c"]
    assert table.read_changes(start=positions[0]).num_rows == 1
    for position in positions[1:]:  # a reader that has read what was taken back
        with pytest.raises(ChangeRangeError, match="took back"):
            table.read_changes(start=position)


@pytest.mark.parametrize(("commits", "loads"), [(2, True), (11, False)])
def test_all_commits_are_taken_back_before_their_files_are_loaded_again(commits, loads):
    times = [f"203601010000{number:05}" for number in range(commits)]
    instants = [Instant(Time(time), Action.COMMIT, State.COMPLETED) for time in times]
    remedy = Future.of(instants, datetime(2026, 1, 1, tzinfo=UTC), UTC).fix
    named = re.findall("`hudi-services ([^`]*)`", remedy)
    assert named[:2] == [f"rollback --instant {time}" for time in reversed(times[-2:])]
    assert (named[-1] == "ingest") == loads
    assert ("and 1 before them" in remedy) != loads


@pytest.mark.parametrize("version", ["6", "9"])
def test_restores_of_commits_ahead_are_of_now(tmp_path, version):
    table, _ahead = filled_ahead(tmp_path / "t", version, 2)
    saved, _, last = table.timeline.commits
    position = time_in_range(table.state(), last)
    table.savepoint(saved.time)
    table.run(Restore(saved.time))
    assert ahead_of(table) == ([] if version == "6" else [Action.SAVEPOINT])  # its name has its completion
    for finding in table.diagnose().findings:
        assert f"savepoint delete --instant {saved.time}" in finding.remedy
    table.delete_savepoint(saved.time)
    assert not ahead_of(table)
    with pytest.raises(ChangeRangeError, match="took back"):
        table.read_changes(start=position)


@pytest.mark.parametrize("version", ["6", "9"])
def test_cleans_and_rollbacks_that_are_ahead_are_dated_by_the_doctor(tmp_path, version):
    table = create(tmp_path / "t", **{"hoodie.write.table.version": version})
    for value in range(5):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    ahead, rows = HoodieTable.open(table.base_path, clock=Ahead()), table.read()
    table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    ahead.run(Rollback(ahead.timeline.commits[-1].time))
    ahead.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    assert ahead_of(table) == [Action.ROLLBACK, Action.CLEAN]
    (clean,) = table.timeline.completed(Action.CLEAN)
    deleted = table.state().clean_result(clean).deleted
    assert deleted
    (found,) = table.diagnose().findings
    assert (found.check, found.severity) == ("future-service-instant", "warning")
    done = table.mend(table.diagnose())
    assert "dated clean" in "; ".join(done)
    assert not ahead_of(table)
    assert table.diagnose().findings == ()
    (redated,) = table.timeline.completed(Action.CLEAN)
    result = table.state().clean_result(redated)
    assert (result.deleted, result.start) == (deleted, redated.time)
    assert len(list((tmp_path / "t" / ".hoodie" / ".quarantine").rglob(f"{clean.time}*"))) == 3
    assert table.read().equals(rows)
    with pytest.raises(TimeTravelError, match=redated.time):  # what the clean says of removed files is kept
        table.read(as_of=table.timeline.commits[0].time)
    table.write(batch([("c", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    assert not ahead_of(table)


def test_clocks_that_differ_by_hours_are_no_matter(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    for hours, none in ((14, True), (30, False)):
        assert (Future.of(table.timeline, clock.now() - timedelta(hours=hours), UTC) is None) is none


def test_ages_in_words():
    assert [ago(seconds) for seconds in (3600.0, -63158399.0, None)] == ["1 h 0 min ago", "in 730 d 23 h", ""]
