"""A batch of a topic: its plan for people and programs, and reading on past messages of other tables."""

from __future__ import annotations

import pyarrow as pa

from hoodie.engine import LocalEngine
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.ingest.changes.rows import DELETED
from hudi_services.sources.ingest.kafka.batch import TopicBatch
from hudi_services.sources.ingest.kafka.consumer import PartitionMessages
from hudi_services.sources.ingest.kafka.order import in_order
from hudi_services.sources.ingest.kafka.position import Place, TopicPosition
from hudi_services.sources.ingest.kafka.ranges import Range
from tests.support.orders import insert

ENGINE = LocalEngine(1)
KNOWN = pa.schema([("id", pa.int32()), ("name", pa.string())])


def batch(*values, kept=False):
    """A topic of one partition, of which two messages are read at a time."""

    def read(ranges):
        [range_] = ranges
        found = PartitionMessages(range_, end=range_.end, whole=range_.end == len(values))
        for offset in range(range_.place.next, range_.end):
            found.offsets.append(offset)
            found.timestamps.append(offset)
            found.epochs.append(0)
            found.keys.append(None)
            found.values.append(values[offset])
        return in_order([found])

    def next_(places):
        begin = places[0].next
        end = min(begin + 2, len(values))
        return (Range(0, places[0], end, end == len(values)),) if begin < end else ()

    begin = {0: Place(0)}
    return TopicBatch(
        "topic orders of server events", message_format("debezium-json", table="shop.orders"), next_(begin),
        TopicPosition("c", "orders", "id", begin), read, next_, lambda statements, known: None, lambda count: kept,
    )  # fmt: skip


OTHER, OURS = insert(1, "x", "items")[1], insert(2)[1]


def test_a_plan_has_the_ranges():
    found = batch(OURS, OURS, OURS)
    assert found.reason == "2 new offsets in 1 partition of topic orders of server events"
    assert [(item.path, item.facts["end"]) for item in found.items] == [("partition 0, offsets 0 to 2", 2)]
    assert found.stage.values == {"topic": "orders", "offsets": 2, "positions": {"0": 0}}
    assert batch().reason == "topic orders of server events has no message that is not taken in"


def test_messages_of_other_tables_are_passed_until_one_is_ours():
    opened, schema = batch(*[OTHER] * 5, OURS, OURS).opened(KNOWN, ENGINE)
    assert schema.names == ["id", "name", DELETED]
    assert (
        opened.reason == "1 change in 6 messages of topic orders of server events, of which 5 other table passed over"
    )
    assert opened.after.places == {0: Place(6, 6, 0)}


def test_only_messages_of_other_tables_are_nothing_unless_the_position_is_kept():
    for known in (KNOWN, None):
        opened, _ = batch(*[OTHER] * 3).opened(known, ENGINE)
        assert not opened.items
        assert opened.reason.startswith("no change of the table in 3 messages")
    opened, schema = batch(*[OTHER] * 3, kept=True).opened(KNOWN, ENGINE)
    assert opened.after.places == {0: Place(3, 3, 0)}
    assert (opened.opened_.changes.num_rows, schema.names) == (0, ["id", "name", DELETED])
