"""Writers that do not agree: on how they share the table, on the time zone; and storages that refuse a call."""

from __future__ import annotations

import time

import pytest

from hoodie import CLEAN, COMPACTION, Restore, Rollback
from hoodie.errors import ConfigError, HoodieError, PendingInstantError, WriteConflictError
from hoodie.storage import LocalStorage, walk_files
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeat
from hoodie.transaction.locks import table_lock, verify_held
from tests.support.clock import FakeClock
from tests.support.faulty import FaultyStorage
from tests.support.locks import NO_WAIT
from tests.support.rivals import OCC, QuickClock, Rival, shared
from tests.support.tables import SMALL_BLOOM, batch, content, create
from tests.support.waiting import until

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
ZONES = ("Asia/Tokyo", "America/New_York")


def begun(path, *rows):
    return Rival(path, lambda table: table.write(batch(rows), "upsert", APART)).begin()


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.write(batch([("b", "q", 3, 3)]), "upsert", SMALL_BLOOM),
        lambda table: table.write(batch([("b", "q", 3, 3)]), "delete", SMALL_BLOOM),
        lambda table: table.write(batch([("n", "n", 3, 3)]), "bulk_insert", SMALL_BLOOM),
        lambda table: table.run(CLEAN),
        lambda table: table.schedule(COMPACTION, force=True),
        lambda table: table.run(Restore(table.savepoints()[0].instant)),
        lambda table: table.run(Rollback(table.timeline.commits[-1].time)),
    ],
    ids=["upsert", "delete", "bulk_insert", "clean", "compaction", "restore", "rollback"],
)
def test_whoever_is_not_told_of_other_writers_is_refused_beside_one(tmp_path, change):
    table = create(tmp_path, QuickClock(), **{"hoodie.table.type": "MERGE_ON_READ"})
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    table.savepoint()
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    writer = begun(tmp_path, ("a", "p", 3, 3))
    files = {file.path for file in walk_files(table.storage, "")}
    with pytest.raises(PendingInstantError, match=r"set hoodie\.write\.concurrency\.mode=optimistic"):
        change(shared(tmp_path))
    assert {file.path for file in walk_files(table.storage, "")} == files
    assert writer.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 1, 1)}


@pytest.fixture
def zone(monkeypatch):
    """Sets the time zone of this process."""

    def chosen(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield chosen
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize("zones", [ZONES, ZONES[::-1]], ids=["back", "forth"])
def test_writers_in_other_time_zones_find_their_conflicts(tmp_path, zone, zones, version):
    """A later writer may be hours behind in local times: instants stay in order, and no clock decides the first."""
    options = {"hoodie.table.timeline.timezone": "LOCAL", "hoodie.write.table.version": version}
    zone(zones[0])
    table = create(tmp_path, QuickClock(), **options)
    table.write(batch([("a", "p", 1, 1), ("b", "q", 1, 1)]), "insert", SMALL_BLOOM)
    loses, stands = begun(tmp_path, ("a", "p", 2, 2)), begun(tmp_path, ("b", "q", 2, 2))
    zone(zones[1])
    shared(tmp_path).write(batch([("a", "p", 3, 3), ("x", "p", 3, 3)]), "upsert", APART)
    assert isinstance(loses.finish(), WriteConflictError)
    assert stands.finish() is None
    assert content(table) == {"a": ("p", 3, 3), "b": ("q", 2, 2), "x": ("p", 3, 3)}
    times = [instant.time for instant in table.timeline.commits]
    assert len({*times}) == len(times) == 3


def test_a_writer_that_says_another_zone_than_the_table_is_refused(tmp_path):
    table = create(tmp_path)
    with pytest.raises(ConfigError, match=r"timeline\.timezone"):
        table.write(batch([("a", "p", 1, 1)]), "insert", {**SMALL_BLOOM, "hoodie.table.timeline.timezone": "LOCAL"})
    assert len(table.timeline) == 0


@pytest.mark.parametrize("kind", ["full", "denied"])
def test_a_refused_call_leaves_no_lock_of_somebody(tmp_path, kind):
    """A disk that is full, or a missing permission, at each call of taking, looking at and giving back the lock."""
    for fail_at in range(1, 20):
        path, clock = tmp_path / f"{fail_at}", FakeClock()
        storage = FaultyStorage(path, fail_at, kind)
        try:
            with table_lock(storage, clock, "upsert", NO_WAIT):
                verify_held()
        except (OSError, HoodieError):
            pass
        if storage.calls < fail_at:
            assert fail_at > 3
            return
        with table_lock(LocalStorage(str(path)), clock, "clean", NO_WAIT):
            pass


@pytest.mark.parametrize("kind", ["full", "denied"])
def test_a_heartbeat_that_cannot_be_written_begins_nothing_and_misses_are_made_good(tmp_path, kind):
    create(tmp_path).write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    storage = FaultyStorage(tmp_path, 1, kind)
    with pytest.raises(OSError, match=r"No space left|Permission denied"):
        Heartbeat(storage, "20260101000000000", ConcurrencyOptions(True, 10, 2)).start()
    storage = FaultyStorage(tmp_path, 2, kind)
    heartbeat = Heartbeat(storage, "20260101000000000", ConcurrencyOptions(True, 10, 500))
    heartbeat.start()
    until(lambda: storage.calls >= 4, lambda: "it beats again after a beat that failed")
    assert not heartbeat.expired
    heartbeat.end()
    assert storage.list(".hoodie/.heartbeat").files == ()
