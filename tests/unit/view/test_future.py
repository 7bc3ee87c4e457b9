"""A table with commits that are dated years ahead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hoodie import CLEAN, HoodieTable
from hoodie.clock import SystemClock
from hoodie.errors import TimeTravelError
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
    assert shown.values["problems"] == [str(Future.of(table.timeline, table.clock.now(), UTC))]
    assert shown.values["age"] < 0
    hours = {"hoodie.clean.policy": "KEEP_LATEST_BY_HOURS", "hoodie.clean.hours.retained": 1}
    assert "2 commits dated later than now count as new" in table.explain(CLEAN, hours).reason
    with pytest.raises(TimeTravelError, match=f"ask for {first}.*clock of its writer was ahead"):
        table.read(as_of=datetime.now(UTC))
    assert table.read(as_of=first).num_rows == 1


def test_clocks_that_differ_by_hours_are_no_matter(tmp_path):
    clock = FakeClock()
    table = create(tmp_path / "t", clock)
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    for hours, none in ((14, True), (30, False)):
        assert (Future.of(table.timeline, clock.now() - timedelta(hours=hours), UTC) is None) is none


def test_ages_in_words():
    assert [ago(seconds) for seconds in (3600.0, -63158399.0, None)] == ["1 h 0 min ago", "in 730 d 23 h", ""]
