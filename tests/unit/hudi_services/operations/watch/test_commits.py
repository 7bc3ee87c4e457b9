"""A reader that remembers its position gets each commit once, even if the store was emptied in between."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import CLEAN, COMPACTION, Restore
from hudi_services.entry.table import Table
from hudi_services.operations.watch.commits import Reached, commits_after, facts_of, from_now_on
from hudi_services.operations.watch.model import Event
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

START = datetime(2026, 1, 1, tzinfo=UTC)


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
    monkeypatch.setattr("hudi_services.operations.watch.commits._PAGE", 2)
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


class Stored:
    """A store of some events, all of them commits: (number, instant, hour of its completion)."""

    def __init__(self, *events):
        self._events = [
            Event(number, "orders", instant, "commit", START + timedelta(hours=hour), START, True, {})
            for number, instant, hour in events
        ]

    def events(self, after, *, table, fresh, limit):
        return [event for event in self._events if event.number > after][:limit]


def test_a_commit_that_is_seen_late_is_told_after_those_that_were_complete_later():
    reached = Reached(2, "20", "commit", START + timedelta(hours=5))
    assert told(Stored((1, "10", 1), (2, "20", 5), (3, "15", 3)), reached)[0] == ["15"]
    emptied = Stored((1, "20", 5), (2, "15", 3), (3, "30", 6))
    assert told(emptied, reached)[0] == ["30"], "by completion alone"


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
