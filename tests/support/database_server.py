"""The database servers of the tests: each has a folder of its own, a start that waits, and runs statements of root."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pymysql

from tests.support.servers import Server, free_port

PASSWORD = "p@ss/wörd:1"


class DatabaseServer:
    """A server of MySQL's protocol with a user `lake`, who may read all tables and their changes."""

    name: str
    _command: list[object]

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"{self.name}-"))  # pytest's are for root alone
        self.port = free_port()

    @property
    def url(self) -> str:
        """The Airflow connection of the user `lake`."""
        return f"mysql://lake:p%40ss%2Fw%C3%B6rd%3A1@127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process of the server."""
        return self._server.pid

    def start(self) -> None:
        self._server = Server(self.name, self._command, self.port, self.folder)

    def stop(self, keep: bool = False) -> None:
        self._server.stop(keep)

    def kill(self) -> None:
        """End it by SIGKILL. `start` lets it recover."""
        self._server.kill()

    def connection(self, database: str | None = None, charset: str = "utf8mb4") -> pymysql.connections.Connection[Any]:
        """A connection of root, without TLS: the authorities of the machine are loaded for each connection with it."""
        return pymysql.connect(
            unix_socket=str(self.folder / "socket"),
            user="root",
            database=database,
            charset=charset,
            autocommit=True,
            ssl_disabled=True,
        )

    def dialect(self, statement: str) -> list[str]:
        """A statement of MariaDB in the words of the server."""
        return [statement]

    def run(self, *statements: str) -> None:
        """Run statements as root."""
        connection = self.connection()
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    for part in self.dialect(statement):
                        cursor.execute(part)
        finally:
            connection.close()
