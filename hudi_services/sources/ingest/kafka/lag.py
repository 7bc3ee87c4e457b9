"""The messages of topics that the tables loaded from them do not have yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hoodie.errors import HoodieError, SourceUnavailableError, TableNotFoundError
from hoodie.table import HoodieTable
from hudi_services.entry.source import TopicSource
from hudi_services.entry.table import Table
from hudi_services.sources.ingest.kafka.brokers import TopicState
from hudi_services.sources.ingest.kafka.position import KEY, TopicPosition
from hudi_services.sources.ingest.kafka.ranges import checked_places, first_places
from hudi_services.sources.positions import find_position

State = Literal["stopped", "behind", "new", "current"]


@dataclass(frozen=True)
class TopicLag:
    """A table and the topic that it is loaded from. No run has loaded a `new` one, and a `stopped` one cannot go on.

    `messages` wait at most: compaction and transactions leave gaps between offsets. None where that is not known. `moved` is when
    a commit stored the position last, in ISO 8601.
    """

    table: str
    topic: str
    base_path: str
    state: State
    messages: int | None = None
    partitions: int | None = None
    moved: str = ""
    reason: str = ""
    fix: str = ""


def topic_lags(tables: Iterable[Table], server: str, ask: Callable[[str], TopicState]) -> Iterator[TopicLag]:
    """Yield the lag of each table that is loaded from a topic of the server. `ask` asks the brokers for a topic, once each.

    Raises SourceUnavailableError where they do not answer.
    """
    cached_state = cache(ask)
    for table in tables:
        source = table.source
        if isinstance(source, TopicSource) and source.server == server:
            try:
                yield _lag(table, source, cached_state)
            except SourceUnavailableError:
                raise
            except HoodieError as error:
                reason = f"{error.what}: {error.found}" if error.found else error.what
                yield TopicLag(table.name, source.topic, table.base_path, "stopped", reason=reason, fix=error.fix or "")


def _lag(table: Table, source: TopicSource, ask: Callable[[str], TopicState]) -> TopicLag:
    topic = ask(source.topic)
    try:
        position = find_position(HoodieTable.open(table.base_path).state(), KEY, start_fresh=False)
    except TableNotFoundError:
        position = None
    stored: TopicPosition | None = None
    places = first_places(topic)
    if position is not None:
        stored = TopicPosition.decode(position)
        places = checked_places(topic, stored, source.table, position.where)
    lags = [topic.ends[partition] - place.next for partition, place in places.items()]
    state: State = "new" if stored is None else "behind" if any(lags) else "current"
    moved = stored.moved.isoformat() if stored is not None and stored.moved is not None else ""
    partitions = sum(count > 0 for count in lags)
    return TopicLag(table.name, source.topic, table.base_path, state, sum(lags), partitions, moved)
