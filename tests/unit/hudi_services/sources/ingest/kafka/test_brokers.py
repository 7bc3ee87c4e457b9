"""Logins, certificates and brokers that do not answer."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError, SourceUnavailableError
from hudi_services.entry.server import KafkaServer
from hudi_services.sources.ingest.kafka import brokers
from hudi_services.sources.ingest.kafka.brokers import topic_state
from hudi_services.sources.ingest.kafka.connection import client_settings
from tests.support.orders import insert
from tests.support.servers import free_port

pytestmark = pytest.mark.process


def state(url, topic="orders", **more):
    server = KafkaServer.model_validate({"type": "kafka", "connection": "events", **more})
    return topic_state(client_settings(server, {"AIRFLOW_CONN_EVENTS": url}), "events", topic)


def test_a_user_logs_in_over_tls(feed, broker):
    feed.send([insert(1)], 1)
    found = state(broker.tls_url, feed.topic, sasl="PLAIN", ca=str(broker.ca))
    assert (found.starts, found.ends) == ({0: 0, 1: 0}, {0: 0, 1: 1})
    assert found == state(broker.url, feed.topic, tls="off")
    assert state(broker.tls_url, feed.topic, sasl="PLAIN", tls="encrypt") == found


def test_a_wrong_password_and_a_certificate_of_another_authority_are_refused(feed, broker, monkeypatch):
    monkeypatch.setattr(brokers, "SECONDS", 2.0)
    with pytest.raises(SourceError, match="refuse the login"):
        state(broker.tls_url.replace("p%40", "q%40"), feed.topic, sasl="PLAIN", tls="encrypt")
    with pytest.raises(SourceUnavailableError, match=r"do not answer.*certificate"):
        state(broker.tls_url, feed.topic, sasl="PLAIN")


def test_brokers_that_are_not_there(monkeypatch):
    monkeypatch.setattr(brokers, "SECONDS", 0.5)
    with pytest.raises(SourceUnavailableError, match=r"brokers of server events do not answer.*Connection refused"):
        state(f"kafka://127.0.0.1:{free_port()}", tls="off")
