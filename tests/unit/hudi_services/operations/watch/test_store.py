"""The snapshot store: readers and two watchers at once, a death at any statement, files that are no store."""

from __future__ import annotations

import sqlite3
import time

import pytest
from sqlalchemy import event

from hoodie.errors import StoreError
from hudi_services.operations.watch.snapshot import snapshot
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.matrix import DEEP
from tests.support.tables import create
from tests.support.watched import entry, look_at_table, reported, write


def test_a_look_that_somebody_wants_while_one_goes_on_is_made(store, table):
    write(table)
    look(entry(table), store, table.clock)
    cursor = store.cursor("orders", str(table.base_path))
    taken = snapshot("orders", str(table.base_path), look_at_table(table))
    store.look_again("orders")
    store.save(cursor, taken.summary, (), taken.body, before=cursor)
    assert store.cursor("orders", str(table.base_path)).marks == ""
    assert store.cursor("orders", f"{table.base_path}/x/..//").marks == "", "another spelling of the same place"


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

    for steps in range(0, 60, 1 if DEEP else 2):
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
    assert [key for key in reported(store) if key[1] == "commit"] == [(str(i.time), "commit") for i in done]


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
    assert reported(one) == [(str(i.time), "commit") for i in done]
