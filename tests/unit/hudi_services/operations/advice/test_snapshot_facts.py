"""Facts from the watcher's look: as old as the look, with the registry and the last runs of now."""

from __future__ import annotations

from hudi_services.operations.advice.facts import LastRun
from hudi_services.operations.advice.snapshot_facts import snapshot_facts, unseen_facts
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from tests.support.advice import AT_NINE, NOW

TABLE = table_model(ENTRIES).model_validate(
    {"name": "orders", "base_path": "/lake/orders", "clean": {"schedule": "@hourly"}}
)
LOCK = {"path": "a.lock", "holder": "process 1", "age": 60.0, "alive": True}
SHOWN = {
    "base_path": "/lake/orders",
    **{name: [] for name in ("problems", "objectives", "blockers", "pending")},
    "next": {},
}


def test_ages_are_those_of_the_look_and_starts_those_of_now():
    run = LastRun("clean", "failed", AT_NINE)
    facts = snapshot_facts(TABLE, {**SHOWN, "locks": [LOCK]}, AT_NINE, NOW, [run])
    assert facts.locks[0].since.isoformat() == "2026-03-05T08:59:00+00:00"
    assert facts.starts["clean"].text == "Airflow starts it by the schedule '@hourly', next at 13:00 UTC."
    assert (facts.runs, facts.looked[-1], facts.target.flags) == ((run,), "last runs", "--table orders")
    assert snapshot_facts(TABLE, {**SHOWN, "locks": []}, AT_NINE, NOW).looked[-1] == "objectives"


def test_a_table_that_no_look_has_read():
    facts = unseen_facts(TABLE, None, NOW)
    assert (facts.unreadable, facts.runs, facts.starts["clean"].by_itself) == (None, (), True)
