"""A MySQL server of the tests, which comes with its libraries from a newer release of Debian."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping

import pytest

from tests.interop.mysql_packages import ensure_mysql
from tests.support.database_server import PASSWORD, DatabaseServer
from tests.support.matrix import other_server

only_mysql = pytest.mark.parametrize("server", [pytest.param("mysql", marks=other_server)], indirect=True)
"""Tests of what MariaDB does not have."""
_LOGGED = {
    "log-bin": "bin",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "gtid-mode": "ON",
    "enforce-gtid-consistency": "ON",
    "character-set-server": "utf8mb4",
    "cte-max-recursion-depth": "100000",
}
_REPLACE = re.compile(r"CREATE OR REPLACE (TABLE|DATABASE|USER) (\S+)", re.IGNORECASE)
_SEQUENCE = re.compile(r"(?:\w+\.)?seq_(\d+)_to_(\d+)\b( \w+$)?")


class MySQL(DatabaseServer):
    """`settings` add to those of a right binlog with GTIDs. Statements may use some words of MariaDB."""

    name = "mysql"

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        program = ensure_mysql()
        options = {
            "datadir": str(self.folder / "data"),
            "tmpdir": str(self.folder),
            "port": str(self.port),
            "socket": str(self.folder / "socket"),
            "bind-address": "127.0.0.1",
            "server-id": "1",
            "innodb-buffer-pool-size": "64M",
            "innodb-flush-log-at-trx-commit": "0",
            "mysqlx": "OFF",
            "secure-file-priv": "",
            **_LOGGED,
            **(settings or {}),
        }
        user = ["--user=root"] if os.getuid() == 0 else []
        self._command = [*program, *user, *(f"--{name}={value}" for name, value in options.items())]
        done = subprocess.run([*self._command, "--initialize-insecure"], capture_output=True, text=True)  # type: ignore[list-item]
        assert done.returncode == 0, done.stdout + done.stderr
        self.start()
        self.run(
            f"CREATE USER lake IDENTIFIED BY '{PASSWORD}'",
            "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO lake",
            "GRANT SELECT ON *.* TO lake",
        )

    def dialect(self, statement: str) -> list[str]:
        """Replace `CREATE OR REPLACE`, the tables `seq_1_to_9`, and the right to see positions."""
        replaced = _REPLACE.match(statement.strip())
        dropped = [f"DROP {replaced[1]} IF EXISTS {replaced[2]}"] if replaced else []
        statement = statement.replace(" OR REPLACE", "", 1) if replaced else statement
        return [*dropped, _SEQUENCE.sub(_numbers, statement.replace("BINLOG MONITOR", "REPLICATION CLIENT"))]


def _numbers(table: re.Match[str]) -> str:
    first, last, alias = table[1], table[2], table[3] or " numbers"
    more = f"SELECT {first} UNION ALL SELECT seq + 1 FROM s WHERE seq < {last}"
    return f"(WITH RECURSIVE s (seq) AS ({more}) SELECT seq FROM s){alias}"
