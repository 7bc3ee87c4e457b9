"""Servers in the registry."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from hudi_services.entry.server import KafkaServer, SchemaRegistry


def test_tls_is_on_and_the_word_off_is_no_truth_value():
    assert KafkaServer(type="kafka", connection="events").tls == "verify"
    assert KafkaServer.model_validate({"type": "kafka", "connection": "events", "tls": False}).tls == "off"


def test_an_address_is_no_connection():
    with pytest.raises(ValidationError, match="No address or password"):
        KafkaServer(type="kafka", connection="kafka://broker:9092")


@pytest.mark.parametrize("url", ["schemas:8081", "ftp://schemas", "https://", "https://me:pw@schemas"])
def test_the_url_of_a_schema_registry(url):
    assert SchemaRegistry(url="https://schemas:8081/").url == "https://schemas:8081"
    with pytest.raises(ValidationError):
        SchemaRegistry(url=url)
