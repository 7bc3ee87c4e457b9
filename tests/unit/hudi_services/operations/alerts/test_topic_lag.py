"""Tables that are behind their topic, by the watcher's measurements."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hudi_services.entry.alert_rules import told_of
from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Trouble
from hudi_services.operations.alerts.topic_lag import behind, standing_topics
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, keep_topics
from hudi_services.registry.load import load_registry

NOW = datetime(2026, 11, 27, tzinfo=UTC)
HOOKS = [{"name": "ops", "url": "https://example.org/x"}]
GOOD = MeasuredTopic("orders", "/lake/orders", "events", "o", NOW.isoformat(), "behind", 101, 2)
ALERTS = Alerts.model_validate({"hooks": HOOKS, "messages": 100})


def test_more_messages_than_the_limit_and_topics_that_do_not_continue():
    (trouble,) = behind("orders", GOOD, 100).troubles
    assert (trouble.kind, trouble.table, trouble.what) == ("topic", "orders", "o")
    assert "more than 100 messages of the topic o" in trouble.text
    assert behind("orders", replace(GOOD, messages=500), 100).troubles == (trouble,), "the text does not change with it"
    assert behind("orders", replace(GOOD, messages=100), 100).troubles == ()
    stopped = replace(GOOD, state="stopped", messages=None, reason="messages were deleted")
    (trouble,) = behind("orders", stopped, 100).troubles
    assert "cannot go on: messages were deleted" in trouble.text


@pytest.mark.parametrize("topic", [None, replace(GOOD, trouble="The brokers do not answer")])
def test_nothing_is_known_while_the_brokers_do_not_answer(topic):
    found = behind("orders", topic, 100)
    assert found.troubles == ()
    assert not found.knows(Trouble("topic", "orders", "o", "", None))
    assert found.knows(Trouble("topic", "visits", "o", "", None))


def test_the_tables_of_the_registry(tmp_path):
    file = tmp_path / "tables.yaml"
    source = "keys: {record_key: id}, source: {server: events, format: json, topic: o}"
    file.write_text(
        "servers: {events: {type: kafka, connection: events}}\ntables:\n"
        f"  - {{name: orders, base_path: /lake/orders, {source}}}\n  - {{name: moved, base_path: /lake/moved, {source}}}\n"
        "  - {name: plain, base_path: /lake/plain}\n"
    )
    registry, store = load_registry(file), SnapshotStore.open(str(tmp_path / "s.db"), make=True)
    keep_topics(store, [GOOD, replace(GOOD, table="moved"), replace(GOOD, table="gone")], NOW)
    found = standing_topics(ALERTS, registry, store, NOW)
    assert [trouble.table for trouble in found.troubles] == ["orders"]
    assert found.blind == {("topic", "moved")}, "what was measured is of another table"
    assert len(standing_topics(ALERTS, registry, store, NOW + timedelta(hours=1)).blind) == 2
    assert standing_topics(ALERTS.model_copy(update={"messages": None}), registry, store, NOW).troubles == ()
    assert told_of(ALERTS, ()) == ["messages"]
