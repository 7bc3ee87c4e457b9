"""A PostgreSQL server of the tests, which keeps its data in a folder of its own and ends with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.support.servers import Server, free_port
from tests.support.waiting import until

_UNPRIVILEGED = "postgres"  # the server refuses to be root


class PostgreSQL:
    """`url` is SQLAlchemy's, of an empty database whose user has the password `pass:word/@`."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))  # pytest's are for root alone
        self._data = self._folder / "data"
        self._as: list[str] = []
        if os.getuid() == 0:
            self._as = ["setpriv", f"--reuid={_UNPRIVILEGED}", f"--regid={_UNPRIVILEGED}", "--clear-groups"]
            shutil.chown(self._folder, _UNPRIVILEGED, _UNPRIVILEGED)
        secret = self._folder / "password"
        secret.write_text("pass:word/@")
        self._run("initdb", "-D", self._data, "-U", "watcher", "-A", "scram-sha-256", f"--pwfile={secret}", "-N")
        self._port = free_port()
        self.url = f"postgresql+psycopg2://watcher:pass%3Aword%2F%40@127.0.0.1:{self._port}/postgres"
        self.start()

    def start(self) -> None:
        command = [
            _program("postgres"),
            "-D",
            self._data,
            "-p",
            self._port,
            "-k",
            self._folder,
            "-F",
            "-h",
            "127.0.0.1",
        ]
        self._server = Server("postgres", [*self._as, *command], self._port, self._folder)
        ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self._port)]
        # Its port answers before it takes connections.
        until(lambda: subprocess.run(ready, check=False).returncode == 0)

    def stop(self, keep: bool = False) -> None:
        """Stop at once, without waiting for clients."""
        self._run("pg_ctl", "stop", "-m", "fast", "-D", self._data)
        self._server.stop(keep)

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self._as, _program(program), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder)


def _program(name: str) -> str:
    found = shutil.which(name) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), default=None)
    assert found is not None, f"no program {name}: run tests/needs.sh"
    return found
