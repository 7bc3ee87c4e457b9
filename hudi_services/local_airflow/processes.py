"""The processes of an embedded Airflow: scheduler, API server, DAG processor, triggerer, and all that they start.

The watcher is one of them, which fills the store that the pages show.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hoodie.errors import MachineError
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.home import MARK, AirflowHome
from hudi_services.local_airflow.owner import owned
from hudi_services.local_airflow.ports import is_free

if TYPE_CHECKING:
    import psutil

_GRACE = 6.0  # seconds between asking the processes to end and killing them


_PAGES, _TASKS, _SCHEDULER, _WATCHER = "api-server", "execution-api", "scheduler", "watcher"
_DAGS, _TRIGGERER = "dag-processor", "triggerer"
_AGAIN = 60.0  # seconds before a watcher that has ended is begun again: Airflow does without


@dataclass(frozen=True)
class Parts:
    """The processes of a home's Airflow that were begun here, by their names."""

    home: AirflowHome
    environment: dict[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    started_at: dict[str, float] = field(default_factory=dict)

    def begin(self, name: str) -> None:
        """Each in a session of its own, so that Ctrl-C of a terminal reaches this process only."""
        self.started_at[name] = time.monotonic()
        with self.home.log.open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", *self._command(name)],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self, name: str) -> list[str]:
        """The pages and the API of tasks are apart: in one server, as Airflow has by default, a request that is being logged on
        SQLite stops all others, also the one whose commit it waits for; then both fail, and tasks with them."""
        if name == _PAGES:
            return ["airflow", "api-server", "--apps", "core"]
        if name == _TASKS:
            return ["hoodie_airflow.task_api", "api-server", "--apps", "execution", "--port", str(self.home.ports[1])]
        if name == _TRIGGERER:
            return ["hoodie_airflow.task_api", name]
        if name == _WATCHER:
            return ["hudi_services", "watch", "--registry", str(self.home.registry)]
        # The DAG processor and the scheduler fork processes that parse DAG files.
        return ["hoodie_airflow.preload", name]

    def check(self) -> None:
        """Raises MachineError when one of Airflow's has ended by itself."""
        for name, process in list(self.processes.items()):
            if process.poll() is None:
                continue
            if name != _WATCHER:
                raise _failed(self.home, f"Airflow's {name} ended by itself with code {process.returncode}")
            if time.monotonic() - self.started_at[name] > _AGAIN:
                self.begin(name)


@contextlib.contextmanager
def running(home: AirflowHome, patience: float = 180.0) -> Iterator[AirflowApi]:
    """Airflow, up and answering, for the time of the block. Raises what `started` and `wait_until_up` do."""
    with started(home) as parts:
        yield wait_until_up(parts, patience)


@contextlib.contextmanager
def started(home: AirflowHome) -> Iterator[Parts]:
    """Run Airflow's first processes for the time of the block. At its end all of them have ended, with tasks and their
    Spark.

    Raises AlreadyRunningError when the home has a running Airflow. Processes that a killed start has left are ended
    first.
    """
    environment = home.environment()
    with owned(home.folder, home.address, home.registry), contextlib.ExitStack() as stack:
        stop(home.folder)
        stack.callback(stop, home.folder)  # registered first: a signal may come while they start
        home.migrate()
        if home.log.exists():
            home.log.replace(home.log.with_name(f"{home.log.name}.1"))  # the log that the start before wrote
        parts = Parts(home, environment)
        for name in (_PAGES, _TASKS, _DAGS, _TRIGGERER, _WATCHER):
            parts.begin(name)
        yield parts


def wait_until_up(parts: Parts, patience: float = 180.0) -> AirflowApi:
    """Its API, once all parts report in. Raises MachineError when they do not in `patience` seconds.

    The scheduler begins when the API of tasks listens: the first ones would fail without it.
    """
    api, deadline = parts.home.api(), time.monotonic() + patience
    while not api.healthy():
        parts.check()
        if _SCHEDULER not in parts.processes and not is_free(parts.home.ports[1]):
            parts.begin(_SCHEDULER)
        if time.monotonic() > deadline:
            raise _failed(parts.home, f"Airflow is not up after {patience:.0f} s")
        time.sleep(0.5)
    return api


def processes_of(folder: Path) -> list[psutil.Process]:
    """All processes of a home: not only those of its session, as tasks have groups and sessions of their own."""
    import psutil  # comes with Airflow

    result = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                result.append(process)
    return result


def stop(folder: Path, grace: float = _GRACE) -> None:
    """End all processes of a home, and kill those that are still there after `grace` seconds."""
    import psutil

    own_processes = processes_of(folder)
    for root_process in own_processes:
        with contextlib.suppress(psutil.Error):
            root_process.terminate()
    deadline = time.monotonic() + grace
    while remaining := processes_of(folder):
        if time.monotonic() > deadline:
            for process in remaining:
                with contextlib.suppress(psutil.Error):
                    process.kill()
        time.sleep(0.2)
    psutil.wait_procs(own_processes, timeout=0)  # takes note of the end of those that are this process's children


def _failed(home: AirflowHome, title: str) -> MachineError:
    lines = home.log.read_text(errors="replace").splitlines()[-15:]
    return MachineError(title, found="\n".join(lines), fix=f"read {home.log}")
