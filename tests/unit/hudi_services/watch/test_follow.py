"""Tables are followed: each completed instant is an event once, whoever completed it and whatever is archived in between."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event

from hoodie import ARCHIVE, CLEAN, COMPACTION, HoodieTable, Rollback
from hoodie.errors import StoreError
from hudi_services.cli import main
from hudi_services.commandline.flags import ChosenTable
from hudi_services.entry.table import Table
from hudi_services.pause.state import pause
from hudi_services.registry.load import read_registry
from hudi_services.show.look import look_at
from hudi_services.watch import rounds
from hudi_services.watch.follow import look
from hudi_services.watch.rounds import Watcher
from hudi_services.watch.snapshot import snapshot
from hudi_services.watch.store import GRACE, SnapshotStore
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("9", "6")]
SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}


@pytest.fixture
def store(tmp_path):
    return SnapshotStore.open(str(tmp_path / "watch" / "store.db"), make=True)


@pytest.fixture(params=KINDS, ids=["-".join(each) for each in KINDS])
def table(request, tmp_path):
    kind, version = request.param
    return create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})


def entry(table, name="orders"):
    return Table(name=name, base_path=str(table.base_path))


def write(table, key="a", ts=1):
    return table.write(batch([(key, "p", ts, ts)]), "upsert", SMALL_BLOOM).instant


def told(store):
    return [(each.instant, each.action) for each in store.events()]


def test_what_is_completed_after_the_first_look_is_told_once(store, table):
    write(table)
    assert look(entry(table), store, table.clock) == 1
    assert told(store) == [], "it was there before"
    done = [write(table, ts=step) for step in (2, 3)]
    assert look(entry(table), store, table.clock) == 2
    assert look(entry(table), store, table.clock) == 0
    assert told(store) == [(str(i.time), str(i.action)) for i in done]
    last = store.events()[-1]
    assert (last.facts["operation"], last.facts["rows_updated"], last.facts["partitions"]) == ("UPSERT", 1, 1)
    assert last.table == "orders"
    assert store.events(after=last.number) == []


def test_nothing_is_missed_that_was_archived_in_between(store, table):
    write(table)
    look(entry(table), store, table.clock)
    done = [write(table, ts=step) for step in range(2, 14)]
    table.run(CLEAN, SHORT)
    table.run(ARCHIVE, SHORT)
    assert len(HoodieTable.open(table.base_path).timeline.commits) < 12
    look(entry(table), store, table.clock)
    commits = [key for key in told(store) if key[1] in ("commit", "deltacommit")]
    assert sorted(commits) == sorted((str(i.time), str(i.action)) for i in done)
    look(entry(table), store, table.clock)
    assert len(told(store)) == len(set(told(store)))


def test_what_stays_on_the_timeline_for_years_is_told_once(store, table):
    """Events go after 90 days, but not while their instants are there."""
    write(table)
    look(entry(table), store, table.clock)
    by_hand = {**SMALL_BLOOM, "hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false"}
    for step in range(30):
        table.clock.sleep(20 * 86_400)
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
    assert told(store) == [(str(first.time), "commit")]
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
    assert (str(back), "rollback") in told(store)
    assert planned not in [time for time, _ in told(store)], "it waits"
    assert store.fleet()[0].pending == 1
    table.run(COMPACTION)
    look(entry(table), store, table.clock)
    assert told(store)[-1] == (str(planned), "commit")
    assert len(told(store)) == len(set(told(store)))


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
    assert told(store) == [(str(fresh.time), str(fresh.action))]


@pytest.mark.parametrize("error", [AssertionError, NotImplementedError, RecursionError, OverflowError])
def test_whatever_a_body_makes_of_a_reader_it_ends_no_round(store, table, monkeypatch, error):
    def fails(*_):
        raise error("odd")

    monkeypatch.setattr("hudi_services.watch.follow.snapshot", fails)
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
    same = [
        key
        for key in shown
        if key not in ("age", "storage_calls", "last_commits", "services", "pending", "locks", "next", "base_path")
    ]
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
    assert len(told(store)) == 1
    write(new)
    look(entry(new), store, clock)
    assert [each.base_path for each in store.fleet()] == [str(old.base_path)], "the registry may be half written"
    clock.sleep(GRACE.total_seconds())
    look(entry(new), store, clock)
    assert told(store) == []
    assert [each.base_path for each in store.fleet()] == [str(new.base_path)]
    assert store.forget({"others": "/lake/others"}, clock.now()) == []
    clock.sleep(GRACE.total_seconds())
    assert store.forget({"others": "/lake/others"}, clock.now()) == ["orders"]
    assert store.fleet() == []


@pytest.mark.parametrize("torn", ["", "tables:\n", "tables: [{name: other, base_path: /lake/other}]", "shorter"])
def test_a_registry_that_is_half_written_for_a_round_loses_nothing(store, tmp_path, torn):
    table = create(tmp_path / "t", FakeClock())
    file = tmp_path / "tables.yaml"
    whole = f"tables: [{{name: orders, base_path: {table.base_path}}}]"
    watcher = Watcher(store, table.clock)

    def round_by(text):
        file.write_text(text)
        return watcher.round(read_registry(file))

    write(table)
    round_by(whole)
    done = [write(table, ts=2)]
    round_by(whole.replace(str(table.base_path), str(table.base_path)[:-1]) if torn == "shorter" else torn)
    done.append(write(table, ts=3))
    assert round_by(whole).gone == ()
    assert told(store) == [(str(i.time), "commit") for i in done]


def test_watchers_whose_registries_differ_forget_no_table_of_the_other(store, tmp_path):
    clock = FakeClock()
    tables = {name: create(tmp_path / name, clock) for name in ("mine", "theirs", "both")}
    done = {name: [write(table)] for name, table in tables.items()}
    watchers = []
    for own in ("mine", "theirs"):
        file = tmp_path / f"{own}.yaml"
        entries = [f"{{name: {name}, base_path: {tables[name].base_path}}}" for name in (own, "both")]
        file.write_text(f"tables: [{', '.join(entries)}]")
        watchers.append((Watcher(store, clock), read_registry(file)))
    for step in range(2, 30):
        for watcher, reading in watchers:
            watcher.round(reading)
        clock.sleep(60)
        for name, table in tables.items():
            done[name].append(write(table, ts=step))
    for watcher, reading in watchers:
        watcher.round(reading)
    for name, written in done.items():
        assert [each.instant for each in store.events() if each.table == name] == [str(i.time) for i in written[1:]]


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
    commits = [time for time, action in told(store) if action in ("commit", "deltacommit")]
    assert sorted(commits) == sorted(str(each.time) for each in done)
    assert len(told(store)) == len(set(told(store)))


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
    commits = [time for time, action in told(store) if action in ("commit", "deltacommit")]
    assert sorted(commits) == sorted(str(each.time) for each in done)


def test_a_table_that_does_not_answer_keeps_no_other_from_being_looked_at(store, tmp_path, monkeypatch):
    clock = FakeClock()
    names = ("hangs", "goes_on")
    tables = {name: create(tmp_path / name, clock) for name in names}
    file = tmp_path / "tables.yaml"
    file.write_text(f"tables: [{', '.join(f'{{name: {name}, base_path: {tmp_path}/{name}}}' for name in names)}]")
    watcher = Watcher(store, clock)
    watcher._looks.patience = timedelta(seconds=0.2)
    reading = read_registry(file)
    write(tables["goes_on"])
    watcher.round(reading)
    properties = tmp_path / "hangs" / ".hoodie" / "hoodie.properties"
    kept = properties.read_bytes()
    properties.unlink()
    os.mkfifo(properties)  # whoever opens it waits
    monkeypatch.setattr(rounds, "_SILENT", timedelta(seconds=0.3))
    for step in (2, 3, 4):
        write(tables["goes_on"], ts=step)
        watcher.round(reading)
        time.sleep(0.2)
    assert len(store.events()) == 3
    assert store.rounded_at() is not None
    (hangs,) = [each for each in store.fleet() if each.table == "hangs"]
    assert hangs.health == "unreadable"
    assert "goes on still" in hangs.reason
    assert len([each for each in threading.enumerate() if each.name == "look at hangs"]) == 1, (
        "one look, not one a round"
    )
    with properties.open("wb") as pipe:  # it answers at last
        pipe.write(kept)
    properties.unlink()
    properties.write_bytes(kept)
    deadline = time.monotonic() + 10
    while watcher._looks.slow(timedelta(0)) and time.monotonic() < deadline:
        time.sleep(0.01)
    watcher.round(reading)
    assert {each.table: each.reason for each in store.fleet()} == dict.fromkeys(names, "")


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
    assert told(store) == [(str(done.time), "commit")]


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


def test_a_look_that_somebody_wants_while_one_goes_on_is_made(store, table):
    write(table)
    look(entry(table), store, table.clock)
    cursor = store.cursor("orders", str(table.base_path))
    taken = snapshot("orders", str(table.base_path), look_at_table(table))
    store.look_again("orders")
    store.save(cursor, taken.summary, (), taken.body, before=cursor)
    assert store.cursor("orders", str(table.base_path)).marks == ""


def test_readers_wait_for_no_watcher(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table)
    path = str(tmp_path / "store.db")
    store = SnapshotStore.open(path, make=True)
    look(entry(table), store, table.clock)
    with store.engine.begin():  # a watcher in the middle of its look
        began = time.monotonic()
        assert [each.table for each in SnapshotStore.open(path).fleet()] == ["orders"]
        assert time.monotonic() - began < 5
    assert store.rounded_at() is None
    store.rounded(table.clock.now())
    assert SnapshotStore.open(path).rounded_at() == table.clock.now().replace(
        microsecond=store.rounded_at().microsecond
    )


def test_a_timeline_of_many_instants(store, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table)
    folder = table.storage._root / ".hoodie" / "timeline"
    (done,) = folder.glob("*.commit")
    for number in range(3000):
        first = datetime(2025, 1, 1) + timedelta(minutes=number)
        began, ended = (f"{at:%Y%m%d%H%M%S}000" for at in (first, first + timedelta(seconds=1)))
        shutil.copy(done, folder / f"{began}_{ended}.commit")
    began = time.monotonic()
    assert look(entry(table), store, table.clock) == 3001
    assert time.monotonic() - began < 20
    assert store.fleet()[0].instants == 3001
    body = store.table("orders").body
    assert (len(body["timeline"]), body["older"]) == (1000, True)


def test_stores_that_are_none(tmp_path):
    with pytest.raises(StoreError, match=r"no snapshot store at .* yet"):
        SnapshotStore.open(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at as one" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        SnapshotStore.open(str(tmp_path / "text.db"))
    with pytest.raises(StoreError, match="cannot be used") as caught:
        SnapshotStore.open("postgresql+psycopg2://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
    for url in (
        "postgresql+psycopg2://127.0.0.1:1/x?user=me&password=secret",
        "postgresql+psycopg2://me:se@secret@127.0.0.1:1/x",
        "postgresql+psycopg2://me:secret@127.0.0.1:port/x",
        "postgresql+psycopg2://me:secret@[::1/x",
    ):
        with pytest.raises(StoreError, match="cannot be used") as caught:
            SnapshotStore.open(url)
        assert "secret" not in str(caught.value)
    SnapshotStore.open(str(tmp_path / "old.db"), make=True)
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.execute("UPDATE hudi_watch SET version = 99")
    with pytest.raises(StoreError, match=r"version 99.*--rebuild"):
        SnapshotStore.open(str(tmp_path / "old.db"))
    SnapshotStore.anew(str(tmp_path / "old.db"))
    assert SnapshotStore.open(str(tmp_path / "old.db")).fleet() == []


class DiedError(Exception):
    pass


def test_killed_at_any_statement_or_call_nothing_is_missed_or_doubled(tmp_path, monkeypatch):
    """Each look dies at one step later than the one before, until one comes through; between them the table goes on."""
    table = create(tmp_path / "t", FakeClock())
    write(table)
    path = str(tmp_path / "store.db")
    store = SnapshotStore.open(path, make=True)
    look(entry(table), store, table.clock)
    done, left = [], 0

    def step(*_):
        nonlocal left
        left -= 1
        if left < 0:
            raise DiedError

    for steps in range(60):
        done.append(write(table, ts=steps))
        dying = SnapshotStore.open(path)
        event.listen(dying.engine, "before_cursor_execute", step)
        event.listen(dying.engine, "commit", step)
        left = steps
        try:
            look(entry(table), dying, table.clock)
        except DiedError:
            dying.engine.dispose()
    look(entry(table), store, table.clock)
    assert [key for key in told(store) if key[1] == "commit"] == [(str(i.time), "commit") for i in done]


def test_two_watchers_at_once(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    write(table)
    one, other = (SnapshotStore.open(str(tmp_path / "store.db"), make=True) for _ in range(2))
    look(entry(table), one, table.clock)
    done = [write(table, ts=step) for step in range(2, 8)]
    cursor = one.cursor("orders", table.base_path)
    seen = look_at_table(table)
    taken = snapshot("orders", table.base_path, seen)
    assert look(entry(table), other, table.clock) == len(done)
    again = other.events()
    assert one.save(cursor, taken.summary, again, taken.body) == 0
    assert told(one) == [(str(i.time), "commit") for i in done]


def look_at_table(table):
    return look_at(ChosenTable(table.base_path, entry(table)), table.clock)


def test_the_command(tmp_path, capsys):
    table = create(tmp_path / "t")
    write(table)
    registry = tmp_path / "tables.yaml"
    lines = [
        "tables:",
        f"  - {{name: orders, base_path: {table.base_path}}}",
        f"  - {{name: later, base_path: {tmp_path}/l}}",
    ]
    registry.write_text("\n".join(lines))
    command = ["watch", "--registry", str(registry), "--once"]
    assert main(command) == 0
    assert "looked at 2 tables, 1 instants new" in capsys.readouterr().out
    assert (tmp_path / ".watch" / "snapshots.db").is_file()
    done = write(HoodieTable.open(table.base_path), ts=2)
    assert main([*command, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["table"], told["instant"], told["operation"], told["rows_updated"]) == (
        "orders",
        done.time,
        "UPSERT",
        1,
    )
    registry.write_text("\n".join([*lines[:2], "watch: {store: elsewhere.db, every: 5}"]))
    assert main(command) == 0
    assert (tmp_path / "elsewhere.db").is_file()
    registry.write_text("\n".join([*lines[:1], *lines[2:], "watch: {store: elsewhere.db, evry: 5}"]))
    assert main(command) == 0
    assert "watch.evry" in capsys.readouterr().err
    registry.write_text("\n".join([*lines[:1], *lines[2:]]))
    assert main(command) == 0
    assert "no table orders any more" not in capsys.readouterr().err, "the file may be half written"
    with sqlite3.connect(tmp_path / ".watch" / "snapshots.db") as connection:
        connection.execute(
            "UPDATE hudi_watch_tables SET gone_at = '2026-01-01T00:00:00+00:00' WHERE gone_at IS NOT NULL"
        )
    assert main(command) == 0
    assert "no table orders any more" in capsys.readouterr().err
    assert main([*command, "--rebuild"]) == 0
    assert [each.table for each in SnapshotStore.open(str(tmp_path / ".watch" / "snapshots.db")).fleet()] == ["later"]
