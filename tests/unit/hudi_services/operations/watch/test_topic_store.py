"""Measurements of topics in the watcher's store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hudi_services.operations.watch.topic_store import KEPT, MeasuredTopic, keep_topics, measured_topic, measured_topics

NOW = datetime(2026, 11, 27, tzinfo=UTC)
GOOD = MeasuredTopic("orders", "/lake/orders", "events", "orders", NOW.isoformat(), "behind", 5, 2, "2026-11-26")
FAILED = MeasuredTopic("orders", "/lake/orders", "events", "orders", trouble="away", fix="start it")


def test_a_store_without_measurements(store):
    assert measured_topics(store) == []
    assert measured_topic(store, "orders", "/lake/orders") is None


def test_a_try_that_failed_keeps_the_numbers_of_the_last_good_one(store):
    keep_topics(store, [FAILED], NOW)
    assert measured_topics(store) == [FAILED]
    keep_topics(store, [GOOD], NOW)
    assert measured_topics(store) == [GOOD]
    keep_topics(store, [FAILED], NOW)
    assert measured_topics(store) == [replace(GOOD, trouble="away", fix="start it")]
    other = replace(FAILED, topic="other")
    keep_topics(store, [other], NOW)
    assert measured_topics(store) == [other], "numbers of another topic say nothing"


def test_a_table_that_lies_elsewhere_has_no_measurement_yet(store):
    keep_topics(store, [GOOD], NOW)
    assert measured_topic(store, "orders", "/lake/orders/") == GOOD
    assert measured_topic(store, "orders", "/lake/new") is None


def test_measurements_that_no_watcher_makes_any_more_go(store):
    keep_topics(store, [GOOD], NOW)
    later = NOW + KEPT + timedelta(seconds=1)
    assert measured_topics(store, NOW + KEPT) == [GOOD]
    assert (measured_topics(store, later), measured_topics(store)) == ([], [GOOD])
    keep_topics(store, [replace(GOOD, table="visits")], later)
    assert [topic.table for topic in measured_topics(store)] == ["visits"]
