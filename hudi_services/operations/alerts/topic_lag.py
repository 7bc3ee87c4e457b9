"""Tables that are behind the topic of Kafka that they are loaded from, as the watcher measured it. No broker is asked."""

from __future__ import annotations

from datetime import datetime

from hudi_services.entry.alerts import Alerts
from hudi_services.entry.source import TopicSource
from hudi_services.operations.alerts.conditions import Observation, Trouble, joined
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, measured_topics, measurement_of
from hudi_services.registry.load import Registry


def standing_topics(alerts: Alerts, registry: Registry, store: SnapshotStore, now: datetime) -> Observation:
    """Return the tables that lack more than `messages` messages, or whose topic does not continue. Raises StoreError."""
    if alerts.messages is None:
        return Observation(())
    tables = [table for table in registry.tables if isinstance(table.source, TopicSource)]
    topics, limit = measured_topics(store, now) if tables else [], alerts.messages
    return joined(behind(table.name, measurement_of(topics, table.name, table.base_path), limit) for table in tables)


def behind(name: str, topic: MeasuredTopic | None, limit: int) -> Observation:
    """The lag of the table `name`. It is not known where the brokers did not answer, or no watcher measures it."""
    if topic is None or topic.trouble:
        return Observation((), frozenset({("topic", name)}))
    if topic.state == "stopped":
        return Observation((Trouble("topic", name, topic.topic, f"it cannot go on: {topic.reason}", None),))
    if topic.messages is not None and topic.messages > limit:
        text = f"more than {limit:,} messages of the topic {topic.topic} are not in the table"
        return Observation((Trouble("topic", name, topic.topic, text, None),))
    return Observation(())
