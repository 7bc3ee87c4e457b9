"""The order of messages of several partitions. Pure.

Changes of a key are in one partition, in order, until the topic gets more partitions. Then the key may move, and its older
changes are in another partition than its newer ones. So a batch orders messages of all partitions by their times, and leaves
for later those that are newer than what it has not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.messages.contract import MESSAGES
from hudi_services.sources.ingest.kafka.consumer import PartitionMessages
from hudi_services.sources.ingest.kafka.position import Place

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Ordered:
    """Messages in order, with the columns of `MESSAGES`. `read` are those that were read of each partition."""

    messages: pa.Table
    read: Sequence[PartitionMessages]

    def places(self, count: int | None = None) -> dict[int, Place]:
        """The places after the first `count` messages; None: after all."""
        partitions = self.messages["partition"][:count].to_numpy()
        result = {}
        for messages in self.read:
            result[messages.range.partition] = _place(messages, int((partitions == messages.range.partition).sum()))
        return result


def in_order(read: Sequence[PartitionMessages]) -> Ordered:
    """The messages up to a common time, by time, partition and offset. Within a partition the offsets decide."""
    times = [np.maximum.accumulate(np.array(messages.timestamps, dtype=np.int64)) for messages in read]
    cut = min((_frontier(messages, time) for messages, time in zip(read, times, strict=True)), default=_NEVER)
    counts = [int(np.searchsorted(time, cut, side="right")) for time in times]
    when = np.concatenate([np.empty(0, np.int64), *(time[:count] for time, count in zip(times, counts, strict=True))])
    return Ordered(_table(read, counts, np.argsort(when, kind="stable")), read)


def _table(read: Sequence[PartitionMessages], counts: Sequence[int], order: np.ndarray) -> pa.Table:
    """The first messages of each partition in this order. They are ordered before Arrow copies them, which is dear."""
    places = order.tolist()

    def ordered(name: str) -> list[Any]:
        values = [
            value for messages, count in zip(read, counts, strict=True) for value in getattr(messages, name)[:count]
        ]
        return [values[place] for place in places]

    partitions = np.repeat([messages.range.partition for messages in read], counts).astype(np.int32)[order]
    times = pa.array(ordered("timestamps"), pa.int64()).cast(pa.timestamp("ms", "UTC"))
    columns = [pa.array(partitions), pa.array(ordered("offsets"), pa.int64()), times]
    columns += [pa.array(ordered(name), pa.binary()) for name in ("keys", "values")]
    return pa.table(columns, schema=MESSAGES)


def _frontier(messages: PartitionMessages, time: np.ndarray) -> int:
    """The time that no message is earlier than that the partition still has; the minimum where that is not known."""
    if messages.whole:
        return int(_NEVER)
    return int(time[-1]) if len(time) else -1


def _place(messages: PartitionMessages, count: int) -> Place:
    """The place after `count` of the messages."""
    before = messages.range.place
    next_ = messages.end if count == len(messages.offsets) else messages.offsets[count]
    if not count:
        return replace(before, next=next_)
    return Place(next_, messages.offsets[count - 1] + 1, messages.epochs[count - 1])
