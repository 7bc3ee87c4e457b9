"""Tables are followed: each completed instant of any writer is an event once, even if instants are archived in between."""

from __future__ import annotations

import json
import shutil
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hoodie import ARCHIVE, CLEAN, COMPACTION, HoodieTable, Rollback
from hoodie.timeline import Action
from hoodie.transaction import instants
from hudi_services.cli.program import main
from hudi_services.entry.table import Table
from hudi_services.operations.watch.store import GRACE
from hudi_services.operations.watch.table_round import look
from hudi_services.runtime.pause import pause, resume
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.support.watched import entry, reported, write

SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}


def test_what_is_completed_after_the_first_look_is_told_once(store, table):
    write(table)
    assert look(entry(table), store, table.clock) == 1
    assert reported(store) == [], "it was there before"
    done = [write(table, ts=step) for step in (2, 3)]
    assert look(entry(table), store, table.clock) == 2
    assert look(entry(table), store, table.clock) == 0
    assert reported(store) == [(str(i.time), str(i.action)) for i in done]
    last = store.events()[-1]
    assert (last.facts["operation"], last.facts["rows_updated"], last.facts["partitions"]) == ("UPSERT", 1, 1)
    assert last.table == "orders"
    assert store.events(after=last.number) == []


def test_a_later_look_searches_from_the_oldest_instant_that_may_yet_complete(store, table):
    """Also where it is archived before that look."""
    write(table)
    waiting = instants.request(table.state(), "20250101000000000", Action.COMMIT)

    def floor():
        look(entry(table), store, table.clock)
        return store.cursor("orders", str(table.base_path)).floor

    assert floor() == waiting.time
    table.storage.delete(table.state().layout.path(waiting))
    assert floor() == table.timeline.commits[-1].time


def test_nothing_is_missed_that_was_archived_in_between(store, table):
    write(table)
    look(entry(table), store, table.clock)
    done = [write(table, ts=step) for step in range(2, 14)]
    table.run(CLEAN, SHORT)
    table.run(ARCHIVE, SHORT)
    assert len(HoodieTable.open(table.base_path).timeline.commits) < 12
    look(entry(table), store, table.clock)
    commits = [key for key in reported(store) if key[1] in ("commit", "deltacommit")]
    assert sorted(commits) == sorted((str(i.time), str(i.action)) for i in done)
    look(entry(table), store, table.clock)
    assert len(reported(store)) == len(set(reported(store)))


def test_what_stays_on_the_timeline_for_years_is_told_once(store, table):
    """Events go after 90 days, but not while their instants are there."""
    write(table)
    look(entry(table), store, table.clock)
    by_hand = {**SMALL_BLOOM, "hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"}
    for step in range(12):
        table.clock.sleep(50 * 86_400)
        table.write(batch([("a", "p", step + 2, 1)]), "upsert", by_hand)
        assert look(entry(table), store, table.clock) == 1
    assert [event.instant for event in store.events()] == [str(each.time) for each in table.timeline.commits[1:]]
    table.run(ARCHIVE, SHORT)
    table.clock.sleep(91 * 86_400)
    look(entry(table), store, table.clock)
    assert len(store.events(fresh=False)) == len(table.timeline.instants), "of those that are archived they go"


def test_a_table_that_comes_later_is_told_from_its_beginning(store, tmp_path):
    clock = FakeClock()
    wanted = Table(name="orders", base_path=str(tmp_path / "t"))
    assert look(wanted, store, clock) == 0
    assert [each.health for each in store.fleet()] == ["absent"]
    made = create(tmp_path / "t", clock)
    look(wanted, store, clock)
    first = write(made)
    look(wanted, store, clock)
    assert reported(store) == [(str(first.time), "commit")]
    assert [each.health for each in store.fleet()] == ["ok"]


def test_rolled_back_and_compacted(store, tmp_path):
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    write(table)
    look(entry(table), store, table.clock)
    gone = write(table, ts=2)
    look(entry(table), store, table.clock)
    back = table.run(Rollback(gone.time)).instant
    write(table, ts=3)
    planned = table.schedule(COMPACTION, force=True)
    look(entry(table), store, table.clock)
    assert (str(back), "rollback") in reported(store)
    assert planned not in [time for time, _ in reported(store)], "it waits"
    assert store.fleet()[0].pending == 1
    table.run(COMPACTION)
    look(entry(table), store, table.clock)
    assert reported(store)[-1] == (str(planned), "commit")
    assert len(reported(store)) == len(set(reported(store)))


def test_a_table_that_cannot_be_read_keeps_what_was_seen(store, table):
    write(table)
    look(entry(table), store, table.clock)
    properties = table.storage._root / ".hoodie" / "hoodie.properties"
    kept = properties.read_bytes()
    properties.write_bytes(b"\xff")
    (table.storage._root / ".hoodie" / "hoodie.properties.backup").unlink(missing_ok=True)
    look(entry(table), store, table.clock)
    (broken,) = store.fleet()
    assert broken.health == "unreadable"
    assert broken.reason
    assert broken.files == 1
    assert store.table("orders").body["table"]["commits"] == 1
    since = broken.since
    look(entry(table), store, table.clock)
    assert store.fleet()[0].since == since
    properties.write_bytes(kept)
    fresh = write(HoodieTable.open(table.base_path, clock=table.clock), ts=2)
    look(entry(table), store, table.clock)
    assert store.fleet()[0].health == "ok"
    assert reported(store) == [(str(fresh.time), str(fresh.action))]


@pytest.mark.parametrize("error", [AssertionError, NotImplementedError, RecursionError, OverflowError])
def test_whatever_a_body_makes_of_a_reader_it_ends_no_round(store, table, monkeypatch, error):
    def fails(*_):
        raise error("odd")

    monkeypatch.setattr("hudi_services.operations.watch.table_round.snapshot", fails)
    assert look(entry(table), store, table.clock) == 0
    (seen,) = store.fleet()
    assert (seen.health, seen.reason) == ("unreadable", f"{error.__name__}: odd")


def test_the_numbers_are_those_of_the_commands(store, table, capsys):
    for step in (1, 2, 3):
        write(table, ts=step)
    look(entry(table), store, table.clock)
    found = store.table("orders")
    assert main(["show", "table", "--target-base-path", table.base_path, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    of_now = ("advice", "age", "storage_calls", "last_commits", "services", "pending", "locks", "next", "base_path")
    same = [key for key in shown if key not in of_now]
    assert {key: found.body["table"][key] for key in same} == {key: shown[key] for key in same}
    assert main(["show", "partitions", "--target-base-path", table.base_path, "--json"]) == 0
    assert found.body["partitions"] == json.loads(capsys.readouterr().out)["partitions"]
    assert found.summary.bytes == shown["base_bytes"] + shown["log_bytes"]
    assert found.summary.rows == shown["rows_in_base_files"]


def test_another_table_of_that_name(store, tmp_path):
    clock = FakeClock()
    old, new = create(tmp_path / "old", clock), create(tmp_path / "new", clock)
    write(old)
    look(entry(old), store, clock)
    write(old, ts=2)
    look(entry(old), store, clock)
    assert len(reported(store)) == 1
    write(new)
    look(entry(new), store, clock)
    assert [each.base_path for each in store.fleet()] == [str(old.base_path)], "the registry may be half written"
    clock.sleep(GRACE.total_seconds())
    look(entry(new), store, clock)
    assert reported(store) == []
    assert [each.base_path for each in store.fleet()] == [str(new.base_path)]
    assert store.forget({"others": "/lake/others"}, clock.now()) == []
    clock.sleep(GRACE.total_seconds())
    assert store.forget({"others": "/lake/others"}, clock.now()) == ["orders"]
    assert store.fleet() == []


def test_a_writer_whose_clock_is_behind_is_not_passed_over(store, table):
    """Another one's commit, later by its clock, was seen before, and all of these are archived between two looks."""
    write(table)
    look(entry(table), store, table.clock)
    table.clock.sleep(3600)
    done = [write(table)]
    look(entry(table), store, table.clock)
    late = HoodieTable.open(table.base_path, clock=FakeClock())
    late.clock.sleep(60)
    done += [write(late, ts=step) for step in range(2, 14)]
    late.run(CLEAN, SHORT)
    late.run(ARCHIVE, SHORT)
    look(entry(table), store, table.clock)
    commits = [time for time, action in reported(store) if action in ("commit", "deltacommit")]
    assert sorted(commits) == sorted(str(each.time) for each in done)
    assert len(reported(store)) == len(set(reported(store)))


def test_what_was_archived_before_the_first_look_is_never_told(store, table):
    for step in range(1, 12):
        write(table, ts=step)
    table.run(CLEAN, SHORT)
    table.run(ARCHIVE, SHORT)
    look(entry(table), store, table.clock)
    done = [write(table, ts=step) for step in range(12, 24)]
    table.run(CLEAN, SHORT)
    table.run(ARCHIVE, SHORT)
    look(entry(table), store, table.clock)
    commits = [time for time, action in reported(store) if action in ("commit", "deltacommit")]
    assert sorted(commits) == sorted(str(each.time) for each in done)


def test_a_clock_that_was_ahead_keeps_nothing_from_being_seen(store, tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    write(table)
    ahead = FakeClock(clock.now() + timedelta(days=365))
    look(entry(table), store, ahead)
    pause(table.storage, clock, "me", "because")
    look(entry(table), store, clock)
    assert store.fleet()[0].health == "paused"
    assert store.fleet()[0].looked_at < ahead.now()


def test_a_table_that_could_not_be_read_before_it_was_there_is_told_from_its_beginning(store, tmp_path):
    path, clock = tmp_path / "t", FakeClock()
    place = Table(name="orders", base_path=str(path))
    (path / ".hoodie").mkdir(parents=True)
    (path / ".hoodie" / "hoodie.properties").mkdir()  # no file
    look(place, store, clock)
    shutil.rmtree(path)
    look(place, store, clock)
    assert store.fleet()[0].health == "absent"
    done = write(create(path, clock))
    look(place, store, clock)
    assert reported(store) == [(str(done.time), "commit")]


def test_a_storage_that_fails_now_this_way_now_that_has_failed_since_the_first(store, table):
    write(table)
    look(entry(table), store, table.clock)
    folder, since = Path(table.base_path), None
    away = folder.with_name("away")
    properties = folder / ".hoodie" / "hoodie.properties"
    kept = properties.read_bytes()
    properties.write_bytes(b"hoodie.table.version=99\n")
    for step in range(4):
        table.clock.sleep(60)
        folder, away = folder.rename(away), folder
        look(entry(table), store, table.clock)
        (found,) = store.fleet()
        assert found.health == ("unreadable" if step % 2 else "absent")
        since = since or found.since
        assert found.since == since
    properties.write_bytes(kept)
    look(entry(table), store, table.clock)
    assert store.fleet()[0].health == "ok"


def test_an_objective_is_missed_when_its_time_has_come(store, tmp_path):
    """Nothing happens on the timeline, and the next whole look is minutes away."""
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    fresh = Table(name="orders", base_path=str(table.base_path), objectives={"freshness": "60s"})
    write(table)
    for seconds, health in ((0, "ok"), (50, "ok"), (12, "missed")):
        clock.sleep(seconds)
        look(fresh, store, clock)
        assert store.fleet()[0].health == health
    assert store.fleet()[0].reason == "freshness (at most 1 min 0 s)"


def test_a_timeline_of_many_instants(store, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table)
    folder = table.storage._root / ".hoodie" / "timeline"
    (done,) = folder.glob("*.commit")
    for number in range(1100):
        first = datetime(2025, 1, 1) + timedelta(minutes=number)
        began, ended = (f"{at:%Y%m%d%H%M%S}000" for at in (first, first + timedelta(seconds=1)))
        shutil.copy(done, folder / f"{began}_{ended}.commit")
    began = time.process_time()
    assert look(entry(table), store, table.clock) == 1101
    assert time.process_time() - began < 20
    assert store.fleet()[0].instants == 1101
    body = store.table("orders").body
    assert (len(body["timeline"]), body["older"]) == (1000, True)


def test_a_pause_of_a_quiet_table_is_there_at_the_next_round(store, table):
    write(table)
    look(entry(table), store, table.clock)
    pause(table.storage, table.clock, "me", "because")
    look(entry(table), store, table.clock)
    assert store.fleet()[0].health == "paused"
    resume(table.storage)
    look(entry(table), store, table.clock)
    assert store.fleet()[0].health == "ok"
    before = store.fleet()[0].looked_at
    look(entry(table), store, table.clock)
    assert store.fleet()[0].looked_at == before, "a quiet table is not looked at again"
