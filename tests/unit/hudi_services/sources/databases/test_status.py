"""How far tables of a server are: by its cut and the notes of its newest run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_services.sources.cdc.cuts import Behind, Cut, TablePlace
from hudi_services.sources.cdc.sync_progress import Loading, LogRetention, SyncProgress
from hudi_services.sources.databases.status import LoadedTable, server_status

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
NAMES = ("a", "b", "c", "d", "e")


def iso(minutes):
    return (NOW - timedelta(minutes=minutes)).isoformat()


CUT = Cut(
    7,
    "bin.000002:9",
    "",
    iso(1),
    {f"shop.{name}": TablePlace(f"/lake/{name}", "20261126115900000", "bin.000002:9") for name in "abd"},
    {"shop.c": Behind("TRUNCATE", "resume it", iso(90), True, "bin.000001:4", "", "bin.000001:4")},
)
PROGRESS = SyncProgress(
    iso(2), iso(0), None, LogRetention(3600, "bin.000001:4", iso(-30)), {"shop.e": Loading(5, 10)}, 1, 2, 7, 20
)


@pytest.fixture
def tables():
    return [LoadedTable(name, f"shop.{name}", f"/lake/{name}") for name in NAMES]


def test_each_table_has_a_state_a_place_and_a_lag(tables):
    tables = [replace(table, base_path="/moved") if table.name == "d" else table for table in tables]
    tables.append(LoadedTable("f", "shop.f", "/lake/f", "no key", "add one"))
    status = server_status("shop", tables, CUT, PROGRESS, NOW)
    assert {table.name: (table.state, table.lag) for table in status.tables} == {
        "a": ("current", 60),
        "b": ("current", 60),
        "c": ("parked", 5400),
        "d": ("new", None),
        "e": ("loading", None),
        "f": ("refused", None),
    }
    assert status.tables[0].instant == "20261126115900000"
    assert (status.tables[2].reason, status.tables[2].position) == ("TRUNCATE", "bin.000001:4")
    assert status.tables[4].loading == Loading(5, 10)
    assert (status.lag.p50, status.lag.p99, status.lag.tables) == (60, 5400, 3)
    assert (status.snapshots.tables, status.snapshots.of_tables, status.snapshots.rows) == (1, 2, 12)
    assert (status.log.seconds, status.log.position) == (1800, "bin.000001:4")


def test_a_skipped_table_says_since_when_and_is_no_lag(tables):
    tables = [replace(table, skipped=table.name in "ac") for table in tables]
    status = server_status("shop", tables, CUT, PROGRESS, NOW)
    assert [(table.state, table.position, table.since, table.reason) for table in status.tables][::2][:2] == [
        ("skipped", "", "", ""),
        ("skipped", "bin.000001:4", iso(90), ""),
    ]
    assert status.lag.p99 == 60


def test_a_table_that_is_gone_at_the_server_is_not_current(tables):
    [name, *_] = CUT.tables
    status = server_status("shop", tables, replace(CUT, dropped=(name,)), PROGRESS, NOW)
    assert [table.table for table in status.tables if table.state == "dropped"] == [name]


def test_a_run_that_ended_or_was_killed_loads_nothing(tables):
    for change in ({"ended": iso(0)}, {"noted": iso(15)}):
        status = server_status("shop", tables, CUT, replace(PROGRESS, **change), NOW)
        assert (status.running, status.snapshots, status.tables[4].state) == (None, None, "new")
        assert status.log.seconds == 1800


def test_a_server_without_a_run_has_new_tables(tables):
    status = server_status("shop", tables, None, None, NOW)
    assert {table.state for table in status.tables} == {"new"}
    assert (status.cut, status.age, status.lag, status.log) == (None, None, None, None)


def test_a_clock_behind_that_of_the_server_makes_no_lag_below_zero(tables):
    assert server_status("shop", tables, replace(CUT, time=iso(-5), behind={}), None, NOW).lag.p99 == 0
