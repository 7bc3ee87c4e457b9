"""Open troubles, by snapshots and by the runs of services."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Observation, has_more, of_table
from hudi_services.operations.alerts.evaluation import failed_runs
from hudi_services.operations.history.record import Record, Started, as_rows
from hudi_services.operations.watch.model import Summary

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
HOOKS = [{"name": "ops", "url": "https://example.org/x"}]
ALL = Alerts.model_validate(
    {
        "hooks": HOOKS,
        "unreadable": "1h",
        "objectives": "1h",
        "blockers": "1h",
        "consumers": True,
        "checks": True,
        "runs": True,
        "late": "1h",
    }
)
NONE = Alerts.model_validate({"hooks": HOOKS})
FINE = Summary("orders", "/t", "ok", NOW, last_commit=NOW - timedelta(minutes=5), instants=3)


def body(missed_since=None, age=None, state="INFLIGHT"):
    objective = {"objective": "freshness", "met": missed_since is None, "service": "ingest"}
    blocker = {
        "service": "clean",
        "instant": "1",
        "action": "commit",
        "state": state,
        "age": age,
        "reason": "it writes",
    }
    return {
        "table": {
            "objectives": [objective | {"since": missed_since.isoformat() if missed_since is not None else None}],
            "blockers": [blocker, blocker] if age is not None else [],
        }
    }


def kinds(summary, found=None, alerts=ALL, now=NOW):
    return [(each.kind, each.what) for each in of_table(alerts, summary, found or {}, now).troubles]


BROKEN = replace(FINE, health="unreadable", since=NOW - HOUR, reason="no")
GONE = replace(FINE, health="absent", since=NOW - HOUR)
CASES = {
    "unreadable": (BROKEN, {}, ("unreadable", "")),
    "gone": (GONE, {}, ("unreadable", "")),
    "damaged": (replace(FINE, health="damaged"), {}, ("damaged", "")),
    "missed": (replace(FINE, missed=("freshness",)), body(missed_since=NOW - HOUR), ("objective", "freshness")),
    "blocked": (replace(FINE, pending=1), body(age=3600.0), ("blocker", "clean 1")),
    "late": (replace(FINE, last_commit=NOW - 2 * HOUR), {}, ("late", "")),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_is_seen_where_it_is_wanted(case):
    summary, found, expected = CASES[case]
    assert kinds(summary, found) == [expected]
    assert kinds(summary, found, NONE) == []
    assert kinds(FINE, body()) == []
    assert has_more(NONE, summary) == bool(found)


@pytest.mark.parametrize("case", ["unreadable", "gone", "missed", "late"])
def test_it_is_no_trouble_before_its_time(case):
    summary, found, _ = CASES[case]
    assert kinds(summary, found, now=NOW - HOUR) == []


def test_a_blocker_gets_older_between_looks():
    summary = replace(FINE, pending=1)
    assert kinds(summary, body(age=3000.0)) == []
    assert ("blocker", "clean 1") in kinds(summary, body(age=3000.0), now=NOW + timedelta(minutes=10))
    assert kinds(summary, body(age=9000.0, state="COMPLETED")) == [], "a savepoint"


def test_a_consumer_that_services_have_passed():
    row = {"commits_behind": 3, "held_until": (NOW - HOUR).isoformat()}
    rows = [{"consumer": "slow", "passed": True, **row}, {"consumer": "fast", "passed": False, **row}]
    summary, found = replace(FINE, passed=("slow",)), {"table": {"consumers": rows}}
    assert has_more(NONE, summary)
    (passed,) = of_table(ALL, summary, found, NOW).troubles
    assert (passed.kind, passed.what, passed.since) == ("consumer", "slow", NOW - HOUR)
    assert "has not read 3 commits" in passed.text
    assert kinds(summary, found, NONE) == []
    assert not of_table(ALL, BROKEN, {}, NOW).knows(passed)


def test_nothing_is_known_of_the_contents_of_a_table_that_cannot_be_read():
    known = of_table(ALL, FINE, body(missed_since=NOW - HOUR), NOW)
    (missed,) = known.troubles
    assert known.knows(missed)
    for summary in (BROKEN, GONE):
        assert not of_table(ALL, summary, {}, NOW).knows(missed)
        assert of_table(ALL, replace(summary, table="other"), {}, NOW).knows(missed)


def test_a_table_that_is_not_there_yet_is_no_trouble_and_one_that_was_told_gone_is_not_back():
    later = replace(GONE, instants=0, last_commit=None)
    assert kinds(later) == []
    (gone,) = of_table(ALL, GONE, {}, NOW).troubles
    assert not of_table(ALL, later, {}, NOW).knows(gone), "the store was emptied"
    assert of_table(ALL, FINE, {}, NOW).knows(gone)


def test_an_instant_that_blocks_two_partitions_is_one_trouble():
    assert len(kinds(replace(FINE, pending=1), body(age=9000.0))) == 1


def run(number, service, outcome, table="orders", error=None):
    began = f"2026-01-01T00:0{number}:00+00:00"
    return Record(Started(f"r{number}", table, "/t", service, "local", began, "host"), outcome, began, error)


def test_the_last_run_of_a_service_counts():
    rows = [
        run(9, "clean", "running"),
        run(8, "clean", "failed", error="StorageError"),
        run(7, "clean", "done"),
        run(6, "compact", "done"),
        run(5, "compact", "failed"),
        run(4, "compact", "killed", table="b"),
        run(3, "ingest", "nothing to do"),
    ]
    found = list(failed_runs(as_rows(rows, NOW)))
    assert [(each.table, each.what, each.text) for each in found] == [
        ("orders", "clean", "the last run of clean failed: StorageError"),
        ("b", "compact", "the last run of compact was killed"),
    ]
    assert found[0].since == datetime(2026, 1, 1, 0, 8, tzinfo=UTC)


def test_a_trouble_is_the_same_while_its_words_change():
    (late,) = of_table(ALL, CASES["late"][0], {}, NOW).troubles
    assert replace(late, text="other", since=None).key == late.key
    assert len({replace(late, **each).key for each in ({}, {"kind": "run"}, {"table": "b"}, {"what": "b"})}) == 4
    assert Observation((late,)).knows(late)


def test_data_that_was_loaded_though_it_failed_checks():
    checks = {"instant": "1", "completed": (NOW - HOUR).isoformat(), "failed": 1, "told": "1 of 2 checks failed: rows"}
    assert has_more(ALL, FINE), "the body has them"
    (broken,) = of_table(ALL, FINE, {"table": {"checks": checks}}, NOW).troubles
    assert (broken.kind, broken.what, broken.since) == ("checks", "", NOW - HOUR)
    assert broken.text == "its newest load broke expectations: 1 of 2 checks failed: rows"
    assert kinds(FINE, {"table": {"checks": checks}}, NONE) == []
    assert kinds(FINE, {"table": {"checks": {**checks, "failed": 0}}}) == []
    assert kinds(FINE, {"table": {"checks": None}}) == []
