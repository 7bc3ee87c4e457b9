"""A topic without a broker: its messages, loaded into a table as those of brokers are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.sources.cdc.messages.contract import MessageFormat
from hudi_services.sources.ingest.kafka.brokers import TopicState
from hudi_services.sources.ingest.kafka.consumer import PartitionMessages
from hudi_services.sources.ingest.kafka.order import Ordered, in_order
from hudi_services.sources.ingest.kafka.source import TopicSource
from hudi_services.sources.ingest.request import IngestRequest
from hudi_services.sources.ingest.run import run_ingest
from tests.support.tables import SMALL_BLOOM

Message = tuple[bytes | None, bytes | None]
"""Key and value."""


@dataclass(frozen=True)
class StillTopic(TopicSource):
    """A topic of one partition that has these messages."""

    messages: Sequence[Message] = ()

    def _state(self) -> TopicState:
        return TopicState("cluster", self.topic, "id", {0: 0}, {0: len(self.messages)})

    def _read(self, ranges: Sequence[Any]) -> Ordered:
        read = []
        for range_ in ranges:
            found = PartitionMessages(range_, end=range_.end, whole=range_.end == len(self.messages))
            for offset in range(range_.place.next, range_.end):
                key, value = self.messages[offset]
                found.offsets.append(offset)
                found.timestamps.append(offset)
                found.epochs.append(0)
                found.keys.append(key)
                found.values.append(value)
            read.append(found)
        return in_order(read)


@dataclass
class TopicTable:
    """A topic, and the table at `path` that is loaded from it."""

    path: Path
    format: MessageFormat
    options: dict[str, Any] = field(default_factory=dict)
    are_rows: bool = False
    of_source: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)

    def load(self, *messages: Message | bytes, max_bad_share: float = 0.0) -> Any:
        """Send messages, and load what is new."""
        self.messages += [message if isinstance(message, tuple) else (None, message) for message in messages]
        source = StillTopic(
            "events", "orders", {}, self.format, are_rows=self.are_rows, messages=tuple(self.messages), **self.of_source
        )
        created = {"hoodie.table.name": "orders", "hoodie.table.recordkey.fields": "id", **SMALL_BLOOM, **self.options}
        request = IngestRequest(str(self.path), source, max_bad_share=max_bad_share, options=created)
        return run_ingest(request, LocalEngine(2))

    @property
    def table(self) -> HoodieTable:
        """The table as it is now."""
        return HoodieTable.open(str(self.path))

    def column(self, name: str) -> dict[Any, Any]:
        """The values of a column by the ids of rows."""
        rows = self.table.read(columns=["id", name])
        return dict(sorted(zip(rows["id"].to_pylist(), rows[name].to_pylist(), strict=True)))

    @property
    def quarantined(self) -> list[dict[str, Any]]:
        """The lines of the quarantine."""
        folder = Path(f"{self.path}.quarantine")
        return [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()]
