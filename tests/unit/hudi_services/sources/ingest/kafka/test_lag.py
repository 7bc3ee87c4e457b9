"""Messages that tables of topics lack, by `cdc status` of a server of Kafka."""

from __future__ import annotations

import json
import socket
import time

import pytest

from hoodie.errors import SourceUnavailableError
from hudi_services.cli.program import main
from hudi_services.operations.watch import topics
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import measured_topics
from hudi_services.operations.watch.topics import TopicWatch
from hudi_services.registry.load import load_registry
from hudi_services.sources.ingest.kafka.lag import topic_lags
from tests.support.clock import FakeClock
from tests.support.orders import insert

pytestmark = pytest.mark.process


@pytest.fixture
def status(feed, tmp_path, monkeypatch, capsys):
    """Runs `cdc status` for a loaded table, one without a run, and one of a topic that is not there."""
    monkeypatch.setenv("AIRFLOW_CONN_EVENTS", feed.broker.url)
    source = "server: events, format: debezium-json"
    entry = "  - {{name: {}, base_path: {}, keys: {{record_key: id}}, source: {{{}, topic: {}}}}}\n"
    (tmp_path / "tables.yaml").write_text(
        "servers: {events: {type: kafka, connection: events, tls: 'off'}}\ntables:\n"
        + entry.format("orders", feed.table, source, feed.topic)
        + entry.format("late", tmp_path / "late", source, feed.topic)
        + entry.format("lost", tmp_path / "lost", source, "nowhere")
    )

    def run():
        code = main(["cdc", "status", "events", "--registry", str(tmp_path / "tables.yaml"), "--json"])
        answer = json.loads(capsys.readouterr().out)
        return code, {row["table"]: row for row in answer["tables"]}

    return run


def test_messages_that_wait_are_counted_and_topics_that_do_not_continue_are_errors(feed, status):
    feed.send([insert(1), insert(2)])
    feed.send([insert(3)], 1)
    feed.load()
    code, found = status()
    assert (code, found["orders"]["state"], found["orders"]["messages"]) == (1, "current", 0)
    assert found["orders"]["moved"]
    assert (found["late"]["state"], found["late"]["messages"], found["late"]["partitions"]) == ("new", 3, 2)
    assert (found["lost"]["state"], found["lost"]["messages"]) == ("stopped", None)
    assert "not there" in found["lost"]["reason"]
    feed.send([insert(number) for number in range(10, 15)], 1)
    assert [status()[1]["orders"][name] for name in ("state", "messages", "partitions")] == ["behind", 5, 1]
    feed.broker.purge(feed.topic, 1, 4)
    lost = status()[1]["orders"]
    assert (lost["state"], "were deleted before they were loaded" in lost["reason"]) == ("stopped", True)


def test_the_watcher_measures_beside_a_broker_that_accepts_and_says_nothing(feed, tmp_path, monkeypatch):
    """A deadline ends each question: the numbers of the last answer stay, and the reason comes beside them."""
    source = "{{server: events, topic: {2}, format: debezium-json}}"
    entry = f"{{{{name: {{0}}, base_path: {{1}}, keys: {{{{record_key: id}}}}, source: {source}}}}}"
    (tmp_path / "tables.yaml").write_text(
        "servers: {events: {type: kafka, connection: events, tls: 'off'}}\ntables:\n"
        f"  - {entry.format('orders', feed.table, feed.topic)}\n  - {entry.format('late', tmp_path / 'late', feed.topic)}\n"
    )
    registry, clock = load_registry(tmp_path / "tables.yaml"), FakeClock()
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    monkeypatch.setattr(topics, "_SECONDS", 0.5)

    def measured(url):
        watch = TopicWatch(store, clock, {"AIRFLOW_CONN_EVENTS": url})
        watch.round(registry)
        watch.wait(30)
        return {topic.table: (topic.state, topic.messages, topic.trouble) for topic in measured_topics(store)}

    feed.send([insert(1), insert(2)])
    feed.load()
    feed.send([insert(3)], 1)
    known = {"orders": ("behind", 1, ""), "late": ("new", 3, "")}
    assert measured(feed.broker.url) == known
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = measured(f"kafka://127.0.0.1:{silent.getsockname()[1]}")
    assert time.monotonic() - began < 10, "one question to a server is enough"
    for table, (state, messages, trouble) in found.items():
        assert (state, messages, "") == known[table]
        assert "The brokers of server events do not answer" in trouble
    assert measured(feed.broker.url) == known


def test_brokers_that_do_not_answer_are_no_state_of_a_table(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(
        "servers: {events: {type: kafka, connection: events}}\ntables: [{name: t, base_path: /t,"
        " keys: {record_key: id}, source: {server: events, topic: t, format: json}}]"
    )

    def ask(topic):
        raise SourceUnavailableError("away")

    with pytest.raises(SourceUnavailableError):
        list(topic_lags(load_registry(file).tables, "events", ask))
    assert list(topic_lags(load_registry(file).tables, "other", ask)) == []
