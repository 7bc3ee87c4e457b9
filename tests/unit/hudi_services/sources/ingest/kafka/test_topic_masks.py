"""Masks of the columns of a topic: their values are in no file, no quarantine and no message."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError, HoodieError, SourceError
from hudi_services.sources.cdc.masks import Masks
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.messages import change, envelope, enveloped, field
from tests.support.topic import TopicTable

SECRET = "PLANTED-4111-1111"
_FIELDS = [field("id", "int32", optional=False), *(field(name, "string") for name in ("email", "card", "note"))]
_ENVELOPE = envelope([*_FIELDS, field("price", "float64")])
MASKS = Masks({"email": "hash", "card": "drop", "note": "mask", "price": "mask"}, "pepper")


def row(number, secret="a"):
    return {"id": number, **dict.fromkeys(("email", "card", "note"), f"{SECRET}{secret}"), "price": 41.25}


def message(op, before, after):
    return enveloped(_ENVELOPE, change(op, before, after))


@pytest.fixture
def topic(tmp_path):
    options = {"hoodie.parquet.compression.codec": "uncompressed"}
    return TopicTable(tmp_path / "orders", message_format("debezium-json"), options, of_source={"masks": MASKS})


def assert_nowhere(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_values_are_in_no_file(topic, tmp_path, kind, caplog):
    topic.options["hoodie.table.type"] = kind
    topic.load(message("c", None, row(1)), message("c", None, row(2, "b")), message("c", None, row(3)))
    topic.load(message("u", row(2, "b"), row(2)), message("d", row(3), None))
    assert topic.table.stored_schema.names == ["id", "email", "note", "price"]
    emails = topic.column("email")
    assert sorted(emails) == [1, 2]
    assert len({*emails.values()}) == 1
    assert len(emails[1]) == 64
    assert topic.column("note") == {1: "***", 2: "***"}
    assert topic.column("price") == {1: None, 2: None}
    assert_nowhere(tmp_path)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("name", ["debezium-json", "json"])
def test_bad_messages_are_hidden(topic, tmp_path, name):
    bad = f'{{"id": 1, "email": "{SECRET}", "after": "{SECRET}'.encode()
    topic.format = message_format(name)
    good = message("c", None, row(1)) if name == "debezium-json" else json.dumps(row(1)).encode()
    with pytest.raises(SourceError) as raised:
        topic.load(bad)
    assert SECRET not in str(raised.value)
    topic.load(good, max_bad_share=0.9)
    assert [line["row"] for line in topic.quarantined[-1:]] == [{"value": "hidden: columns of the table are masked"}]
    assert_nowhere(tmp_path)


def test_a_table_keeps_its_masks(topic):
    topic.load(message("c", None, row(1)))
    topic.messages.append((None, message("c", None, row(2))))
    for masks in (Masks(), Masks({"email": "hash"}, "pepper"), Masks(MASKS.columns, "salt")):
        topic.of_source = {"masks": masks}
        with pytest.raises(ConfigError, match="masked in another way"):
            topic.load()
    topic.of_source = {"masks": MASKS}
    topic.load()
    assert sorted(topic.column("email")) == [1, 2]


def test_masks_on_a_table_that_has_none_are_refused(topic):
    topic.of_source = {}
    topic.load(message("c", None, row(1)))
    topic.of_source = {"masks": MASKS}
    with pytest.raises(ConfigError, match="masked in another way"):
        topic.load(message("c", None, row(2)))


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ({"Email": "mask"}, "No message has a column 'Email'"),
        ({"id": "drop"}, "Record key column 'id' is in no row"),
        ({"id": "mask"}, "part of the key"),
        ({"price": "hash"}, "cannot be hashed"),
    ],
)
def test_masks_that_cannot_be(topic, masks, words):
    topic.of_source = {"masks": Masks(masks, "pepper")}
    with pytest.raises(HoodieError, match=words):
        topic.load(message("c", None, row(1)))


def test_a_key_may_be_hashed(topic):
    topic.of_source = {"masks": Masks({"id": "hash"}, "pepper")}
    topic.load(message("c", None, row(1)), message("c", None, row(2)))
    topic.load(message("u", row(1), row(1, "new")), message("d", row(2), None))
    assert [*topic.column("note").values()] == [f"{SECRET}new"]


def test_a_value_that_was_not_sent_keeps_its_mask(topic):
    topic.load(message("c", None, row(1)))
    before = topic.column("email")
    marked = row(1) | {"email": "__debezium_unavailable_value", "card": "__debezium_unavailable_value"}
    topic.load(message("u", None, marked | {"note": None}))
    assert topic.column("email") == before
    assert topic.column("note") == {1: None}
