"""A MariaDB server of the tests, which keeps its data in a folder of its own and ends with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pymysql

from tests.support.servers import Server, free_port

_UNPRIVILEGED = "mysql"  # the server refuses to be root
PASSWORD = "p@ss/wörd:1"
_LOGGED = {
    "log-bin": "bin",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "gtid-strict-mode": "ON",
    "character-set-server": "utf8mb4",
}


class MariaDB:
    """A server with a user `lake`, who may read all tables and their changes. `settings` add to those of a right binlog."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mariadb-"))  # pytest's are for root alone
        self._data = self._folder / "data"
        self.port = free_port()
        user = [f"--user={_UNPRIVILEGED}"] if os.getuid() == 0 else []
        if user:
            shutil.chown(self._folder, _UNPRIVILEGED, _UNPRIVILEGED)
        install = ["--no-defaults", *user, f"--datadir={self._data}", "--auth-root-authentication-method=normal"]
        # A server that starts deletes the temporary tables of others in its folder, and they fail or crash.
        own = {**os.environ, "TMPDIR": str(self._folder)}
        command = ["mariadb-install-db", *install, "--skip-test-db"]
        done = subprocess.run(command, capture_output=True, text=True, env=own)
        assert done.returncode == 0, done.stdout + done.stderr
        options = {
            "datadir": str(self._data),
            "tmpdir": str(self._folder),
            "port": str(self.port),
            "socket": str(self._folder / "socket"),
            "bind-address": "127.0.0.1",
            "server-id": "1",
            "innodb-buffer-pool-size": "64M",
            "innodb-flush-log-at-trx-commit": "0",
            **_LOGGED,
            **(settings or {}),
        }
        self._command: list[object] = [
            "/usr/sbin/mariadbd",
            "--no-defaults",
            *user,
            *(f"--{name}={value}" for name, value in options.items()),
        ]
        self.start()
        self.run(
            f"CREATE USER lake IDENTIFIED BY '{PASSWORD}'",
            "GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO lake",
            "GRANT SELECT ON *.* TO lake",
        )

    @property
    def url(self) -> str:
        """The Airflow connection of the user `lake`."""
        return f"mysql://lake:p%40ss%2Fw%C3%B6rd%3A1@127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process of the server."""
        return self._server.pid

    def start(self) -> None:
        self._server = Server("mariadb", self._command, self.port, self._folder)

    def stop(self, keep: bool = False) -> None:
        self._server.stop(keep)

    def kill(self) -> None:
        """End it by SIGKILL. `start` lets it recover."""
        self._server.kill()

    def connection(self, database: str | None = None, charset: str = "utf8mb4") -> pymysql.connections.Connection[Any]:
        """A connection of root."""
        return pymysql.connect(
            unix_socket=str(self._folder / "socket"), user="root", database=database, charset=charset, autocommit=True
        )

    def run(self, *statements: str) -> None:
        """Run statements as root."""
        connection = self.connection()
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
        finally:
            connection.close()
