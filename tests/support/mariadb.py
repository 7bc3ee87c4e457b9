"""A MariaDB server of the tests, which keeps its data in a folder of its own and ends with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

import pytest

from tests.support.database_server import PASSWORD, DatabaseServer

only_mariadb = pytest.mark.parametrize("server", ["mariadb"], indirect=True)
"""Tests of what MySQL has in other words, or not at all."""
_UNPRIVILEGED = "mysql"  # the server refuses to be root
_LOGGED = {
    "log-bin": "bin",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "gtid-strict-mode": "ON",
    "character-set-server": "utf8mb4",
}


class MariaDB(DatabaseServer):
    """`settings` add to those of a right binlog."""

    name = "mariadb"

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        data = self.folder / "data"
        user = [f"--user={_UNPRIVILEGED}"] if os.getuid() == 0 else []
        if user:
            shutil.chown(self.folder, _UNPRIVILEGED, _UNPRIVILEGED)
        install = ["--no-defaults", *user, f"--datadir={data}", "--auth-root-authentication-method=normal"]
        # A server that starts deletes the temporary tables of others in its folder, and they fail or crash.
        own = {**os.environ, "TMPDIR": str(self.folder)}
        command = ["mariadb-install-db", *install, "--skip-test-db"]
        done = subprocess.run(command, capture_output=True, text=True, env=own)
        assert done.returncode == 0, done.stdout + done.stderr
        options = {
            "datadir": str(data),
            "tmpdir": str(self.folder),
            "port": str(self.port),
            "socket": str(self.folder / "socket"),
            "bind-address": "127.0.0.1",
            "server-id": "1",
            "innodb-buffer-pool-size": "64M",
            "innodb-flush-log-at-trx-commit": "0",
            **_LOGGED,
            **(settings or {}),
        }
        self._command = [
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
