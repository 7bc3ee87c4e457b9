"""Sizes of tables over time, by the watcher's looks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hudi_services.operations.watch.model import Summary
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.trends import Point, keep_point, points

NOW = datetime(2026, 11, 23, 12, 30, tzinfo=UTC)
SEEN = Summary("t", "/lake/t", "ok", NOW, NOW - timedelta(minutes=5), rows=4, bytes=30, files=2, log_bytes=10)


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore.open(str(tmp_path / "store.db"), make=True)


def test_the_last_look_of_an_hour_is_its_point(store: SnapshotStore) -> None:
    assert points(store, "t", "/lake/t") == ("hour", ())
    for minutes, rows in ((0, 4), (20, 5), (60, 6)):
        keep_point(store, replace(SEEN, looked_at=NOW + timedelta(minutes=minutes), rows=rows))
    keep_point(store, replace(SEEN, table="other", rows=9))
    unit, found = points(store, "t", "/lake/t")
    assert (unit, [(each.begin[11:16], each.rows) for each in found]) == ("hour", [("12:00", 5), ("13:00", 6)])
    assert found[0] == Point("2026-11-23T12:00:00+00:00", 5, 30, 2, 0.5, 25 * 60.0)


def test_points_of_months_are_those_of_days_and_old_ones_go(store: SnapshotStore) -> None:
    for days in (400, 30, 1, 0):
        keep_point(store, replace(SEEN, looked_at=NOW - timedelta(days=days), rows=days))
    unit, found = points(store, "t", "/lake/t")
    assert (unit, [each.rows for each in found]) == ("day", [30, 1, 0])


def test_a_name_that_another_table_has_now_begins_again(store: SnapshotStore) -> None:
    keep_point(store, replace(SEEN, base_path="/lake/before", looked_at=NOW - timedelta(hours=1)))
    keep_point(store, SEEN)
    assert [each.begin for each in points(store, "t", "/lake/t")[1]] == ["2026-11-23T12:00:00+00:00"]


def test_a_table_without_files_or_commits_has_no_ratio(store: SnapshotStore) -> None:
    keep_point(store, Summary("t", "/lake/t", "ok", NOW))
    _, (point,) = points(store, "t", "/lake/t")
    assert (point.log_ratio, point.freshness) == (None, None)
