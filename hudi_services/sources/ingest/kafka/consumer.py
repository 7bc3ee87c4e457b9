"""Reads ranges of offsets, exactly: all visible messages in them, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hoodie.errors import HoodieError, SourceUnavailableError
from hudi_services.sources.ingest.kafka.brokers import SECONDS, Troubles, failed, library
from hudi_services.sources.ingest.kafka.ranges import Range, out_of_range, truncated

_AT_ONCE = 10_000  # messages of a call of the client
_WAIT = 0.05  # seconds that such a call waits for as many: it does not return earlier with fewer
_PATIENCE = 3 * SECONDS  # without any message


@dataclass
class PartitionMessages:
    """The messages of a range in the order of their offsets. `end` is the offset after them.

    It is `whole` if the partition has no more for this run.
    """

    range: Range
    offsets: list[int] = field(default_factory=list)
    timestamps: list[int] = field(default_factory=list)  # milliseconds; 0 where the message has none
    epochs: list[int | None] = field(default_factory=list)
    keys: list[bytes | None] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)
    bytes: int = 0
    end: int = 0
    whole: bool = False


@dataclass
class RangeReader:
    """Reads ranges of a topic of the server `name`.

    No consumer group takes part: partitions are assigned by hand, and offsets are stored in commits of the table alone.
    """

    settings: Mapping[str, Any]
    name: str
    topic: str
    max_bytes: int = 256 << 20

    def read(self, ranges: Sequence[Range]) -> list[PartitionMessages]:
        """The messages of each range. One of too many bytes ends early: its `end` says where.

        Raises SourceError for offsets that are not there any more, SourceUnavailableError when no messages come.
        """
        kafka = library()
        troubles = Troubles()
        reading = {span.partition: PartitionMessages(span) for span in ranges}
        consumer = kafka.Consumer(self._consumer_settings(troubles))
        try:
            consumer.assign([self._begin(kafka, span) for span in ranges])
            self._fill(kafka, consumer, dict(reading), troubles)
        except kafka.KafkaException as error:
            raise failed(error, self.name, self.topic, troubles) from error
        finally:
            consumer.close()
        return list(reading.values())

    def _consumer_settings(self, troubles: Troubles) -> dict[str, Any]:
        return {
            **self.settings,
            "group.id": "hudi-services",  # the client wants one; it is never joined
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "allow.auto.create.topics": False,
            "check.crcs": True,
            "log_level": 0,
            "error_cb": troubles,
        }

    def _begin(self, kafka: Any, range_: Range) -> Any:
        """The begin of the reading: after the last message that was read, so that the broker can compare its epoch."""
        place = range_.place
        if place.read is None or place.epoch is None:
            return kafka.TopicPartition(self.topic, range_.partition, place.next)
        return kafka.TopicPartition(self.topic, range_.partition, place.read, leader_epoch=place.epoch)

    def _fill(self, kafka: Any, consumer: Any, open_: dict[int, PartitionMessages], troubles: Troubles) -> None:
        share = max(1, self.max_bytes // max(1, len(open_)))
        heard = time.monotonic()
        while open_:
            messages = consumer.consume(_AT_ONCE, _WAIT)
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > _PATIENCE:
                raise SourceUnavailableError(
                    f"No messages of topic {self.topic} come from server {self.name}",
                    found=troubles.last or f"nothing for {_PATIENCE:g} s, and offsets that are not read",
                    fix="run again; check that the leaders of its partitions are up",
                )
            full = []
            for message in messages:
                partition = message.partition()
                reading = open_.get(partition)
                if message.error() is not None:
                    self._check(kafka, consumer, message, reading)
                    ends = reading is not None and message.error().code() == kafka.KafkaError._PARTITION_EOF
                elif reading is not None:
                    ends = _add(reading, message) or reading.bytes >= share
                else:
                    ends = False
                if ends and reading is not None:
                    reading.whole = reading.range.whole and reading.end >= reading.range.end
                    full.append(kafka.TopicPartition(self.topic, partition))
                    del open_[partition]
            if full and open_:
                consumer.pause(full)

    def _check(self, kafka: Any, consumer: Any, message: Any, messages: PartitionMessages | None) -> None:
        error, codes = message.error(), kafka.KafkaError
        code = error.code()
        if messages is None or code == codes.GROUP_AUTHORIZATION_FAILED:
            return
        partition = messages.range.partition
        if code == codes._PARTITION_EOF:
            if message.offset() < messages.range.end:
                reason = f"it ends at offset {message.offset()}, and had messages before {messages.range.end}"
                raise truncated(self.topic, partition, reason)
            messages.end = messages.range.end
        elif code in (codes._AUTO_OFFSET_RESET, codes.OFFSET_OUT_OF_RANGE):
            raise self._misplaced(kafka, consumer, messages.range)
        elif code == codes._LOG_TRUNCATION:
            raise truncated(self.topic, partition, f"{error.str()}, and offset {messages.range.place.next} is next")
        elif error.fatal() or code in (codes.TOPIC_AUTHORIZATION_FAILED, codes.UNKNOWN_TOPIC_OR_PART):
            raise kafka.KafkaException(error)

    def _misplaced(self, kafka: Any, consumer: Any, range_: Range) -> HoodieError:
        """The error for a partition that the client cannot read from the begin of the range on, for which it has one code."""
        begin, next_ = self._begin(kafka, range_), range_.place.next
        start, end = consumer.get_watermark_offsets(begin, timeout=SECONDS)
        if not start <= next_ <= end:
            return out_of_range(self.topic, range_.partition, next_, start, end)
        available = f"it begins at offset {start} and ends at offset {end}, and {next_} is next"
        if begin.offset < start:  # messages that were read before are deleted since the ranges were planned
            return SourceUnavailableError(
                f"The start of topic {self.topic} moved while it was read",
                found=f"partition {range_.partition}: {available}",
                fix="run again",
            )
        return truncated(self.topic, range_.partition, f"{available}, but the log before it is another one")


def _add(messages: PartitionMessages, message: Any) -> bool:
    """Add a message of the range. True: the range is read."""
    offset = message.offset()
    if offset >= messages.range.end:
        messages.end = messages.range.end
        return True
    if offset < messages.range.place.next:
        return False
    kind, milliseconds = message.timestamp()
    value, key = message.value(), message.key()
    messages.offsets.append(offset)
    messages.timestamps.append(milliseconds if kind else 0)
    messages.epochs.append(message.leader_epoch())
    messages.keys.append(key)
    messages.values.append(value)
    messages.bytes += len(value or b"") + len(key or b"")
    messages.end = offset + 1
    return messages.end == messages.range.end
