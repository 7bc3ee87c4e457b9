"""Messages of several partitions in one order."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from hudi_services.sources.ingest.kafka.brokers import TopicState
from hudi_services.sources.ingest.kafka.consumer import PartitionMessages
from hudi_services.sources.ingest.kafka.order import in_order
from hudi_services.sources.ingest.kafka.position import Place
from hudi_services.sources.ingest.kafka.ranges import Range, first_places, planned_ranges


def read(partition, *messages, whole=True, begin=0, end=None):
    """`messages` are pairs of offset and timestamp."""
    last = messages[-1][0] + 1 if messages else begin
    end = last if end is None else end
    found = PartitionMessages(Range(partition, Place(begin), end, whole), whole=whole, end=end)
    for offset, timestamp in messages:
        found.offsets.append(offset)
        found.timestamps.append(timestamp)
        found.epochs.append(3)
        found.keys.append(None)
        found.values.append(b"x")
    return found


def found(ordered):
    table = ordered.messages
    return list(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))


def test_times_decide_between_partitions_and_offsets_within():
    ordered = in_order([read(0, (0, 10), (1, 5), (2, 30)), read(1, (7, 7), (8, 10), (9, 20))])
    assert found(ordered) == [(1, 7), (0, 0), (0, 1), (1, 8), (1, 9), (0, 2)]
    assert ordered.places() == {0: Place(3, 3, 3), 1: Place(10, 10, 3)}


def test_what_is_newer_than_an_unread_message_waits():
    ordered = in_order([read(0, (0, 10), (1, 20), whole=False), read(1, (7, 7), (8, 20), (11, 21), (12, 40))])
    assert found(ordered) == [(1, 7), (0, 0), (0, 1), (1, 8)]
    assert ordered.places() == {0: Place(2, 2, 3), 1: Place(11, 9, 3)}


def test_a_partition_without_messages_so_far_holds_all_others_back_and_goes_on_itself():
    ordered = in_order([read(0, whole=False, end=5), read(1, (7, 7))])
    assert found(ordered) == []
    assert ordered.places() == {0: Place(5), 1: Place(7)}


def test_places_before_a_message():
    ordered = in_order([read(0, (0, 10), (1, 20)), read(1, (7, 15), end=9)])
    assert ordered.places(0) == {0: Place(0), 1: Place(7)}
    assert ordered.places(2) == {0: Place(1, 1, 3), 1: Place(9, 8, 3)}


def test_an_empty_batch_has_the_columns_of_messages():
    assert in_order([read(0, end=4)]).messages.num_rows == 0


LOGS = st.dictionaries(
    st.integers(0, 3), st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=12), min_size=1
)
"""Partitions, and of each message how far its offset and its time are after those of the one before."""


@given(LOGS, st.integers(1, 8), st.booleans())
def test_batches_hold_every_message_once_and_no_older_one_comes_later(logs, limit, grows):
    logs = {partition: list(accumulate(steps, _next, initial=(-1, 0)))[1:] for partition, steps in logs.items()}
    ends = {partition: log[-1][0] + 1 if log else 3 for partition, log in logs.items()}
    state = TopicState("c", "t", "id", dict.fromkeys(logs, 0), ends)
    places, sequence = first_places(state), []
    while ranges := planned_ranges(state, places, limit):
        batch = in_order([_read_log(logs[each.partition], each) for each in ranges])
        count = batch.messages.num_rows
        if grows and count > 1:  # as a statement in the middle of a batch
            count //= 2
        sequence += found(batch)[:count]
        moved = batch.places(count)
        assert any(moved[partition].next > places[partition].next for partition in moved)
        places |= moved
    assert sorted(sequence) == sorted((partition, offset) for partition, log in logs.items() for offset, _ in log)
    times = [dict(logs[partition])[offset] for partition, offset in sequence]
    assert times == sorted(times)


def _next(before, step):
    return before[0] + step[0], before[1] + step[1]


def _read_log(log, range_):
    inside = [(offset, time) for offset, time in log if range_.place.next <= offset < range_.end]
    return read(range_.partition, *inside, whole=range_.whole, begin=range_.place.next, end=range_.end)
