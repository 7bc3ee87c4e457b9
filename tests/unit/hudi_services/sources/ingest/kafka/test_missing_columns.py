"""Columns of the table that messages lack."""

from __future__ import annotations

import io
import json

import fastavro
import pyarrow as pa
import pytest

from hoodie.errors import SchemaConflictError
from hudi_services.sources.cdc.messages.messages import message_format
from hudi_services.sources.ingest.kafka import missing_columns
from hudi_services.sources.ingest.kafka.missing_columns import lacking, places_text
from tests.support.messages import change, envelope, enveloped, field, messages
from tests.support.orders import insert

KNOWN = pa.schema([("id", pa.int32()), ("name", pa.string())])
ID, NAME = field("id", "int32", optional=False), field("name", "string")
OLD = enveloped(envelope([ID]), change("c", None, {"id": 7}, "orders"))


def debezium(**row):
    return json.dumps({"before": None, "after": row, "op": "c", "source": {"db": "shop", "table": "orders"}}).encode()


def lacks(values, name="debezium-json", *, names_nulls=True, **parameters):
    """The numbers of messages by the columns that they lack."""
    table = messages(values)
    decoded = message_format(name, **parameters).decode(table, KNOWN)
    assert not decoded.rejected
    return {name: numbers.tolist() for name, numbers in lacking(decoded, table, KNOWN, names_nulls=names_nulls).items()}


def test_a_null_is_no_column_that_is_missing():
    named = debezium(id=1, name=None)
    assert lacks([named, debezium(id=1, name="a")]) == {}
    assert lacks([debezium(id=1), named, debezium(id=2), debezium(id=2, name="a")]) == {"name": [0, 2]}


def test_a_schema_says_which_columns_there_are():
    new = insert(1, None)[1]
    assert lacks([new]) == {}
    assert lacks([OLD, OLD]) == {"name": [0, 1]}
    assert lacks([new, OLD, new]) == {"name": [1]}


def test_names_of_messages_with_a_schema_are_not_searched(monkeypatch):
    monkeypatch.setattr(missing_columns, "_names_of", None)
    assert lacks([insert(1, None)[1], insert(2, "a")[1]]) == {}


def test_a_schema_of_avro_does_too():
    fields = [{"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"]}]
    schemas = [{"type": "record", "name": "Order", "fields": fields[:count]} for count in (2, 1)]

    class Schemas:
        def schema(self, number):
            return json.dumps(schemas[number])

    def avro(number, **values):
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schemas[number]), values)
        return b"\0" + number.to_bytes(4, "big") + out.getvalue()

    rows = [avro(0, id=1, name=None), avro(1, id=2)]
    assert lacks(rows, "avro", names_nulls=False, registry=Schemas()) == {"name": [1]}


def test_rows_in_json_leave_out_what_is_null():
    rows = [b'{"id":1}', b'{"id":1,"name":"a"}']
    assert lacks(rows, "json", names_nulls=False) == {}


def test_deletions_need_no_other_columns():
    deleted = {"before": {"id": 1}, "after": None, "op": "d", "source": {"db": "shop", "table": "orders"}}
    assert lacks([json.dumps(deleted).encode()]) == {}


def test_one_of_many_messages_is_found(monkeypatch):
    monkeypatch.setattr(missing_columns, "_SEARCHED", 2)
    values = [debezium(id=number, name=None) for number in range(500)]
    values[300] = debezium(id=300)
    assert lacks(values) == {"name": [300]}


def test_their_place_is_named():
    table = messages([OLD] * 3)
    assert places_text(table, [1]) == "1 message, the first one with offset 1 of partition 0"
    assert places_text(table, [1, 2]).startswith("2 messages, the first one with offset 1")


@pytest.mark.process
def test_a_load_names_them_and_an_option_refuses_them(feed):
    feed.send([insert(7)])
    assert "WARNING" not in feed.batch().message
    feed.send([insert(8), (b"", OLD), (b"", OLD)])
    where = "name (not in 2 messages, the first one with offset 2 of partition 0)"
    feed.options["hoodie.write.set.null.for.missing.columns"] = "false"
    with pytest.raises(SchemaConflictError, match=r"Messages of topic .* lack columns of the table") as raised:
        feed.batch()
    assert where in str(raised.value)
    assert feed.rows == {7: "new"}
    del feed.options["hoodie.write.set.null.for.missing.columns"]
    warning = f"WARNING: messages lack columns of the table, which are null in their rows: {where}"
    assert warning in feed.batch().message
    assert feed.rows == {7: None, 8: "new"}
