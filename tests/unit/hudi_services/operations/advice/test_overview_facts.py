"""Facts from the values of `show table`, also as a store of an earlier release has them."""

from __future__ import annotations

import json
from datetime import timedelta

from hoodie import COMPACTION
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.target import Target
from hudi_services.operations.advice.overview_facts import overview_facts
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import look_at
from tests.support.advice import AT_NINE, NOW
from tests.support.cli import fill
from tests.support.tables import create

SHOWN = {
    "base_path": "/lake/orders",
    "problems": [],
    "objectives": [
        {"objective": "log_ratio", "met": False, "value": 3.5, "limit": 0.5, "unit": "bytes per byte",
         "since": AT_NINE.isoformat(), "urgency": 7.0, "service": "compact"}
    ],
    "next": {"clean": {"due": True, "reason": "3 commits", "items": 2, "bytes": 10}},
    "paused": {"by": "ann", "reason": "a test", "since": AT_NINE.isoformat(), "until": None, "told": "by ann"},
    "blockers": [
        {"service": "clean", "held": "2 files", "instant": "7", "action": "savepoint", "state": "COMPLETED", "age": 60.0,
         "owner": None, "reason": "kept", "fix": "delete it"}
    ],
    "pending": [{"instant": "8", "action": "compaction", "state": "REQUESTED", "began": AT_NINE.isoformat(), "markers": None}],
    "locks": [{"path": "a.lock", "holder": None, "age": None, "alive": None}],
    "consumers": [
        {"consumer": "bi", "commits_behind": 2, "seconds_behind": 60.0, "held_until": NOW.isoformat(), "passed": False},
        {"consumer": "ml", "commits_behind": 0, "seconds_behind": 0.0, "held_until": None, "passed": False},
    ],
}  # fmt: skip


def test_ages_count_from_the_look_and_not_from_now():
    facts = overview_facts("orders", Target.of("/lake/orders", "orders"), SHOWN, NOW, looked_at=AT_NINE)
    assert [each.since for each in facts.held] == [AT_NINE - timedelta(minutes=1)]
    assert (facts.held[0].completed, facts.locks[0].since) == (True, None)
    assert [each.since for each in facts.readers] == [AT_NINE - timedelta(minutes=1), None]
    assert (facts.pause.by, facts.pause.until) == ("ann", None)
    assert (facts.objectives[0].since, facts.objectives[0].service) == (AT_NINE, "compact")
    assert facts.pending[0].since == AT_NINE


def test_work_without_the_newer_values():
    work = overview_facts("orders", Target.of("/lake/orders", "orders"), SHOWN, NOW).work["clean"]
    assert (work.noun, work.frees, work.over, work.digest, work.asked_since) == ("file", False, (), "", None)


def test_the_values_of_a_table_survive_json(tmp_path):
    table = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    fill(table)
    table.schedule(COMPACTION, {"hoodie.compact.inline.max.delta.commits": "1"})
    values = overview(look_at(ChosenTable(str(tmp_path / "orders")))).values
    target = Target.of(values["base_path"], None)
    facts = overview_facts("orders", target, values, NOW)
    assert overview_facts("orders", target, json.loads(json.dumps(values)), NOW) == facts
    assert [each.action for each in facts.pending] == ["compaction"]
