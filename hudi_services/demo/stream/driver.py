"""The demo's Spark application as a process of its own, which can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from hoodie.errors import HoodieError
from hudi_services.demo.stream.app import READY
from hudi_services.runtime.spark.java import spark_environment
from hudi_services.runtime.spark.session import checkout_folders

_START = 120.0  # seconds until the queries run
_STOP = 60.0  # seconds for them to end
_OUTPUT = 15  # lines that an error shows


class DriverError(HoodieError):
    """The Spark application ended by itself, or did not start."""


class Driver:
    """The driver with its JVM and workers. `say` gets the lines that it prints."""

    def __init__(self, home: Path, cores: int, say: Callable[[str], None]) -> None:
        self._say = say
        self._log = home / "driver.log"
        self._ready = threading.Event()
        command = [sys.executable, "-m", "hudi_services.demo", "stream-queries", "--folder", str(home)]
        self._process = subprocess.Popen(
            [*command, "--cores", str(cores)],
            env={
                **os.environ,
                **spark_environment(),
                "PYTHONPATH": os.pathsep.join([*checkout_folders(), os.environ.get("PYTHONPATH", "")]),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # a group of processes: they are killed together
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> float:
        """Wait until the queries run. Returns the seconds. Raises DriverError when they do not start."""
        start = time.monotonic()
        while not self._ready.wait(0.1):
            self.check()
            if time.monotonic() - start > _START:
                self.kill()
                raise DriverError("The queries did not start", found=self._end(), fix="try again on a quiet machine")
        return time.monotonic() - start

    def check(self) -> None:
        """Raise DriverError when the application has ended."""
        if self._process.poll() is not None:
            self._reader.join(5)
            raise DriverError("The streaming queries ended", found=self._end(), fix="this is a bug: please report it")

    def stop(self) -> None:
        """Let the queries end. A batch that is under way is written again after the next start."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the driver, its JVM and its workers by SIGKILL."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            for line in self._process.stdout:
                log.write(line)
                log.flush()
                self._heard(line)

    def _heard(self, line: str) -> None:
        if line.startswith(READY):
            self._ready.set()
        elif line.startswith("Spark reads"):
            self._say(line.rstrip())

    def _end(self) -> str:
        lines = self._log.read_text().splitlines()
        return f"{self._log} ends with\n" + "\n".join(lines[-_OUTPUT:])
