"""The store on PostgreSQL, which watchers of several machines share with the pages of Airflow."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from hoodie import HoodieTable
from hoodie.errors import StoreError
from hudi_services.entry.table import Table
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.ledger import Delivery
from hudi_services.operations.alerts.store import AlertStore
from hudi_services.operations.watch.store import GRACE, SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.postgres import PostgreSQL
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.support.waiting import until

pytestmark = pytest.mark.process

TABLES, COMMITS = 4, 5


@pytest.fixture(scope="module")
def server():
    server = PostgreSQL()
    yield server
    server.stop()


@pytest.fixture
def store(server):
    return SnapshotStore.anew(server.url)


def write(table, number):
    table.write(batch([("a", "p", number, number)]), "upsert", SMALL_BLOOM)


def test_a_look_and_its_events(server, store, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    orders = Table(name="o" * 200, base_path=str(tmp_path / "t"))
    write(table, 1)
    look(orders, store, table.clock)
    assert "word" not in store.shown
    write(table, 2)
    again = SnapshotStore.open(server.url)
    assert look(orders, again, table.clock) == 1
    assert look(orders, store, table.clock) == 0
    assert [each.action for each in again.newest(orders.name)] == ["commit", "commit"]
    found = again.table(orders.name)
    assert (found.summary.health, found.summary.rows) == ("ok", 1)
    assert again.forget({}, table.clock.now()) == []
    table.clock.sleep(GRACE.total_seconds())
    assert again.forget({}, table.clock.now()) == [orders.name]
    assert (again.fleet(), again.events(fresh=False)) == ([], [])


def test_two_watchers_at_once_and_who_goes_by_numbers(server, store, tmp_path):
    """Commits of the database are held up at random: a number is seen only after all that are smaller."""
    tables = [create(tmp_path / f"t{number}", FakeClock()) for number in range(TABLES)]
    entries = [Table(name=f"t{number}", base_path=table.base_path) for number, table in enumerate(tables)]
    for entry, table in zip(entries, tables, strict=True):
        look(entry, store, table.clock)
    done, told = threading.Event(), []

    def watch(seed):
        mine, dice = SnapshotStore.open(server.url), random.Random(seed)
        event.listen(mine.engine, "commit", lambda _: time.sleep(dice.choice([0, 0, 0.05])))
        while not done.is_set():
            for entry, table in dice.sample([*zip(entries, tables, strict=True)], TABLES):
                look(entry, mine, table.clock)

    def read():
        mine, last = SnapshotStore.open(server.url), 0
        while True:
            ends = done.is_set()
            for each in mine.events(last):
                told.append((each.table, each.instant))
                last = each.number
            if ends:
                return

    reader = threading.Thread(target=read)
    watchers = [threading.Thread(target=watch, args=(seed,)) for seed in range(4)]
    for thread in (*watchers, reader):
        thread.start()
    for number in range(COMMITS):
        for table in tables:
            write(HoodieTable.open(table.base_path, clock=table.clock), number)
    until(lambda: len(store.events()) == TABLES * COMMITS)
    done.set()
    for thread in (*watchers, reader):
        thread.join()
    wanted = [(f"t{number}", str(i.time)) for number, table in enumerate(tables) for i in table.timeline.commits]
    assert sorted(told) == sorted(wanted)


def test_a_server_that_goes_and_comes_back(server, store, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    orders = Table(name="orders", base_path=str(tmp_path / "t"))
    look(orders, store, table.clock)
    write(table, 1)
    server.stop(keep=True)
    with pytest.raises(StoreError, match=r"postgresql\+psycopg2://127\.0\.0\.1:\d+/postgres ") as told:
        look(orders, store, table.clock)
    assert "word" not in str(told.value)
    server.start()
    until(lambda: looked(orders, store, table) == 1)
    assert [each.action for each in store.events()] == ["commit"]


def test_a_store_of_another_release(server, store):
    with store.engine.begin() as connection:
        connection.execute(sa.text("update hudi_watch set version = 99"))
    with pytest.raises(StoreError, match="another version"):
        SnapshotStore.open(server.url, make=True)


def test_what_alerts_have_told(server, store):
    now, later = datetime(2026, 11, 23, tzinfo=UTC), timedelta(minutes=5)
    kept = AlertStore.open(store)
    rows = [
        Delivery("chat", Trouble("run", "orders", what, "it failed: \x00\ud800 '\"", now), now)
        for what in ("clean", "ingest")
    ]
    kept.save(rows)
    kept.save([replace(rows[0], told_at=now)], rows[1:])
    again = AlertStore.open(SnapshotStore.open(server.url))
    assert again.rows() == [replace(rows[0], told_at=now)]
    assert kept.claim("one", now, later)
    assert not again.claim("other", now, later)
    assert again.claim("other", now + later, later)


def test_a_driver_that_is_not_there(server):
    with pytest.raises(StoreError, match=r"needs a driver that is not installed.*name another in the URL"):
        SnapshotStore.open(server.url.replace("psycopg2", "pg8000"))


def looked(entry, store, table):
    try:
        return look(entry, store, table.clock)
    except StoreError:  # the connections of before
        return None
