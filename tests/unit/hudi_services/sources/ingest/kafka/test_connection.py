"""Connections of Airflow as settings of the client."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError
from hudi_services.entry.server import KafkaServer
from hudi_services.sources.ingest.kafka.connection import client_settings, login


@pytest.mark.parametrize(
    ("value", "addresses", "user", "password"),
    [
        ("kafka://b1", "b1:9092", "", ""),
        ("kafka://b1:9093,b2", "b1:9093,b2:9092", "", ""),
        ("kafka://b1%3A9093%2Cb2", "b1:9093,b2:9092", "", ""),
        ("kafka://me:p%40s%2Fs@b1:1", "b1:1", "me", "p@s/s"),
        ("kafka://?bootstrap.servers=b1%3A1%2Cb2%3A2", "b1:1,b2:2", "", ""),
        (json.dumps({"host": "b1,b2:7", "port": 9, "login": "me", "password": "x"}), "b1:9,b2:7", "me", "x"),
        (
            json.dumps({"extra": {"bootstrap.servers": "b1:1", "sasl.username": "me", "sasl.password": "x"}}),
            "b1:1",
            "me",
            "x",
        ),
        (json.dumps({"extra": json.dumps({"bootstrap.servers": "[::1]:5"})}), "[::1]:5", "", ""),
    ],
)
def test_forms_of_a_connection(value, addresses, user, password):
    found = login("a-b", {"AIRFLOW_CONN_A-B": value})
    assert (found.addresses, found.user, found.password) == (addresses, user, password)
    assert not password or password not in repr(found)


@pytest.mark.parametrize("value", ["", "secret", "kafka://", "{", '{"host": ""}', "[]"])
def test_a_connection_that_cannot_be_used_is_refused_without_its_value(value):
    with pytest.raises(ConfigError) as raised:
        login("events", {"AIRFLOW_CONN_EVENTS": value})
    assert "AIRFLOW_CONN_EVENTS" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_security():
    plain, user = {"AIRFLOW_CONN_X": "kafka://b"}, {"AIRFLOW_CONN_X": "kafka://me:pw@b"}

    def settings(environ, **more):
        return client_settings(KafkaServer(type="kafka", connection="x", **more), environ)

    assert settings(plain)["security.protocol"] == "SSL"
    assert settings(plain, tls="off")["security.protocol"] == "PLAINTEXT"
    assert settings(user, tls="off", sasl="PLAIN")["security.protocol"] == "SASL_PLAINTEXT"
    encrypted = settings(user, tls="encrypt", ca="/ca.pem", sasl="SCRAM-SHA-512")
    assert encrypted["enable.ssl.certificate.verification"] is False
    assert (encrypted["security.protocol"], encrypted["sasl.mechanism"]) == ("SASL_SSL", "SCRAM-SHA-512")
    assert (encrypted["sasl.password"], encrypted["ssl.ca.location"]) == ("pw", "/ca.pem")
    assert "enable.ssl.certificate.verification" not in settings(plain)
    with pytest.raises(ConfigError, match="no user and password, which sasl PLAIN needs"):
        settings(plain, sasl="PLAIN")
    with pytest.raises(ConfigError, match="add `sasl: PLAIN`"):
        settings(user)
