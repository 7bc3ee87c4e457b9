"""Gauges of topics."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hudi_services.operations.watch.topic_metrics import TopicCollector
from hudi_services.operations.watch.topic_store import MeasuredTopic, keep_topics
from tests.support.clock import FakeClock


def gauges(store, clock):
    """Values by metric and table."""
    return {
        (sample.name.removeprefix("hudi_topic_"), sample.labels["table"]): sample.value
        for family in TopicCollector(store, clock).collect()
        for sample in family.samples
    }


def test_each_table_has_its_lag_and_one_of_brokers_that_are_away_is_down(store):
    clock = FakeClock()
    assert gauges(store, clock) == {}
    good = MeasuredTopic("orders", "/lake/orders", "events", "o", clock.now().isoformat(), "behind", 5, 2)
    stopped = replace(good, table="lost", state="stopped", messages=None)
    away = replace(good, table="far", trouble="The brokers of server events do not answer")
    keep_topics(store, [good, stopped, away], clock.now())
    expected = {("up", "orders"): 1, ("messages", "orders"): 5, ("stopped", "orders"): 0}
    expected |= {("up", "lost"): 1, ("stopped", "lost"): 1, ("up", "far"): 0}
    assert gauges(store, clock) == expected
    clock.sleep(timedelta(hours=1).total_seconds())
    assert gauges(store, clock) == {}, "no watcher measures any more"


def test_a_store_that_is_away_has_no_topics(store, tmp_path):
    store.close()
    (tmp_path / "watch" / "store.db").write_text("no database")
    assert gauges(store, FakeClock()) == {}
