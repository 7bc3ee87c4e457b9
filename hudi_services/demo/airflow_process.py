"""A real Airflow on this machine: scheduler, API server, DAG processor and triggerer, with a home folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hoodie.errors import MachineError
from hudi_services.demo.airflow_api import AirflowApi
from hudi_services.java import spark_environment

PROJECT = Path(__file__).resolve().parents[2]
_GRACE = 15.0  # seconds between asking the processes to end and killing them


@dataclass(frozen=True)
class AirflowHome:
    """Where Airflow, the lake and the landing folder of a demo or a test are, and the ports it listens on."""

    folder: Path
    registry: Path = PROJECT / "tables.yaml"
    spark_master: str = "local[2]"
    ports: tuple[int, int, int] = field(default_factory=lambda: free_ports(3))
    users: Mapping[str, str] = field(default_factory=lambda: {"admin": "admin", "viewer": "viewer"})  # name -> role
    places: Mapping[str, str] = field(
        default_factory=dict
    )  # variables of the registry, in place of those of this folder

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def landing(self) -> Path:
        return self.folder / "landing"

    @property
    def log(self) -> Path:
        return self.folder / "airflow.log"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    def variables(self) -> dict[str, str]:
        """The environment variables that paths of the demo's registry are made of."""
        return {"HUDI_LAKE": str(self.lake), "HUDI_LANDING": str(self.landing), **self.places}

    def passwords(self) -> dict[str, str]:
        """The password of each user; made at the first start and kept."""
        file = self.folder / "passwords.json"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(json.dumps({name: secrets.token_urlsafe(9) for name in self.users}))
        found: dict[str, str] = json.loads(file.read_text())
        return found

    def api(self, user: str = "admin") -> AirflowApi:
        return AirflowApi(self.address, user, self.passwords()[user])

    def environment(self) -> dict[str, str]:
        """The settings of every Airflow command of this home. Raises MachineError without a Java for Spark."""
        self.passwords()
        settings = {
            "CORE__DAGS_FOLDER": PROJECT / "dags",
            "CORE__PLUGINS_FOLDER": PROJECT / "plugins",
            "CORE__LOAD_EXAMPLES": False,
            "CORE__EXECUTOR": "LocalExecutor",
            "CORE__PARALLELISM": 4,
            "CORE__EXECUTION_API_SERVER_URL": f"{self.address}/execution/",
            "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in self.users.items()),
            "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": self.folder / "passwords.json",
            "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self._database}?timeout=30",
            "API__HOST": "127.0.0.1",
            "API__PORT": self.ports[0],
            "API__BASE_URL": self.address,
            "API__WORKERS": 1,
            "API__SECRET_KEY": self._secret("api"),
            "API_AUTH__JWT_SECRET": self._secret("jwt"),
            "LOGGING__WORKER_LOG_SERVER_PORT": self.ports[1],
            "LOGGING__TRIGGER_LOG_SERVER_PORT": self.ports[2],
            "DAG_PROCESSOR__REFRESH_INTERVAL": 10,
            "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": 10,
            "USAGE_DATA_COLLECTION__ENABLED": False,
        }
        connection = {"conn_type": "spark", "host": self.spark_master}
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")},
            **spark_environment(),
            **{f"AIRFLOW__{name}": str(value) for name, value in settings.items()},
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(connection),
            "HUDI_REGISTRY": str(self.registry),
            **self.variables(),
            "PYTHONPATH": os.pathsep.join([str(PROJECT / "plugins"), str(PROJECT)]),
            "NO_PROXY": "*",
        }

    def command(self, *arguments: str) -> str:
        """Run a Python module or program of the environment to its end. Raises MachineError with its last lines."""
        run = subprocess.run(
            [sys.executable, "-m", *arguments], env=self.environment(), capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            raise MachineError(f"`{' '.join(arguments)}` ended with code {run.returncode}", found=run.stderr[-2000:])
        return run.stdout

    def prepare_database(self) -> None:
        """SQLite that is read while it is written: with its usual journal the parts of Airflow lock each other out."""
        with contextlib.closing(sqlite3.connect(self._database)) as database:
            database.execute("PRAGMA journal_mode=WAL")

    @property
    def _database(self) -> Path:
        return self.folder / "airflow.db"

    def _secret(self, name: str) -> str:
        file = self.folder / f"{name}.secret"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(32))
        return file.read_text()


@contextlib.contextmanager
def running(home: AirflowHome, patience: float = 180.0) -> Iterator[AirflowApi]:
    """Airflow, up and answering, for the time of the block. Raises MachineError when it does not come up in `patience` seconds.

    It runs in a session of its own: its parts start further processes that outlive them, and a scheduler that is left behind
    would go on working; at the end the whole group is stopped.
    """
    home.folder.mkdir(parents=True, exist_ok=True)
    home.prepare_database()
    with home.log.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "airflow", "standalone"],
            env=home.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        api = home.api()
        _wait_until_up(process, api, home, patience)
        yield api
    finally:
        _stop_group(process)


def free_ports(count: int) -> tuple[int, int, int]:
    """Ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for held in sockets:
            held.bind(("127.0.0.1", 0))
        first, second, third = (held.getsockname()[1] for held in sockets)
    return first, second, third


def is_free(port: int) -> bool:
    """Whether nobody listens on the port now."""
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _wait_until_up(process: subprocess.Popen[bytes], api: AirflowApi, home: AirflowHome, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not api.healthy():
        ended = process.poll() is not None
        if ended or time.monotonic() > deadline:
            state = f"it ended with code {process.returncode}" if ended else f"it is not up after {patience:.0f} s"
            lines = home.log.read_text(errors="replace").splitlines()[-15:]
            raise MachineError(f"Airflow does not start: {state}", found="\n".join(lines), fix=f"read {home.log}")
        time.sleep(0.5)


def _stop_group(process: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        deadline = time.monotonic() + _GRACE
        while _group_lives(process) and time.monotonic() < deadline:
            time.sleep(0.2)


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()  # else the ended leader stays in the group as a zombie
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
