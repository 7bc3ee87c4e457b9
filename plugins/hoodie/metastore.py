"""A connection to a Hive metastore over Thrift. Hive sync and the lock of that name ask through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from pymetastore.hive_metastore import ThriftHiveMetastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from hoodie.errors import ConfigError

_CONNECT_MS = 5_000  # a host that is down answers nothing at all
_TIMEOUT_MS = 60_000
_DEFAULT_PORT = 9083


@dataclass(frozen=True)
class Connection:
    """`client` has the calls of Hive's service; `address` is where it answers. It takes one call at a time."""

    client: Any
    transport: Any
    address: str

    @classmethod
    def open(cls, uris: str, option: str, user: str) -> Self:
        """To the first of the comma separated `uris` that answers.

        Raises ConfigError, naming the `option` that they come from, for what is not an address; ConnectionError that says what
        each has answered when none can be used.
        """
        problems = []
        for host, port in [_address(uri.strip(), option) for uri in uris.split(",")]:
            socket = TSocket(host, port)
            socket.setTimeout(_CONNECT_MS)
            transport = TBufferedTransport(socket)
            client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
            try:
                transport.open()
                socket.setTimeout(_TIMEOUT_MS)
                client.set_ugi(user, [user])
            except (TException, OSError) as error:
                transport.close()
                problems.append(f"{host}:{port}: {words(error)}")
                continue
            return cls(client, transport, f"{host}:{port}")
        raise ConnectionError("; ".join(problems))

    def close(self) -> None:
        self.transport.close()


def words(error: BaseException) -> str:
    """Words of a server's error, or the reason why it did not answer."""
    if isinstance(error, TTransportException) and error.inner is not None:
        return str(error.inner)
    return str(getattr(error, "message", None) or error or type(error).__name__)


def _address(uri: str, option: str) -> tuple[str, int]:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port or _DEFAULT_PORT
    except ValueError:  # a port that is not a number
        host = None
    if host is None or parts.scheme != "thrift":
        raise ConfigError(
            f"{option} names no metastore",
            found=repr(uri),
            fix="write thrift://host:port, several with commas",
        )
    return host, port
