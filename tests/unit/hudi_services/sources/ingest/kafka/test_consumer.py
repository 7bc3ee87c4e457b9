"""Ranges of offsets are read exactly, or not at all."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.sources.ingest.kafka import consumer
from hudi_services.sources.ingest.kafka.consumer import RangeReader
from hudi_services.sources.ingest.kafka.position import Place
from hudi_services.sources.ingest.kafka.ranges import Range
from tests.support.orders import insert

pytestmark = pytest.mark.process


def read(feed, *ranges, **more):
    settings = {"bootstrap.servers": feed.broker.brokers}
    return RangeReader(settings, "events", feed.topic, **more).read(ranges)


def test_a_range_is_read_from_its_first_to_its_last_offset(feed):
    feed.send([insert(number) for number in range(10)])
    feed.send([insert(10)], 1)
    first, second = read(feed, Range(0, Place(3), 7, False), Range(1, Place(0), 1, True))
    assert (first.offsets, first.end, first.whole) == ([3, 4, 5, 6], 7, False)
    assert (second.offsets, second.end, second.whole, second.epochs) == ([0], 1, True, [0])
    assert min(first.timestamps) > 1_700_000_000_000
    [again] = read(feed, Range(0, Place(8, 6, 0), 10, True))  # begins after the last message that was read
    assert again.offsets == [8, 9]


def test_a_range_of_too_many_bytes_ends_early(feed):
    feed.send([insert(number) for number in range(10)])
    [part] = read(feed, Range(0, Place(0), 10, True), max_bytes=1500)
    assert (part.offsets, part.end, part.whole) == ([0, 1], 2, False)


def test_messages_that_are_deleted_between_plan_and_reading(feed):
    feed.send([insert(number) for number in range(5)])
    feed.broker.purge(feed.topic, 0, 3)
    with pytest.raises(
        SourceError, match=r"partition 0 lacks 2 offsets from 1 on.*begins at offset 3 and ends at offset 5"
    ):
        read(feed, Range(0, Place(1), 5, True))


def test_a_log_that_ends_before_the_range(feed):
    feed.send([insert(1)])
    with pytest.raises(
        SourceError,
        match=r"has other messages now.*it ends at offset 1, and had messages before 4",
    ):
        read(feed, Range(0, Place(0), 4, True))


def test_a_log_of_another_leader_is_not_the_one_that_was_read(feed):
    feed.send([insert(number) for number in range(5)])
    with pytest.raises(SourceError, match=r"ends before what was loaded.*ends at offset 5, and 9 is next"):
        read(feed, Range(0, Place(9, 9, 0), 12, True))


def test_messages_that_were_read_and_are_deleted_before_the_reading_begins(feed):
    """Nothing is lost: the next run begins after them."""
    feed.send([insert(number) for number in range(5)])
    feed.broker.purge(feed.topic, 0, 3)
    with pytest.raises(SourceUnavailableError, match=r"moved while.*offset 3.*and 3 is next") as error:
        read(feed, Range(0, Place(3, 2, 0), 5, True))
    assert error.value.retryable


def test_brokers_that_fall_silent(feed, monkeypatch):
    feed.send([insert(1)])
    monkeypatch.setattr(consumer, "_PATIENCE", 0.1)
    with pytest.raises(SourceUnavailableError, match="No messages of topic"):
        RangeReader({"bootstrap.servers": "127.0.0.1:1"}, "events", feed.topic).read([Range(0, Place(0), 1, True)])
