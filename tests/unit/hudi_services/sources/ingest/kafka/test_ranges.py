"""Ranges of a batch, and topics that do not continue at a position."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.ingest.kafka.brokers import TopicState
from hudi_services.sources.ingest.kafka.position import Place, TopicPosition
from hudi_services.sources.ingest.kafka.ranges import checked_places, first_places, planned_ranges

STATE = TopicState("c", "orders", "id", {0: 2, 1: 0, 2: 0}, {0: 12, 1: 5, 2: 0})
AT = TopicPosition("c", "orders", "id", {0: Place(2), 1: Place(5), 2: Place(0)})


def ranges(state, places, limit, until=None):
    return [
        (each.partition, each.place.next, each.end, each.whole) for each in planned_ranges(state, places, limit, until)
    ]


def test_a_batch_takes_its_share_of_each_partition():
    first = first_places(STATE)
    assert ranges(STATE, first, 100) == [(0, 2, 12, True), (1, 0, 5, True)]
    assert ranges(STATE, first, 12) == [
        (0, 2, 9, False),
        (1, 0, 5, True),
    ]  # a short partition leaves the rest to others
    assert ranges(STATE, first, 4) == [(0, 2, 4, False), (1, 0, 2, False)]
    assert ranges(STATE, first, 1) == [(0, 2, 3, False), (1, 0, 1, False)]  # each goes on
    assert ranges(STATE, {0: Place(12), 1: Place(5), 2: Place(0)}, 100) == []


def test_nothing_after_the_ends_that_a_run_began_with():
    assert ranges(STATE, first_places(STATE), 100, {0: 5}) == [(0, 2, 5, True)]


def test_new_partitions_begin_at_0():
    before = replace(AT, places={0: Place(3)})
    assert checked_places(STATE, before, None, "the commit") == {0: Place(3), 1: Place(0), 2: Place(0)}


@pytest.mark.parametrize(
    ("state", "position", "error", "message"),
    [
        ({}, {"places": {0: Place(1)}}, SourceError, "partition 0 lacks 1 offset from 1 on.*at offset 2.* 12, and 1 is next"),
        ({"starts": {0: 2, 1: 1, 2: 0}}, {"places": {0: Place(2)}}, SourceError, "partition 1 lacks 1 offset from 0 on"),
        ({}, {"places": {0: Place(13)}}, SourceError, "lacks 1 offset that.*at offset 2.* 12, and 13 is next"),
        ({}, {"places": {3: Place(0)}}, SourceError, "no partition 3, which the position in the commit has"),
        ({"id": "other"}, {}, SourceError, "its identifier is other, and id in the commit"),
        ({"cluster": "d"}, {}, ConfigError, "another cluster than d.*cluster c in the commit"),
        ({"topic": "events"}, {}, ConfigError, "another topic than events"),
        ({}, {"filter": "shop.orders"}, ConfigError, "another table than all of topic orders.*shop.orders"),
    ],
)  # fmt: skip
def test_a_topic_that_does_not_continue_is_refused(state, position, error, message):
    with pytest.raises(error, match=f"{message}.*--start-fresh"):
        checked_places(replace(STATE, **state), replace(AT, **position), None, "the commit")


def test_an_end_of_a_read_partition_whose_messages_are_all_deleted_is_no_gap():
    """The marker of a transaction was last. The offset before it is deleted, so the reading begins after the marker."""
    position = replace(AT, places={0: Place(12, 11, 3), 1: Place(5, 4, 3), 2: Place(0)})
    state = replace(STATE, starts={0: 12, 1: 4, 2: 0})
    assert checked_places(state, position, None, "the commit") == {0: Place(12), 1: Place(5, 4, 3), 2: Place(0)}


def test_an_identifier_that_is_not_known_does_not_count():
    assert checked_places(replace(STATE, id=None), AT, None, "the commit") == AT.places
