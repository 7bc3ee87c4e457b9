"""A topic of a real broker into a table: every message once, also when the topic changes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.clock import FakeClock
from tests.support.orders import delete, insert, order, tombstone, truncate, update
from tests.support.waiting import until

pytestmark = pytest.mark.process


def test_messages_of_all_partitions_once(feed):
    feed.send([insert(1), update(1, "a"), insert(2)], 0)
    feed.send([insert(3), delete(3), tombstone(3), insert(4)], 1)
    result = feed.load()
    assert feed.rows == {1: "a", 2: "new", 4: "new"}
    assert "6 changes in 7 messages" in result.message
    assert "1 tombstone passed over" in result.message
    feed.send([delete(2), insert(5)], 0)
    assert feed.load().rows_deleted == 1
    assert feed.rows == {1: "a", 4: "new", 5: "new"}
    assert feed.load().message.startswith("nothing to do")
    assert feed.commits == 2


def test_a_run_takes_batch_after_batch_up_to_the_end_that_it_began_with(feed):
    for partition in (0, 1):
        feed.send([insert(number) for number in range(partition, 20, 2)], partition)
    assert feed.load(max_messages=6).rows_inserted == 20
    assert feed.commits >= 4
    assert len(feed.rows) == 20


def test_messages_of_transactions_count_once_they_are_committed(feed):
    open_, aborted = feed.broker.transaction(f"{feed.topic}-a"), feed.broker.transaction(f"{feed.topic}-b")
    feed.send([insert(1)])
    aborted.send(feed.topic, [insert(2)])
    aborted.abort()
    open_.send(feed.topic, [insert(3)])
    feed.send([insert(4)])
    feed.load()
    assert feed.rows == {1: "new"}
    assert feed.load().instant is None
    open_.commit()
    feed.load()
    assert feed.rows == {1: "new", 3: "new", 4: "new"}
    only_markers = feed.broker.transaction(f"{feed.topic}-c")
    only_markers.send(feed.topic, [insert(5)])
    only_markers.abort()
    assert feed.load().instant is None
    feed.send([insert(6)])
    assert feed.load().rows_inserted == 1


def test_a_topic_that_is_made_again_is_noticed(feed):
    feed.send([insert(1), insert(2)])
    feed.load()
    feed.broker.delete(feed.topic)
    feed.broker.create(feed.topic, 2)
    feed.send([insert(7), insert(8), insert(9)])
    with pytest.raises(SourceError, match=r"was deleted and made again.*its identifier is .*--start-fresh"):
        feed.load()
    feed.load(start_fresh=True)
    assert set(feed.rows) == {1, 2, 7, 8, 9}
    feed.send([insert(10)])
    assert feed.load().rows_inserted == 1


def test_messages_that_were_deleted_before_they_were_read_stop_the_load(feed):
    feed.send([insert(number) for number in range(4)])
    feed.load()
    feed.send([insert(number) for number in range(4, 8)])
    feed.broker.purge(feed.topic, 0, 4)  # only those that are in
    assert feed.batch(max_messages=1).rows_inserted == 1
    feed.broker.purge(feed.topic, 0, 6)
    with pytest.raises(SourceError, match=r"partition 0 lacks 1 offset from 5 on.*retention"):
        feed.load()
    assert set(feed.rows) == set(range(5))
    feed.load(start_fresh=True)
    assert set(feed.rows) == {0, 1, 2, 3, 4, 6, 7}


def test_a_quiet_topic_of_transactions_goes_on_after_its_messages_were_deleted(feed):
    """The last offset is that of a marker, which is no message."""
    transaction = feed.broker.transaction(f"{feed.topic}-all")
    transaction.send(feed.topic, [insert(1), insert(2)])
    transaction.commit()
    until(lambda: feed.load().rows_inserted)  # the broker shows them some time after its answer
    feed.broker.purge(feed.topic, 0, 3)
    feed.send([insert(3)])
    assert feed.load().rows_inserted == 1
    assert set(feed.rows) == {1, 2, 3}


def test_new_partitions_begin_at_their_first_message_and_a_key_that_moves_keeps_its_last_value(feed):
    feed.send([insert(1), insert(2)], 0)
    feed.load()
    feed.send([update(1, "older"), *(update(2, f"v{number}") for number in range(10))], 0, timestamp=1_000)
    feed.broker.grow(feed.topic, 3)
    feed.send([update(1, "newer"), insert(3)], 2, timestamp=2_000)
    feed.send([update(2, "newest")], 0, timestamp=3_000)
    feed.load(max_messages=3)
    assert feed.rows == {1: "newer", 2: "newest", 3: "new"}


def test_several_tables_read_one_topic(broker, feed, tmp_path):
    feed.send([insert(1), insert(1, "item", "items"), update(1, "a"), insert(2, "item", "items")])
    feed.send([insert(9, "other", "others")] * 5, 1)
    feed.load(table="shop.orders")
    items = type(feed)(broker, feed.topic, tmp_path / "items")
    items.load(table="shop.items", max_messages=2)
    assert (feed.rows, items.rows) == ({1: "a"}, {1: "item", 2: "item"})
    with pytest.raises(ConfigError, match="another table than all of topic"):
        feed.load()


def test_messages_of_other_tables_make_no_commits_until_there_are_many(feed):
    feed.send([insert(1)])
    feed.load(table="shop.orders")
    feed.send([insert(9, "other", "others")] * 6)
    quiet = feed.load(table="shop.orders")
    assert (quiet.instant, feed.commits) == (None, 1)
    assert "no change of the table in 6 messages" in quiet.message
    assert feed.load(table="shop.orders", max_messages=5).instant is not None
    assert feed.load(table="shop.orders").message.startswith("nothing to do: topic")
    assert feed.rows == {1: "new"}


@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_message_that_cannot_be_read_goes_to_the_quarantine_or_stops_the_load(feed, place):
    messages = [insert(number) for number in range(4)]
    messages.insert(place, (b"k", b"{poison"))
    feed.send(messages)
    with pytest.raises(SourceError, match="1 of 5 rows from topic"):
        feed.load()
    result = feed.load(max_bad_share=0.5)
    assert (len(feed.rows), result.rows_quarantined) == (4, 1)
    bad = feed.quarantined[-1]
    assert bad["file"] == f"topic {feed.topic}"
    assert bad["reason"].startswith(f"partition 0, offset {place}: ")
    assert bad["row"] == {"value": "{poison"}
    feed.send([(b"k", b"\xff\x00")])
    assert feed.load(max_bad_share=1).rows_quarantined == 1
    assert {bad["row"]["value"] for bad in feed.quarantined} == {"{poison", "base64:/wA="}
    assert feed.load().message.startswith("nothing to do")


def test_a_topic_of_which_nothing_can_be_read_makes_no_table(feed):
    feed.send([(b"k", b"{poison")] * 3)
    with pytest.raises(SourceError, match=r"None of 3 messages of topic .* can be read.*partition 0, offset 0"):
        feed.load(max_bad_share=1)


def test_a_statement_stops_the_load_behind_the_changes_before_it(feed):
    feed.send([insert(1), truncate(), insert(2)])
    with pytest.raises(SourceError, match=r"TRUNCATE TABLE shop.orders' in partition 0, offset 1.*--statements skip"):
        feed.load()
    assert feed.rows == {1: "new"}
    feed.load(skips_statements=True)
    assert feed.rows == {1: "new", 2: "new"}


def test_a_compacted_topic_has_gaps(broker, feed):
    feed.topic += "-compacted"
    broker.create(feed.topic, 1, cleanup_policy="compact", segment_ms="100", min_cleanable_dirty_ratio="0.01")
    feed.send([insert(1), *(update(1, f"v{number}") for number in range(50)), insert(2)])
    feed.load()
    feed.send([*(update(1, f"w{number}") for number in range(50)), insert(3), delete(2), tombstone(2)])
    broker.wait_until_compacted(feed.topic, lambda: feed.send([insert(9)]))
    feed.load(max_messages=30)
    assert feed.rows == {1: "w49", 3: "new", 9: "new"}


def test_a_topic_that_is_not_there(feed):
    feed.topic = "nothing"
    with pytest.raises(SourceError, match=r"The topic nothing of server events is not there"):
        feed.load()


def test_a_quiet_table_moves_its_position_after_an_hour(feed):
    feed.send([insert(1)])
    feed.load(table="shop.orders")
    feed.send([insert(9, "other", "others")])
    assert feed.load(table="shop.orders").instant is None
    later = FakeClock(datetime.now(UTC) + timedelta(hours=2))
    assert feed.load(table="shop.orders", clock=later).instant is not None
    assert feed.load(table="shop.orders", clock=later).message.startswith("nothing to do: topic")


def test_a_first_batch_of_deletes_alone(feed):
    feed.send([delete(1), tombstone(1)])
    feed.load()
    feed.send([insert(2)])
    feed.load()
    assert feed.rows == {2: "new"}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_the_table_decides_by_its_ordering_column_if_messages_are_rows(feed, kind):
    feed.format = message_format("json")
    feed.options = {"hoodie.table.ordering.fields": "at", "hoodie.table.type": kind}

    def row(number, name, at):
        return str(number), json.dumps({"id": number, "name": name, "at": at})

    feed.send([row(1, "new", 5), row(1, "late", 3), row(2, "a", 1)])
    feed.load(are_rows=True)
    feed.send([row(1, "later", 4), row(2, "b", 2)])
    feed.load(are_rows=True)
    assert feed.rows == {1: "new", 2: "b"}


def test_columns_come_and_go_inside_a_batch_and_between_batches(feed):
    feed.format = message_format("json")
    rows = [{"id": 1}, {"id": 2, "more": 5}, {"id": 3, "wide": 2**40}, {"id": 4}]
    messages = [(str(row["id"]), json.dumps({"name": "new", **row})) for row in rows]
    feed.send(messages[:2])
    feed.load()
    feed.send(messages[2:])
    feed.load()
    table = HoodieTable.open(str(feed.table)).read(columns=["id", "more", "wide"]).sort_by("id")
    assert table.to_pylist() == [
        {"id": 1, "more": None, "wide": None},
        {"id": 2, "more": 5, "wide": None},
        {"id": 3, "more": None, "wide": 2**40},
        {"id": 4, "more": None, "wide": None},
    ]


def test_rows_that_move_between_partitions_and_deletes_that_do_not_say_theirs(feed):
    feed.options = {"hoodie.table.partition.fields": "name"}
    feed.send([insert(1, "a"), insert(2, "a"), insert(3, "a")])
    feed.load()
    feed.send([update(1, "b", "a"), order("d", (2, "a"), None), order("d", (3, None), None)])
    result = feed.load(max_bad_share=0.5)
    assert feed.rows == {1: "b", 3: "a"}
    assert result.rows_quarantined == 1
    assert "a delete with nothing but its key" in feed.quarantined[-1]["reason"]


@pytest.mark.parametrize("version", ["6", "9"])
def test_a_table_with_logs_and_buckets(feed, version):
    buckets = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
    feed.options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": version, **buckets}
    feed.send([insert(1), insert(2)])
    feed.load(table="shop.orders")
    feed.send([update(1, "a"), delete(2), insert(3)])
    feed.load(table="shop.orders")
    feed.send([insert(9, "other", "others")] * 6)
    assert feed.load(table="shop.orders", max_messages=5).instant is not None
    feed.send([(b"k", b"{poison")])
    assert feed.load(table="shop.orders", max_bad_share=1).instant is not None
    assert feed.rows == {1: "a", 3: "new"}
    feed.send([insert(2)])
    feed.load(table="shop.orders")
    assert feed.rows == {1: "a", 2: "new", 3: "new"}
