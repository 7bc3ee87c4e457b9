"""Gauges of the topics of tables for Prometheus: taken from the store at each scrape. No broker is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hoodie.clock import Clock
from hoodie.errors import StoreError
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, measured_topics

_LABELS = ["table", "server", "topic"]

_log = logging.getLogger(__name__)


class TopicCollector(Collector):
    """All tables of topics that a watcher measures. One whose brokers do not answer is the gauge `hudi_topic_up` of 0 alone."""

    def __init__(self, store: SnapshotStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily("hudi_topic_up", "1 if the brokers answered at the last try.", labels=_LABELS)
        messages = GaugeMetricFamily(
            "hudi_topic_messages", "Messages that the table does not have, at most.", labels=_LABELS
        )
        stopped = GaugeMetricFamily(
            "hudi_topic_stopped", "1 if the topic does not continue where the table is.", labels=_LABELS
        )
        for topic in self._topics():
            labels = [topic.table, topic.server, topic.topic]
            up.add_metric(labels, 0 if topic.trouble else 1)
            if topic.trouble:
                continue
            stopped.add_metric(labels, 1 if topic.state == "stopped" else 0)
            if topic.messages is not None:
                messages.add_metric(labels, topic.messages)
        return [up, messages, stopped]

    def _topics(self) -> list[MeasuredTopic]:
        try:
            return measured_topics(self._store, self._clock.now())
        except StoreError as error:  # `hudi_store_up` is 0
            _log.warning("%s", error)
            return []
