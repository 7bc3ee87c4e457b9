"""Topics are measured beside the rounds: a broker that is away holds up neither a round nor a page."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.operations.watch.topic_store import measured_topics
from hudi_services.operations.watch.topics import EVERY, TopicWatch
from hudi_services.registry.load import load_registry
from hudi_services.sources.ingest.kafka.brokers import TopicState
from tests.support.clock import FakeClock

ENVIRON = {"AIRFLOW_CONN_EVENTS": "kafka://broker:9092"}


@pytest.fixture
def registry(tmp_path):
    file = tmp_path / "tables.yaml"
    server = "{{type: kafka, connection: {}, tls: 'off'}}"
    source = "source: {{server: {2}, topic: {0}, format: json}}"
    entry = f"  - {{{{name: {{0}}, base_path: {{1}}/{{0}}, keys: {{{{record_key: id}}}}, {source}}}}}\n"
    servers = ", ".join(f"{name}: {server.format(name)}" for name in ("events", "other", "unused"))
    file.write_text(
        f"servers: {{{servers}}}\ntables:\n"
        + "".join(
            entry.format(name, tmp_path, server) for name, server in (("a", "events"), ("b", "events"), ("c", "other"))
        )
        + "  - {name: plain, base_path: /lake/plain}\n"
    )
    return load_registry(file)


def measured(store):
    return {topic.table: topic for topic in measured_topics(store)}


def test_all_topics_are_measured_once_a_minute(registry, store):
    clock, asked = FakeClock(), []

    def ask(settings, server, topic):
        asked.append((settings["bootstrap.servers"], server, topic))
        if topic == "b":
            raise SourceError("The topic b is not there", fix="create it")
        return TopicState("c", topic, None, {0: 2, 1: 0}, {0: 12, 1: 0})

    watch = TopicWatch(store, clock, ENVIRON, ask)
    watch.round(registry)
    watch.wait(20)
    found = measured(store)
    assert (found["a"].state, found["a"].messages, found["a"].partitions) == ("new", 10, 1)
    assert (found["b"].state, found["b"].messages, found["b"].reason) == ("stopped", None, "The topic b is not there")
    assert found["a"].measured_at is not None
    assert "AIRFLOW_CONN_OTHER" in found["c"].trouble, "its server is not known, and the others are measured"
    assert (found["c"].measured_at, set(found)) == (None, {"a", "b", "c"})
    assert asked == [("broker:9092", "events", "a"), ("broker:9092", "events", "b")]
    watch.round(registry)
    watch.wait(20)
    assert len(asked) == 2, "a minute has not passed"
    clock.sleep(EVERY.total_seconds() + 1)
    watch.round(registry)
    watch.wait(20)
    assert len(asked) == 4


def test_brokers_that_do_not_answer_hold_up_no_round_and_the_last_numbers_stay(registry, store):
    clock, release, calls = FakeClock(), threading.Event(), []

    def ask(_settings, _server, topic):
        calls.append(topic)
        if len(calls) > 2:
            release.wait(20)
            raise SourceUnavailableError(
                "The brokers of server events do not answer", found="refused", fix="start them"
            )
        return TopicState("c", topic, None, {0: 0}, {0: 7})

    watch = TopicWatch(store, clock, ENVIRON, ask)
    watch.round(registry)
    watch.wait(20)
    began = time.monotonic()
    for _ in range(3):
        clock.sleep(2 * EVERY.total_seconds())
        watch.round(registry)
    assert time.monotonic() - began < 5, "a round does not wait for the brokers"
    assert len(calls) == 3, "a measurement that goes on is not begun a second time"
    release.set()
    watch.wait(20)
    for topic in (measured(store)["a"], measured(store)["b"]):
        assert (topic.messages, topic.trouble, topic.fix) == (
            7,
            "The brokers of server events do not answer: refused",
            "start them",
        )
        assert topic.measured_at is not None


def test_a_registry_without_topics_starts_no_thread(store, tmp_path):
    (tmp_path / "tables.yaml").write_text("tables: [{name: plain, base_path: /lake/plain}]")
    watch = TopicWatch(store, FakeClock(), {}, lambda *_: pytest.fail("nothing is asked"))
    watch.round(load_registry(tmp_path / "tables.yaml"))
    watch.wait(1)
    assert watch._began is None


def test_a_clock_that_was_ahead_does_not_stop_it(registry, store):
    clock, asked = FakeClock(), []
    watch = TopicWatch(store, clock, ENVIRON, lambda *_: asked.append(1) or TopicState("c", "a", None, {0: 0}, {0: 0}))
    watch._began = clock.now() + timedelta(days=1)
    watch.round(registry)
    watch.wait(20)
    assert asked
