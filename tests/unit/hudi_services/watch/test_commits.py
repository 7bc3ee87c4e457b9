"""Whoever remembers how far he was told gets each commit once, also when the store was emptied in between."""

from __future__ import annotations

import json

import pytest

from hoodie import CLEAN, COMPACTION, Restore
from hudi_services.entry.table import Table
from hudi_services.watch.commits import Reached, commits_after, facts_of, from_now_on
from hudi_services.watch.follow import look
from hudi_services.watch.store import SnapshotStore
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "store.db")


@pytest.fixture
def table(tmp_path):
    return create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": "MERGE_ON_READ"})


def write(table, ts):
    return str(table.write(batch([("a", "p", ts, ts)]), "upsert", SMALL_BLOOM).instant.time)


def seen(table, store):
    look(Table(name="orders", base_path=str(table.base_path)), store, table.clock)


def told(store, reached):
    found = list(commits_after(store, "orders", reached))
    for event in found:
        reached = reached.after(event)
    return [event.instant for event in found], Reached.of(json.loads(json.dumps(reached.as_dict())))


def test_each_commit_once_and_nothing_that_changes_no_rows(table, place):
    store = SnapshotStore.open(place, make=True)
    write(table, 1)
    seen(table, store)
    reached = from_now_on(store, "orders", table.clock.now())
    assert told(store, reached)[0] == [], "it was there before"
    first = write(table, 2)
    table.schedule(COMPACTION, force=True)
    table.run(COMPACTION)
    table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
    saved = write(table, 3)
    table.savepoint(saved)
    gone = write(table, 4)
    seen(table, store)
    now, reached = told(store, reached)
    assert now == [first, saved, gone]
    table.run(Restore(saved))
    seen(table, store)
    assert "restore" in [event.action for event in commits_after(store, "orders", reached)]
    now, reached = told(store, reached)
    assert told(store, reached) == ([], reached)


def test_many_pages_of_services_in_front_of_a_commit(table, place, monkeypatch):
    monkeypatch.setattr("hudi_services.watch.commits._PAGE", 2)
    store = SnapshotStore.open(place, make=True)
    write(table, 1)
    seen(table, store)
    reached = from_now_on(store, "orders", table.clock.now())
    done = []
    for ts in range(2, 6):
        done.append(write(table, ts))
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION)
    seen(table, store)
    assert told(store, reached)[0] == done


@pytest.mark.parametrize("commits_before", [0, 3])
def test_a_store_that_was_emptied(table, place, commits_before):
    store = SnapshotStore.open(place, make=True)
    reached = from_now_on(store, "orders", table.clock.now())
    for ts in range(commits_before):
        write(table, ts)
    seen(table, store)
    reached = told(store, reached)[1] if commits_before else reached
    missed = [write(table, 10), write(table, 11)]
    store = SnapshotStore.anew(place)
    assert told(store, reached)[0] == [], "nothing was looked at yet"
    seen(table, store)
    fresh = write(table, 12)
    seen(table, store)
    now, reached = told(store, reached)
    assert now == [*missed, fresh]
    assert told(store, reached)[0] == []


def test_an_event_as_one_object(table, place):
    store = SnapshotStore.open(place, make=True)
    write(table, 1)
    seen(table, store)
    instant = write(table, 2)
    seen(table, store)
    (event,) = store.events()
    facts = json.loads(json.dumps(facts_of(event)))
    assert (facts["table"], facts["instant"], facts["operation"], facts["rows_updated"]) == (
        "orders",
        instant,
        "UPSERT",
        1,
    )
