"""Advice as alerts: damage and missed objectives, once each, and not beside another condition that says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.advice import advised, standing_advice
from hudi_services.operations.watch.model import Snapshot, Summary
from hudi_services.registry.load import load_registry

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
HOOKS = [{"name": "ops", "url": "https://example.org/x"}]
SUMMARY = Summary("orders", "/lake/orders", "missed", NOW, missed=("log_ratio",), severity="missed", instants=3)
MISSED = {
    "objective": "log_ratio",
    "met": False,
    "value": 3.5,
    "limit": 0.5,
    "unit": "bytes per byte",
    "since": (NOW - timedelta(hours=1)).isoformat(),
    "urgency": 7.0,
    "service": "compact",
}
WORK = {"due": True, "reason": "5 delta commits", "items": 8, "bytes": 2048}
SHOWN = {
    "base_path": "/lake/orders",
    "problems": ["File p/a.parquet is missing. To do: look at it."],
    "objectives": [MISSED],
    "next": {"compact": WORK, "clean": {**WORK, "reason": "9 commits"}},
    **{name: [] for name in ("blockers", "pending", "locks")},
}


def registry(folder):
    file = folder / "tables.yaml"
    file.write_text(json.dumps({"tables": [{"name": "orders", "base_path": "/lake/orders", "type": "MERGE_ON_READ"}]}))
    return load_registry(file)


def alerts(folder, shown=SHOWN, summary=SUMMARY, **wanted):
    """Kind, name and text of each alert."""
    said = Alerts.model_validate({"hooks": HOOKS, "advice": True, **wanted})
    table = registry(folder).table("orders")
    found = advised(said, table, summary, Snapshot(summary, {"table": shown}), NOW)
    return [(each.kind, each.what, each.text) for each in found.troubles]


def test_damage_and_missed_objectives_are_reported_with_their_fix_and_due_work_is_not(tmp_path):
    damage, missed = alerts(tmp_path)
    assert damage == (
        "advice",
        "problem File p/a.parquet is missing.",
        "File p/a.parquet is missing. Fix: hudi-services doctor --table orders",
    )
    assert missed == (
        "advice",
        "objective log_ratio",
        "Reads merge 3.5 bytes of logs per byte of data (limit 0.5). Nothing starts it: neither compact.schedule nor "
        "compact.after_ingests is set. Fix: hudi-services compact --table orders",
    )


def test_a_fix_that_is_not_the_first_choice_comes_after_it(tmp_path):
    finding = {
        "check": "missing-file",
        "title": "a file is missing",
        "detail": "",
        "remedy": "restore it from a backup. Without one: `hudi-services rollback --instant 1`",
        "fixable": False,
        "grave": True,
    }
    shown = {**SHOWN, "findings": [finding]}
    texts = [text for _, _, text in alerts(tmp_path, shown=shown)]
    fix = "Fix: Restore it from a backup. Without one: hudi-services rollback --instant 1 --table orders"
    assert [text for text in texts if text.startswith("A file is missing")] == [f"A file is missing. {fix}"]
    finding["remedy"] += ", by which rows are lost"
    texts = [text for _, _, text in alerts(tmp_path, shown=shown)]
    assert f"A file is missing. {fix}, by which rows are lost." in texts


def test_another_condition_that_reports_the_same_goes_first(tmp_path):
    assert [what for _, what, _ in alerts(tmp_path, objectives="1h")] == ["problem File p/a.parquet is missing."]
    assert [what for _, what, _ in alerts(tmp_path, unreadable="1h")] == ["objective log_ratio"]
    assert alerts(tmp_path, {**SHOWN, "problems": [], "objectives": [{**MISSED, "met": True}]}) == []


def test_a_table_that_cannot_be_read_keeps_the_alerts_of_before(tmp_path):
    broken = replace(SUMMARY, health="unreadable", reason="It is torn.", since=NOW, severity="")
    assert alerts(tmp_path, summary=broken) == [
        ("advice", "unreadable", "it cannot be read: It is torn. Fix: hudi-services doctor --table orders")
    ]
    error = {"title": "The storage does not answer", "fix": "", "cause": "", "obstacle": "storage", "command": ""}
    [(_, _, silent)] = alerts(tmp_path, summary=replace(broken, error=error))
    assert silent.endswith("Fix: hudi-services show table --table orders")
    said = Alerts.model_validate({"hooks": HOOKS, "advice": True, "unreadable": "1h"})
    found = advised(said, registry(tmp_path).table("orders"), broken, None, NOW)
    assert (found.troubles, found.blind) == ((), frozenset({("advice", "orders")}))
    assert alerts(tmp_path, summary=replace(broken, health="absent", instants=0)) == []


def test_nothing_is_read_where_the_registry_does_not_ask_or_no_table_has_such_advice(tmp_path):
    asked = []

    class Store:
        def fleet(self):
            return [SUMMARY, replace(SUMMARY, table="gone"), replace(SUMMARY, missed=(), severity="due")]

        def table(self, name):
            asked.append(name)
            return Snapshot(SUMMARY, {"table": SHOWN})

    silent = Alerts.model_validate({"hooks": HOOKS})
    assert standing_advice(silent, registry(tmp_path), Store(), NOW).troubles == ()
    assert asked == []
    wanted = Alerts.model_validate({"hooks": HOOKS, "advice": True})
    assert len(standing_advice(wanted, registry(tmp_path), Store(), NOW).troubles) == 2
    assert asked == ["orders"]
