"""The messages that wait in the topics of tables: measured beside the rounds of a watcher, so that no broker holds up a round."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hoodie.clock import Clock
from hoodie.errors import HoodieError
from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import TopicSource
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.topic_store import MeasuredTopic, keep_topics
from hudi_services.registry.load import Registry
from hudi_services.sources.ingest.kafka.brokers import TopicState, topic_state
from hudi_services.sources.ingest.kafka.connection import client_settings
from hudi_services.sources.ingest.kafka.lag import topic_lags

EVERY = timedelta(minutes=1)
_SECONDS = 5.0  # for each of a few answers of the brokers

_log = logging.getLogger(__name__)
Ask = Callable[[Mapping[str, object], str, str], TopicState]
"""Function: asks the brokers. Settings of the client, the name of the server and the topic."""


def ask_briefly(settings: Mapping[str, object], server: str, topic: str) -> TopicState:
    """Ask the brokers, and wait a few seconds at most. Raises what `topic_state` raises."""
    return topic_state(settings, server, topic, _SECONDS)


@dataclass
class TopicWatch:
    """Measures all topics of a registry once a minute, in a thread, and keeps the results in the store.

    `environ` has the connections of the servers.
    """

    store: SnapshotStore
    clock: Clock
    environ: Mapping[str, str]
    ask: Ask = ask_briefly
    _began: datetime | None = None
    _thread: threading.Thread = field(default_factory=threading.Thread)

    def round(self, registry: Registry) -> None:
        """Begin to measure, unless that goes on or was begun less than a minute ago. It does not wait."""
        now = self.clock.now()
        recent = self._began is not None and timedelta(0) <= now - self._began < EVERY
        if recent or self._thread.is_alive() or not any(_servers(registry)):
            return
        self._began = now
        # A thread that hangs must not keep the process from its end.
        self._thread = threading.Thread(target=self._measure, args=(registry,), name="lag of topics", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the measurement that goes on, for this time at most."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _measure(self, registry: Registry) -> None:
        for name, server in _servers(registry):
            try:
                keep_topics(self.store, self._of_server(name, server, registry), self.clock.now())
            except Exception:  # noqa: BLE001 - the topics of other servers are measured
                _log.exception("The lag of the topics of server %s is measured again in a minute", name)

    def _of_server(self, name: str, server: KafkaServer, registry: Registry) -> list[MeasuredTopic]:
        """The lag of each table of the server. The reason is in all of them where the brokers do not answer."""
        try:
            settings = client_settings(server, self.environ)
            lags = list(topic_lags(registry.tables, name, lambda topic: self.ask(settings, name, topic)))
        except HoodieError as error:
            reason = f"{error.what}: {error.found}" if error.found else error.what
            tables = [(table, table.source) for table in registry.tables]
            return [
                MeasuredTopic(table.name, table.base_path, name, source.topic, trouble=reason, fix=error.fix or "")
                for table, source in tables
                if isinstance(source, TopicSource) and source.server == name
            ]
        measured_at = self.clock.now().isoformat()
        return [
            MeasuredTopic(
                lag.table,
                lag.base_path,
                name,
                lag.topic,
                measured_at,
                lag.state,
                lag.messages,
                lag.partitions,
                lag.moved,
                reason=lag.reason,
                fix=lag.fix,
            )
            for lag in lags
        ]


def _servers(registry: Registry) -> Iterator[tuple[str, KafkaServer]]:
    """The servers of Kafka that a table is loaded from."""
    used = {table.source.server for table in registry.tables if isinstance(table.source, TopicSource)}
    for name, server in registry.servers.items():
        if isinstance(server, KafkaServer) and name in used:
            yield name, server
