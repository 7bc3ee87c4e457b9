"""A value that the connector did not get stays as the table has it, in tables of each kind."""

from __future__ import annotations

import json
from functools import partial

import pyarrow as pa
import pytest

from hoodie.errors import PendingInstantError, SourceError
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.ingest.kafka import stored_rows
from tests.support.matrix import pairwise
from tests.support.messages import change, envelope, enveloped, field
from tests.support.topic import TopicTable
from tests.unit.hudi_services.sources.cdc.messages import test_debezium_avro as avro

MARKER = "__debezium_unavailable_value"
LONG = "long " * 1000
_FIELDS = [
    field("id", "int32", optional=False),
    field("day", "string"),
    field("name", "string"),
    field("size", "int32"),
]
_ENVELOPE = envelope(_FIELDS, "postgresql")
SIMPLE = {"hoodie.index.type": "SIMPLE"}
GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.table.partition.fields": "day"}
BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": 2}


def row(number, name=LONG, size=1, day="d1"):
    return {"id": number, "day": day, "name": name, "size": size}


def message(op, before, after):
    return enveloped(_ENVELOPE, change(op, before, after))


insert = partial(message, "c", None)


def update(after, before=None):
    return message("u", before, after)


@pytest.fixture
def topic(tmp_path):
    return TopicTable(tmp_path / "orders", message_format("debezium-json"))


@pytest.mark.parametrize(
    ("kind", "version", "index"),
    pairwise(("COPY_ON_WRITE", "MERGE_ON_READ"), ("9", "6"), (SIMPLE, GLOBAL, BUCKET)),
)
def test_an_update_keeps_the_stored_value(topic, kind, version, index):
    topic.options = {"hoodie.table.type": kind, "hoodie.write.table.version": version, **index}
    topic.load(insert(row(1)), insert(row(2, "two")))
    topic.load(update(row(1, MARKER, 2)), update(row(2, "new")))
    assert topic.column("name") == {1: LONG, 2: "new"}
    assert topic.column("size") == {1: 2, 2: 1}
    topic.load(update(row(2, MARKER, 3)), message("d", row(1, None, None), None))
    assert topic.column("name") == {2: "new"}
    assert topic.column("size") == {2: 3}


def test_a_row_before_in_the_batch_has_the_value(topic):
    topic.load(insert(row(1)), update(row(1, MARKER, 2)), update(row(1, MARKER, 3)))
    assert (topic.column("name"), topic.column("size")) == ({1: LONG}, {1: 3})
    topic.load(update(row(1, "short", 4)), update(row(1, MARKER, 5)))
    assert (topic.column("name"), topic.column("size")) == ({1: "short"}, {1: 5})


def test_a_key_that_changes_takes_its_value_along(topic):
    topic.load(insert(row(1)))
    topic.load(update(row(2, MARKER), {**row(1, None, None), "day": None}), update(row(2, MARKER, 7)))
    assert (topic.column("name"), topic.column("size")) == ({2: LONG}, {2: 7})


def test_in_partitions_the_row_before_says_where_the_value_is(topic):
    topic.options = {"hoodie.table.partition.fields": "day"}
    topic.load(insert(row(1, "one", day="d1")), insert(row(1, "other", day="d2")))
    topic.load(update(row(1, MARKER, day="d3"), row(1, None, None, day="d2")))
    rows = topic.table.read(columns=["day", "name"]).sort_by("day").to_pylist()
    assert rows == [{"day": "d1", "name": "one"}, {"day": "d3", "name": "other"}]


def test_a_row_that_the_table_does_not_have_stops_the_load(topic):
    topic.load(insert(row(1)))
    with pytest.raises(SourceError, match=r"1 of 2 rows.*cannot be loaded.*'name'.*REPLICA IDENTITY FULL"):
        topic.load(update(row(1, MARKER, 2)), update(row(2, MARKER)))
    assert (topic.column("name"), topic.column("size")) == ({1: LONG}, {1: 1})
    topic.load(max_bad_share=0.5)
    assert (topic.column("name"), topic.column("size")) == ({1: LONG}, {1: 2})
    assert "no row before has it" in topic.quarantined[-1]["reason"]


def test_a_first_load_that_begins_with_an_update_stops(topic):
    with pytest.raises(SourceError, match=r"1 of 1 rows.*'name'"):
        topic.load(update(row(1, MARKER)))


def test_a_column_that_the_table_does_not_have_is_no_value(topic):
    few = envelope([_FIELDS[0]], "postgresql")
    topic.load(enveloped(few, change("c", None, {"id": 1})))
    with pytest.raises(SourceError, match=r"1 of 1 rows.*'name'"):
        topic.load(update(row(1, MARKER)))


def test_a_null_that_the_table_has_is_no_value(topic):
    topic.load(insert(row(1, None)))
    with pytest.raises(SourceError, match=r"1 of 1 rows.*'name'"):
        topic.load(update(row(1, MARKER)))


def test_another_writer_after_the_look_at_the_table(topic, monkeypatch):
    topic.load(insert(row(1)))
    looked = stored_rows.StoredRows.values

    def values(self, *arguments):
        found = looked(self, *arguments)
        topic.table.write(pa.Table.from_pylist([row(1, "another writer's")], topic.table.stored_schema))
        return found

    monkeypatch.setattr(stored_rows.StoredRows, "values", values)
    with pytest.raises(PendingInstantError, match=r"Another writer committed .* after this run had taken values"):
        topic.load(update(row(1, MARKER, 2)))
    monkeypatch.undo()
    topic.load()
    assert (topic.column("name"), topic.column("size")) == ({1: "another writer's"}, {1: 2})


def test_more_than_the_memory_holds_is_refused(topic, monkeypatch):
    topic.load(*(insert(row(number)) for number in range(20)))
    monkeypatch.setattr(stored_rows, "_MOST_BYTES", 50_000)
    with pytest.raises(SourceError, match=r"takes too many values.*max_messages"):
        topic.load(*(update(row(number, MARKER, 2)) for number in range(20)))
    topic.of_source = {"max_messages": 5}
    for _ in range(4):
        topic.load()
    assert {*topic.column("name").values()} == {LONG}
    assert {*topic.column("size").values()} == {2}


def test_a_marker_of_ones_own(topic):
    topic.format = message_format("debezium-json", unavailable="(kept)")
    topic.load(insert(row(1)))
    topic.load(update(row(1, "(kept)", 2)))
    assert topic.column("name") == {1: LONG}


def test_messages_in_avro(tmp_path):
    topic = TopicTable(tmp_path / "orders", message_format("debezium-avro", registry=avro.REGISTRY))
    topic.load(avro.of("c", None, {"id": 1, "name": LONG, "day": None}))
    topic.load(avro.of("u", None, {"id": 1, "name": MARKER, "day": 17000}))
    assert topic.column("name") == {1: LONG}
    assert topic.column("day")[1].year == 2016


def test_rows_of_a_topic_that_are_no_changes(tmp_path):
    topic = TopicTable(tmp_path / "orders", message_format("json"), are_rows=True)
    topic.load(json.dumps(row(1)).encode(), json.dumps(row(2, "two")).encode())
    topic.load(json.dumps(row(1, MARKER, 2)).encode())
    assert (topic.column("name"), topic.column("size")) == ({1: LONG, 2: "two"}, {1: 2, 2: 1})


def test_a_table_that_orders_its_rows_takes_no_such_row(tmp_path):
    topic = TopicTable(tmp_path / "orders", message_format("json"), are_rows=True)
    topic.options = {"hoodie.table.ordering.fields": "size"}
    topic.load(json.dumps(row(1)).encode())
    with pytest.raises(SourceError, match="the table orders its rows by a column"):
        topic.load(json.dumps(row(1, MARKER, 2)).encode())
