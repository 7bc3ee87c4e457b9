"""The model of a source is chosen by its keys."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from hudi_services.entry.server import KafkaServer
from hudi_services.entry.source import AnySource, DatabaseSource, FolderSource, TopicSource

SOURCES = TypeAdapter(AnySource)
TOPIC = {"server": "events", "topic": "orders", "format": "json"}


@pytest.mark.parametrize(
    ("said", "kind", "address"),
    [
        ({"path": "/land", "format": "csv"}, FolderSource, "/land"),
        (TOPIC, TopicSource, "kafka://events/orders"),
        ({**TOPIC, "format": "maxwell-json", "table": "shop.orders"}, TopicSource, "kafka://events/orders"),
        ({"server": "shop", "table": "shop.orders"}, DatabaseSource, "mysql://shop/shop.orders"),
    ],
)
def test_keys_choose_the_model(said, kind, address):
    source = SOURCES.validate_python(said)
    assert (type(source), source.address) == (kind, address)
    assert SOURCES.validate_python(source) is source


def test_a_topic_keeps_its_server_beside_what_was_said():
    said, server = SOURCES.validate_python(TOPIC), KafkaServer(type="kafka", connection="events")
    found = said.on(server)
    assert found.declared is server
    assert found.model_dump() == said.model_dump()
    assert found != said


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ({"server": "events", "topic": "t", "format": "json"}, "to its quarantine"),
        ({"server": "events", "topic": "t", "format": "debezium-json"}, "to its quarantine"),
        ({"server": "shop", "table": "shop.orders"}, "`hudi-services cdc verify` compares"),
    ],
)
def test_expectations_of_a_source_that_has_none_say_what_to_do_instead(source, instead):
    assert SOURCES.validate_python(source)
    with pytest.raises(ValidationError, match="has `expect`, which checks files and nothing else") as caught:
        SOURCES.validate_python({**source, "expect": {"rows": "> 0"}})
    assert instead in str(caught.value)
    assert SOURCES.validate_python({"path": "/in", "format": "json", "expect": {"rows": "> 0"}}).expect.rows == "> 0"
