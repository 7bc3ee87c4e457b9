"""A MariaDB server of the demo's own: its data is in the demo's folder, and it ends with the demo."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pymysql

from hoodie.errors import HoodieError

_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec")
"""Folders of mariadbd that are not on the PATH of most users."""
_START = 90.0  # seconds until the server answers
_STOP = 30.0  # seconds for it to end
_OUTPUT = 1500  # characters that an error shows
_USER = "lake"
_SETTINGS = {
    "bind-address": "127.0.0.1",
    "server-id": "1",
    "log-bin": "bin",
    "binlog-format": "ROW",
    "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
    "character-set-server": "utf8mb4",
    "innodb-buffer-pool-size": "256M",
    "innodb-flush-log-at-trx-commit": "0",
    "table-open-cache": "4000",
}


class ServerError(HoodieError):
    """The demo's server is not installed, or did not start."""


class DemoServer:
    """A server on a free port of this machine. Only the process that `__init__` starts is ended by `stop`.

    Its administrator is the user of this process, through a socket in a folder that others cannot open. The reader is a user of
    the name `lake` with a password made for this run, who may read tables and their changes and nothing more.
    """

    def __init__(self, folder: Path) -> None:
        """Start a server with its data in `folder`. Raises ServerError when it is not installed or does not start."""
        server, install = _program("mariadbd"), _program("mariadb-install-db")
        folder.mkdir(parents=True, exist_ok=True)
        self._private = Path(tempfile.mkdtemp(prefix="demo-mariadb-"))  # paths of sockets have at most 107 characters
        self._administrator = getpass.getuser()
        self._password = secrets.token_urlsafe(16)
        self._log = folder / "server.log"
        self.port = _free_port()
        common = ["--no-defaults", f"--datadir={folder / 'data'}"]
        if os.getuid() == 0:
            common.append("--user=root")  # the server refuses to be root unless this is said
        try:
            _install([install, *common], folder, self._administrator)
            settings = {"socket": self._socket, "port": self.port, "tmpdir": folder, **_SETTINGS}
            with self._log.open("w") as log:
                self._process = subprocess.Popen(
                    [server, *common, *(f"--{name}={value}" for name, value in settings.items())],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C reaches the demo alone, which then stops the server
                )
        except BaseException:
            shutil.rmtree(self._private, ignore_errors=True)
            raise
        try:
            self._wait()
            with self.connection() as connection, connection.cursor() as cursor:
                cursor.execute(f"CREATE USER {_USER} IDENTIFIED BY %s", (self._password,))
                cursor.execute(f"GRANT SELECT, REPLICATION SLAVE, BINLOG MONITOR ON *.* TO {_USER}")
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The Airflow connection of the reader, with its password."""
        return f"mysql://{_USER}:{self._password}@127.0.0.1:{self.port}"

    def connection(self) -> pymysql.connections.Connection[Any]:
        """A connection of the administrator, which commits each statement."""
        return pymysql.connect(
            unix_socket=self._socket, user=self._administrator, charset="utf8mb4", autocommit=True, connect_timeout=10
        )

    def stop(self) -> None:
        """End the server's process."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_STOP)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self._private, ignore_errors=True)

    @property
    def _socket(self) -> str:
        return str(self._private / "socket")

    def _wait(self) -> None:
        start = time.monotonic()
        while True:
            try:
                self.connection().close()
                return
            except pymysql.err.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() - start > _START:
                    raise ServerError(
                        "The demo's MariaDB server did not start",
                        found=f"{error}, and {self._log} ends with\n{self._log.read_text()[-_OUTPUT:]}",
                        fix="free memory and disk as the log says, and run make demo-database again",
                    ) from error
            time.sleep(0.1)


def _program(name: str) -> str:
    path = shutil.which(name) or shutil.which(name, path=os.pathsep.join(_SYSTEM_FOLDERS))
    if path is None:
        raise ServerError(
            "The demo needs a MariaDB server of its own",
            found=f"no program {name}",
            fix="apt-get install mariadb-server",
        )
    return path


def _install(command: list[str], folder: Path, administrator: str) -> None:
    """Make the server's own tables. Temporary files stay in `folder`: a server that starts deletes those of others."""
    result = subprocess.run(
        [
            *command,
            "--auth-root-authentication-method=socket",
            f"--auth-root-socket-user={administrator}",
            "--skip-test-db",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    if result.returncode != 0:
        raise ServerError(
            "The demo's MariaDB server could not be set up",
            found=(result.stdout + result.stderr)[-_OUTPUT:],
            fix="correct what the message says, and run make demo-database again",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
