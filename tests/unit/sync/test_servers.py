"""Addresses of servers, what is said at their doors, and what of it is never repeated."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from hoodie.errors import CatalogError, ConfigError
from hoodie.sync.hiveserver import Address, HiveServer, parse_url
from hoodie.sync.metastore import Metastore

_START, _OK, _BAD = 1, 2, 3


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("jdbc:hive2://localhost:10000", Address("localhost", 10000, {})),
        ("jdbc:hive2://node/lake", Address("node", 10000, {})),
        ("jdbc:hive2://node:1/;auth=noSasl;user=ada", Address("node", 1, {"auth": "noSasl", "user": "ada"})),
        (
            "jdbc:hive2://node:1/lake;transportMode=http;httpPath=cliservice;ssl=true",
            Address("node", 1, {"transportmode": "http", "httppath": "cliservice", "ssl": "true"}),
        ),
    ],
)
def test_addresses(url, address):
    assert parse_url(url) == address


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("localhost:10000", "not an address of one HiveServer2"),
        ("jdbc:hive2://zk1:2181,zk2:2181/;serviceDiscoveryMode=zooKeeper", "not an address of one HiveServer2"),
        ("jdbc:hive2://node:1/?hive.exec.parallel=true", "not an address of one HiveServer2"),
        ("jdbc:hive2://node:1/;principal=hive/_HOST@REALM", "'principal'.*not supported"),
    ],
)
def test_addresses_that_cannot_be_used_are_named(url, found):
    with pytest.raises(ConfigError, match=found):
        parse_url(url)


def test_no_message_repeats_a_password():
    with pytest.raises(ConfigError) as refused:
        parse_url("hive2://node:1/;user=ada;password=secret")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("uris", ["metastore:9083", "http://metastore:9083", "thrift://a:1,"])
def test_addresses_of_metastores(uris):
    with pytest.raises(ConfigError, match="names no metastore"):
        Metastore.connect(uris, "hive", 10)


class Door:
    """A HiveServer2 as far as its login (SASL PLAIN), which it refuses; it keeps what was said."""

    def __init__(self):
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.said = []
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def close(self):
        self._listening.close()
        self._thread.join(5)

    def _answer(self):
        with self._listening.accept()[0] as visitor:
            while len(self.said) < 2:
                status, size = struct.unpack(">BI", visitor.recv(5, socket.MSG_WAITALL))
                self.said.append((status, visitor.recv(size, socket.MSG_WAITALL)))
            words = b"Error validating the login"
            visitor.sendall(struct.pack(">BI", _BAD, len(words)) + words)


@pytest.mark.parametrize(
    ("settings", "login"), [("", b"\0ada\0secret"), ("/lake;user=bob;password=hidden", b"\0bob\0hidden")]
)
def test_user_and_password_are_told_and_a_refusal_is_said(settings, login):
    door = Door()
    with pytest.raises(CatalogError, match=r"Error validating the login.*\.username and \.password") as refused:
        HiveServer.connect(f"jdbc:hive2://127.0.0.1:{door.port}{settings}", "ada", "secret", 10)
    door.close()
    assert door.said == [(_START, b"PLAIN"), (_OK, login)]
    assert login.rpartition(b"\0")[2].decode() not in f"{refused.value} {refused.value.__cause__}"
