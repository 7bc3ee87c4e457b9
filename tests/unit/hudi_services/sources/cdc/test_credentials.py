"""How a connection of Airflow, in an environment variable, names a database server."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.credentials import Credentials, credentials


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mysql://lake:p%40ss%2F%3A@db.example:3307", Credentials("db.example", 3307, "lake", "p@ss/:")),
        ("mysql://lake@db", Credentials("db", 3306, "lake", "")),
        ("mysql://lake:x@[::1]:3307/shop?charset=utf8", Credentials("::1", 3307, "lake", "x")),
        (json.dumps({"host": "db", "login": "lake", "password": "p@:/"}), Credentials("db", 3306, "lake", "p@:/")),
        (json.dumps({"host": "db", "login": "lake", "port": "3308"}), Credentials("db", 3308, "lake", "")),
    ],
)
def test_urls_and_json_of_airflow_are_read(text, expected):
    assert credentials("shop", {"AIRFLOW_CONN_SHOP": text}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "secret",
        "mysql://secret",
        "mysql://u:secret@db:port",
        '{"login": "secret"}',
        '{"host": ["secret"',
        "[]",
        "lake:secret@db",
    ],
)
def test_what_names_no_server_is_refused_without_showing_it(text):
    with pytest.raises(ConfigError) as raised:
        credentials("shop", {"AIRFLOW_CONN_SHOP": text})
    assert "AIRFLOW_CONN_SHOP" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_the_password_is_in_no_text():
    assert "secret" not in repr(credentials("shop", {"AIRFLOW_CONN_SHOP": "mysql://lake:secret@db"}))
