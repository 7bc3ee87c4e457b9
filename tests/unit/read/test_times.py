"""Moments that a reader asks for, as instants of a table whose times are local."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import HoodieTable
from hoodie.errors import TimeTravelError
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

LOCAL = "hoodie.table.timeline.timezone"


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def written(path: str, first: datetime, version: str = "9") -> HoodieTable:
    """Three commits, half an hour apart."""
    clock = FakeClock(first)
    table = create(path, clock, **{LOCAL: "LOCAL", "hoodie.write.table.version": version})
    for value in range(3):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
        clock.sleep(1800)
    return table


@pytest.mark.parametrize("version", ["9", "6"])
@pytest.mark.parametrize(("month", "hour"), [(1, "13"), (7, "14")])
def test_local_times_of_summer_and_winter(tmp_path, month: int, hour: str, version: str) -> None:
    """As Hudi has them. The offset of today says nothing of them."""
    first = datetime(2026, month, 1, 12, tzinfo=UTC)
    table = written(tmp_path, first, version)
    assert str(table.timeline.commits[0].time).startswith(f"20260{month}01{hour}")
    asked = first + timedelta(minutes=45)
    assert content(table, as_of=asked) == content(table, as_of=asked.isoformat()) == {"a": ("p", 1, 1)}
    assert table.read_incremental(asked)["value"].to_pylist() == [2]


def test_the_hour_that_comes_twice_is_refused(tmp_path) -> None:
    """The instants from 2:00 on are of the first one or of the second."""
    table = written(tmp_path, datetime(2026, 10, 25, 0, 10, tzinfo=UTC))
    told = r"local times .*2026-10-25 02:20 comes twice.*instant"
    for asked in ("2026-10-25T00:20:00Z", "2026-10-25T01:20:00Z"):
        with pytest.raises(TimeTravelError, match=told):
            table.read(as_of=asked)
        with pytest.raises(TimeTravelError, match=told):
            table.read_incremental(asked)
    assert content(table, as_of="2026-10-25T02:00:00Z") == {"a": ("p", 2, 2)}
    assert content(table, as_of=str(table.timeline.commits[0].time)) == {"a": ("p", 0, 0)}
    times = [instant.time for instant in table.timeline.commits]
    assert times == sorted(times)


def test_an_instant_follows_the_last_millisecond_before_clocks_go_back(tmp_path) -> None:
    clock = FakeClock(datetime(2026, 10, 25, 0, 59, 59, 998_000, tzinfo=UTC))
    table = create(tmp_path, clock, **{LOCAL: "LOCAL"})
    for value in range(3):
        table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)
    times = [time for each in table.timeline.commits for time in (each.time, each.completion_time)]
    assert times == sorted({*times})
    assert content(table) == {"a": ("p", 2, 2)}
