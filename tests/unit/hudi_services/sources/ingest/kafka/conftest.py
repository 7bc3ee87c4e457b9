"""One broker of Kafka for all tests of this folder. Topics of their own keep tests apart."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.sources.cdc.messages.messages import MessageFormat, message_format
from hudi_services.sources.ingest.kafka.source import TopicSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.rounds import Pace, Rounds
from hudi_services.sources.ingest.run import run_ingest
from tests.support.kafka import Kafka, start_broker
from tests.support.tables import SMALL_BLOOM

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def broker():
    broker = start_broker()
    yield broker
    broker.stop()


@dataclass
class Feed:
    """A topic, and the table that is loaded from it."""

    broker: Kafka
    topic: str
    table: Path
    options: dict[str, Any] = field(default_factory=dict)
    format: MessageFormat | None = None

    def send(self, messages, partition=0, **more):
        self.broker.send(self.topic, messages, partition, **more)

    def source(self, **more) -> TopicSource:
        settings = {"bootstrap.servers": self.broker.brokers}
        format_ = self.format or message_format("debezium-json", table=more.get("table"))
        return TopicSource("events", self.topic, settings, format_, **more)

    def request(self, *, start_fresh=False, max_bad_share=0.0, **of_source):
        options = {"hoodie.table.name": "orders", "hoodie.table.recordkey.fields": "id", **SMALL_BLOOM, **self.options}
        return IngestRequest(
            str(self.table),
            self.source(**of_source),
            start_fresh=start_fresh,
            max_bad_share=max_bad_share,
            options=options,
        )

    def batch(self, **more):
        """Load one batch."""
        return run_ingest(self.request(**more), LocalEngine(2))

    def load(self, **more):
        """Load all that the topic has."""
        return Rounds("ingest", self.request(**more), Pace(), lambda _line: None).run(LocalEngine(2))

    @property
    def rows(self):
        """The names of orders by their ids."""
        rows = HoodieTable.open(str(self.table)).read(columns=["id", "name"])
        return dict(sorted(zip(rows["id"].to_pylist(), rows["name"].to_pylist(), strict=True)))

    @property
    def commits(self):
        return len(HoodieTable.open(str(self.table)).timeline.commits)

    @property
    def quarantined(self):
        import json

        lines = [
            line
            for path in sorted(Path(f"{self.table}.quarantine").rglob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        return [json.loads(line) for line in lines]


@pytest.fixture
def feed(broker, tmp_path):
    feed = Feed(broker, f"orders-{next(_NUMBERS)}", tmp_path / "orders")
    broker.create(feed.topic, 2)
    return feed
