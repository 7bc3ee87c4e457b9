"""Server processes of the tests: each on a free port of 127.0.0.1, ended by its own id."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from tests.support.waiting import until


class Server:
    """A server process: waits until its port answers; stopped as a group, since launchers start children."""

    def __init__(
        self,
        name: str,
        command: list[object],
        port: int,
        folder: Path,
        environment: dict[str, str] | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        self.port = port
        self.folder = folder
        self._log = open(folder / f"{name}.log", "w")  # noqa: SIM115 - open as long as the server
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            until(lambda: self._process.poll() is not None or _answers(host, port), pause=0.1)
            assert self._process.poll() is None
        except AssertionError as error:
            self.stop(keep=True)
            log = (folder / f"{name}.log").read_text()[-3000:]
            raise RuntimeError(f"{name} did not start: {log}") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self, keep: bool = False, patience: float = 20) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._log.close()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """End it by SIGKILL. Its folder stays."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True
