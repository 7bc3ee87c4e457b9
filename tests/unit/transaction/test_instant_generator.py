"""Times of new instants beside instants that are dated ahead (tests/unit/view/test_future.py has whole tables)."""

from __future__ import annotations

from datetime import timedelta

from hoodie.services.rollback.service import Rollback
from hoodie.timeline import Action
from hoodie.transaction.instant_generator import new_time, undoing_time
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


def test_only_what_takes_back_passes_over_instants_ahead(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    first = table.timeline.commits[-1].time
    clock.time += timedelta(days=700)
    table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    last = table.timeline.commits[-1].time
    clock.time -= timedelta(days=699)
    assert new_time(table.state(), clock) > last > undoing_time(table.state(), clock) > first
    clock.time += timedelta(days=698, hours=12)  # clocks may differ by half a day
    assert undoing_time(table.state(), clock) > last


def test_a_clock_that_is_behind_all_keeps_the_order(tmp_path):
    """All instants look ahead: then the clock here may be the one that is wrong."""
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    for value in (1, 2):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    last = table.timeline.commits[-1].time
    clock.time -= timedelta(days=3000)
    table.run(Rollback(last))
    (rollback,) = table.timeline.completed(Action.ROLLBACK)
    assert rollback.time > last
