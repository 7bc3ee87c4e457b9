"""A topic of Kafka as a source: its messages once, by offsets that the commits of the table remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from hoodie.clock import Clock, SystemClock
from hoodie.errors import ConfigError, CorruptTableError
from hudi_services.entry.source import MAX_MESSAGES
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
from hudi_services.sources.cdc.messages.contract import MessageFormat, Statement
from hudi_services.sources.ingest.kafka.batch import TopicBatch
from hudi_services.sources.ingest.kafka.brokers import TopicState, topic_state
from hudi_services.sources.ingest.kafka.consumer import RangeReader
from hudi_services.sources.ingest.kafka.order import Ordered, in_order
from hudi_services.sources.ingest.kafka.position import KEY, Place, TopicPosition
from hudi_services.sources.ingest.kafka.ranges import Range, checked_places, first_places, planned_ranges
from hudi_services.sources.ingest.kafka.statements import stopping
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.positions import Position, Since

_IDLE = timedelta(hours=1)
"""The time after which a table moves its position even if its topic had only messages of other tables."""


@dataclass(frozen=True)
class TopicSource:
    """The `topic` of the Kafka server `server`, by the client's `settings`. If it has several tables, only `table` counts.

    Its messages are changes, or rows (`are_rows`). With `skips_statements` a load goes on past statements such as TRUNCATE, at
    which it stops otherwise.

    Columns are masked by `masks` before anything is written.

    A batch has about `max_messages` messages at most, and none after the offsets `until`.
    """

    server: str
    topic: str
    settings: Mapping[str, Any] = field(repr=False)
    format: MessageFormat
    table: str | None = None
    skips_statements: bool = False
    are_rows: bool = False
    max_messages: int = MAX_MESSAGES
    until: Mapping[int, int] | None = None
    masks: Masks = NO_MASKS
    clock: Clock = field(default_factory=SystemClock)

    @property
    def name(self) -> str:
        return f"topic {self.topic} of server {self.server}"

    @property
    def position_key(self) -> str:
        return KEY

    def until_now(self) -> TopicSource:
        """The same source, whose batches end with what the topic has now."""
        return replace(self, until=self._state().ends)

    def discover(
        self, position: Position | None, places: Places, *, start_fresh: bool, since: Since | None = None
    ) -> TopicBatch:
        """The next batch. Raises ConfigError for a position of another source, SourceError where messages are gone."""
        if since is not None:
            raise ConfigError(
                "Messages of a topic cannot be loaded again from an instant on",
                fix="pass --start-fresh to load all messages that the topic has",
            )
        self._check_masks(position, start_fresh=start_fresh)
        state = self._state()
        if position is None or start_fresh:
            begin, moved = first_places(state), None
        else:
            stored = TopicPosition.decode(position)
            begin = checked_places(state, stored, self.table, position.where)
            moved = stored.moved

        def next_(reached: Mapping[int, Place]) -> tuple[Range, ...]:
            return planned_ranges(state, reached, self.max_messages, self.until)

        return TopicBatch(
            name=self.name,
            format=self.format,
            ranges=next_(begin),
            after=TopicPosition(
                state.cluster, self.topic, state.id, begin, self.table, self.clock.now(), self.masks.text
            ),
            read=self._read,
            next=next_,
            stops=self._stops,
            are_rows=self.are_rows,
            masks=self.masks,
            is_kept=lambda count: count >= self.max_messages or self._is_old(moved),
        )

    def _check_masks(self, position: Position | None, *, start_fresh: bool) -> None:
        """Raise ConfigError where the table has rows with other masks: they would stay as they are."""
        if position is None:
            return
        try:
            stored = TopicPosition.decode(position).masks
        except CorruptTableError:
            if start_fresh:
                return
            raise
        if stored != self.masks.text:
            raise ConfigError(
                f"Columns of the table are masked in another way than those of {self.name} would be",
                found=f"{stored or 'no masks'} in {position.where}, {self.masks.text or 'no masks'} here",
                fix="use the masks and the hash_key of the table, or load into another path",
            )

    def _state(self) -> TopicState:
        return topic_state(self.settings, self.server, self.topic)

    def _read(self, ranges: Sequence[Range]) -> Ordered:
        return in_order(RangeReader(self.settings, self.server, self.topic).read(ranges))

    def _stops(self, statements: Sequence[Statement], known: pa.Schema | None) -> Statement | None:
        return None if self.skips_statements else stopping(statements, self.table, known)

    def _is_old(self, moved: datetime | None) -> bool:
        return moved is not None and self.clock.now() - moved > _IDLE
