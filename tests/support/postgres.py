"""A PostgreSQL server of the tests, which keeps its data in a folder of the test and ends with it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from tests.support.servers import Server, free_port

_UNPRIVILEGED = "postgres"  # the server refuses to be root


class PostgreSQL:
    """`url` is SQLAlchemy's, of an empty database whose user has the password `pass:word/@`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"postgresql+psycopg2://watcher:pass%3Aword%2F%40@127.0.0.1:{self._port}/postgres"
        self._data = folder / "data"
        self._data.mkdir(parents=True)
        self._as = []
        if os.getuid() == 0:
            self._as = ["setpriv", f"--reuid={_UNPRIVILEGED}", f"--regid={_UNPRIVILEGED}", "--clear-groups"]
            for each in (folder, self._data):
                shutil.chown(each, _UNPRIVILEGED, pwd.getpwnam(_UNPRIVILEGED).pw_gid)
            for each in folder.parents:
                if each.stat().st_uid == 0 and each != Path("/"):
                    each.chmod(each.stat().st_mode | 0o011)
        secret = folder / "password"
        secret.write_text("pass:word/@")
        secret.chmod(0o644)
        command = [_program("initdb"), "-D", self._data, "-U", "watcher", "-A", "scram-sha-256", f"--pwfile={secret}"]
        subprocess.run([*self._as, *map(str, command), "-N"], check=True, capture_output=True, cwd=folder)
        self.start()

    def start(self) -> None:
        command = [_program("postgres"), "-D", self._data, "-p", self._port, "-k", self._folder, "-F"]
        self._server = Server("postgres", [*self._as, *command, "-h", "127.0.0.1"], self._port, self._folder)

    def stop(self) -> None:
        self._server.stop(keep=True)


def _program(name: str) -> str:
    found = shutil.which(name) or max(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), default=None)
    assert found is not None, f"no program {name}: run tests/needs.sh"
    return found
