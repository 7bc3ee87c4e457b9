"""Random histories of a table and of its watcher, which is killed at any statement: each instant that remains at the end was
reported once, and no other was.
"""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from sqlalchemy import event

from hoodie import ARCHIVE, CLEAN, CLUSTERING, COMPACTION, HoodieTable, Restore, Rollback
from hoodie.errors import HoodieError
from hudi_services.entry.table import Table
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.examples import seeds
from tests.support.tables import SMALL_BLOOM, batch, create

pytestmark = pytest.mark.histories

_SHORT = {"hoodie.keep.min.commits": 2, "hoodie.keep.max.commits": 3, "hoodie.clean.commits.retained": 1}
_STEPS = ("write",) * 5 + ("clean", "archive", "compact", "plan", "roll back", "savepoint", "restore", "cluster")
_LOOKS = ("look", "look", "die", "gone")
_LEAPS = (1, 1, 60, 86_400, 50 * 86_400, 100 * 86_400)  # seconds; the store forgets what is archived after 90 days


class DiedError(Exception):
    pass


@pytest.mark.parametrize("seed", seeds(24, part=6))
def test_no_instant_is_missed_or_told_twice(tmp_path, seed):
    dice = random.Random(seed)
    options = {
        "hoodie.table.type": dice.choice(["COPY_ON_WRITE", "MERGE_ON_READ"]),
        "hoodie.write.table.version": dice.choice(["6", "9"]),
        "hoodie.table.timeline.timezone": dice.choice(["UTC", "LOCAL"]),
    }
    table, place = create(tmp_path / "t", FakeClock(), **options), str(tmp_path / "store.db")
    entry = Table(name="orders", base_path=str(tmp_path / "t"))
    if dice.random() < 0.8:
        table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    before = completed(table)
    look(entry, SnapshotStore.open(place, make=True), table.clock)
    ever, told, last = set(before), list[tuple[str, str]](), 0
    leaps = seed % 2 == 1
    for number in range(dice.randint(10, 30)):
        table.clock.sleep(dice.choice(_LEAPS) if leaps else 1)
        last = hear(place, last, told)
        step = dice.choice(_STEPS + _LOOKS)
        if step in _LOOKS:
            watch(step, entry, place, table, dice)
            continue
        with suppress(HoodieError):  # a rollback of what was archived, a plan that waits …
            change(step, table, number, dice)
        ever |= completed(table)
    store = SnapshotStore.open(place)
    look(entry, store, table.clock)
    hear(place, last, told)
    assert len(told) == len(set(told))
    assert set(told) <= ever - before
    assert completed(table) - before <= set(told)


def hear(place, last, told):
    """Append the new events of the store; returns the number of the last event."""
    for each in SnapshotStore.open(place).events(last, limit=10_000):
        told.append((each.instant, each.action))
        last = each.number
    return last


def completed(table):
    """All instants that remain, archived ones too."""
    state = HoodieTable.open(table.base_path, clock=table.clock).state()
    found = (*state.timeline.instants, *state.archive.instants())
    return {(str(each.time), str(each.action)) for each in found if each.is_completed}


def change(step, table, number, dice):
    match step:
        case "write":
            rows = batch([(dice.choice("abcd"), dice.choice("pq"), number + 2, number)])
            table.write(rows, dice.choice(["upsert", "upsert", "delete", "insert_overwrite"]), SMALL_BLOOM)
        case "clean":
            table.run(CLEAN, {"hoodie.clean.commits.retained": 1})
        case "archive":
            table.run(ARCHIVE, _SHORT)
        case "plan":
            table.schedule(dice.choice([COMPACTION, CLUSTERING]), force=True)
        case "compact" | "cluster":
            service = COMPACTION if step == "compact" else CLUSTERING
            table.schedule(service, force=True)
            table.run(service)
        case "roll back":
            table.run(Rollback(table.timeline.commits[-1].time if table.timeline.commits else "20260101000000000"))
        case "savepoint":
            table.savepoint()
        case "restore":
            for saved in table.savepoints()[-1:]:
                restore = Restore(saved.instant)
                table.run(restore.agreed(table.explain(restore)))


def watch(step, entry, place, table, dice):
    store = SnapshotStore.open(place)
    if step == "gone":
        folder = table.storage._root
        folder.rename(folder.with_name("away"))
        look(entry, store, table.clock)
        folder.with_name("away").rename(folder)
    elif step == "die":
        left = dice.randint(0, 12)

        def count(*_):
            nonlocal left
            left -= 1
            if left < 0:
                raise DiedError

        event.listen(store.engine, "before_cursor_execute", count)
        event.listen(store.engine, "commit", count)
        try:
            look(entry, store, table.clock)
        except DiedError:
            store.engine.dispose()
    else:
        look(entry, store, table.clock)
