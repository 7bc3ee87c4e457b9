"""Ranges of offsets that a batch reads. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.ingest.kafka.brokers import TopicState
from hudi_services.sources.ingest.kafka.position import Place, TopicPosition

_LEADER = "A broker that lacked messages became the leader"
_FRESH = "pass --start-fresh to load what the topic has now. Rows that it does not have any more stay in the table"
_LEADER_FIX = f"set unclean.leader.election.enable=false for the topic, and {_FRESH}"


@dataclass(frozen=True)
class Range:
    """The offsets of a partition from `place` to `end`, exclusive. `whole`: there are no more for this run."""

    partition: int
    place: Place
    end: int
    whole: bool

    @property
    def count(self) -> int:
        """The number of offsets. It is not below that of messages, since compaction and transactions leave gaps."""
        return self.end - self.place.next


def first_places(state: TopicState) -> dict[int, Place]:
    """The places of a table that has nothing of the topic yet: the first message of each partition."""
    return {partition: Place(start) for partition, start in state.starts.items()}


def checked_places(state: TopicState, position: TopicPosition, filter_: str | None, where: str) -> dict[int, Place]:
    """The places of a position on the topic as it is now. New partitions begin at 0. `where` is the commit of the position.

    Raises ConfigError for a position of another source, SourceError where the topic does not continue at the position.
    """
    _check_source(state, position, filter_, where)
    missing = sorted(position.places.keys() - state.ends.keys())
    if missing:
        raise _made_again(state, f"no partition {missing[0]}, which the position in {where} has")
    places = {partition: position.places.get(partition, Place(0)) for partition in state.ends}
    for partition, place in sorted(places.items()):
        start, end = state.starts[partition], state.ends[partition]
        if not start <= place.next <= end:
            raise out_of_range(state.topic, partition, place.next, start, end)
        if place.read is not None and place.read < start:
            # Only markers of transactions and gaps were between the last message that was read and the next offset.
            places[partition] = Place(place.next)
    return places


def planned_ranges(
    state: TopicState, places: Mapping[int, Place], limit: int, until: Mapping[int, int] | None = None
) -> tuple[Range, ...]:
    """The next ranges of about `limit` offsets together, one at least of each partition that has more. None goes past `until`."""
    ends = {
        partition: end if until is None else min(end, until.get(partition, 0)) for partition, end in state.ends.items()
    }
    remaining = {partition: ends[partition] - place.next for partition, place in places.items()}
    lags = sorted((count, partition) for partition, count in remaining.items() if count > 0)
    result = []
    for served, (count, partition) in enumerate(lags):
        share = min(count, max(1, limit // (len(lags) - served)))
        limit = max(0, limit - share)
        place = places[partition]
        result.append(Range(partition, place, place.next + share, share == count))
    return tuple(sorted(result, key=lambda span: span.partition))


def _check_source(state: TopicState, position: TopicPosition, filter_: str | None, where: str) -> None:
    for noun, stored, now in (
        ("topic", position.topic, state.topic),
        ("table", position.filter, filter_),
        ("cluster", position.cluster, state.cluster),
    ):
        if stored != now:
            raise ConfigError(
                f"The table continues another {noun} than {now or 'all of topic ' + state.topic}",
                found=f"{noun} {stored or 'not chosen'} in {where}",
                fix=f"name the {noun} that was loaded before, or {_FRESH}",
            )
    if position.id != state.id and None not in (position.id, state.id):
        raise _made_again(state, f"its identifier is {state.id}, and {position.id} in {where}")


def _made_again(state: TopicState, cause: str) -> SourceError:
    return SourceError(f"The topic {state.topic} was deleted and made again", found=cause, fix=_FRESH)


def out_of_range(topic: str, partition: int, offset: int, start: int, end: int) -> SourceError:
    """The next offset is not in the log, which has those from `start` to `end`, exclusive: messages are gone at either side."""
    available = f"it begins at offset {start} and ends at offset {end}, and {offset} is next"
    if offset < start:
        return SourceError(
            f"Messages of topic {topic} were deleted before they were loaded",
            found=f"partition {partition} lacks {counted(start - offset, 'offset')} from {offset} on: {available}",
            fix=f"keep messages longer (retention.ms, retention.bytes) or load more often, and {_FRESH}: "
            "have the source send a snapshot if changes are lost",
        )
    return SourceError(
        f"The topic {topic} ends before what was loaded",
        found=f"partition {partition} lacks {counted(offset - end, 'offset')} that the table has: {available}. "
        f"{_LEADER}, or the topic was made again",
        fix=_LEADER_FIX,
    )


def truncated(topic: str, partition: int, reason: str) -> SourceError:
    """The log is not the one that was read."""
    return SourceError(
        f"The topic {topic} has other messages now than those that were loaded",
        found=f"partition {partition}: {reason}. {_LEADER}",
        fix=_LEADER_FIX,
    )


def counted_offsets(ranges: Sequence[Range]) -> int:
    """The number of offsets in all ranges together."""
    return sum(span.count for span in ranges)
