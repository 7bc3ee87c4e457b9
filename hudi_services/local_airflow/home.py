"""The folder of an embedded Airflow, and the settings that every part of it is started with."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import hoodie
from hoodie.errors import ConfigError, MachineError
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.ports import free_ports
from hudi_services.runtime.folders import DAGS, PROJECT
from hudi_services.runtime.spark.java import spark_environment

MARK = "HUDI_AIRFLOW_HOME"
"""The environment variable by which every process of a home is known."""

_SETTINGS = Path(__file__).parent / "settings"
_PLUGINS = Path(__file__).parent / "plugins"
_NEEDED = ("apache-airflow", "apache-airflow-providers-apache-spark")
_ODD = frozenset("?#%")  # mean something else in the address of a database


@dataclass(frozen=True)
class AirflowHome:
    """The folder of an Airflow's database, logs and passwords; the registry it serves, and the ports it listens on.

    `paused`: a new DAG waits until a user switches it on. Logs are kept for `log_days` days. Airflow reads a DAG file, and so the
    registry, every `dag_seconds` seconds.
    """

    folder: Path
    registry: Path
    spark_master: str = "local[2]"
    ports: tuple[int, int, int, int] = field(default_factory=free_ports)  # pages, tasks' API, two of logs
    users: Mapping[str, str] = field(default_factory=lambda: {"admin": "admin", "viewer": "viewer"})  # name -> role
    paused: bool = False
    log_days: int = 30
    dag_seconds: int = 10

    @property
    def task_logs(self) -> Path:
        return self.folder / "airflow" / "logs"

    @property
    def database(self) -> Path:
        return self.folder / "airflow.db"

    @property
    def log(self) -> Path:
        return self.folder / "airflow.log"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def tables(self) -> str:
        """The page of all tables."""
        return f"{self.address}/plugin/hudi"

    def variables(self) -> dict[str, str]:
        """Environment variables that paths of the registry are made of, in addition to those of this process."""
        return {}

    def passwords(self) -> dict[str, str]:
        """The password of each user; made at the first start and kept."""
        file = self.folder / "passwords.json"
        if not file.exists():
            self.make()
            file.touch(mode=0o600)
            file.write_text(json.dumps({name: secrets.token_urlsafe(9) for name in self.users}))
        document: dict[str, str] = json.loads(file.read_text())
        return document

    def api(self, user: str = "admin") -> AirflowApi:
        return AirflowApi(self.address, user, self.passwords()[user])

    def make(self) -> None:
        """The folder, which git passes over: it has passwords. Raises ConfigError for a path that Airflow cannot use."""
        if odd := sorted(_ODD & set(str(self.folder))):
            raise ConfigError(
                f"Airflow's home cannot be {self.folder}",
                found=f"{odd[0]!r} in the path, which has a meaning in the address of Airflow's database",
                fix="give --home another folder",
            )
        why = "a folder that may not be written to"
        try:
            if not self.folder.exists():
                self.folder.mkdir(parents=True)
                (self.folder / ".gitignore").write_text("*\n")
            if os.access(self.folder, os.W_OK | os.X_OK):
                return
        except OSError as error:
            why = error.strerror or str(error)
        raise ConfigError(f"Airflow's home cannot be {self.folder}", found=why, fix="give --home another folder")

    def environment(self) -> dict[str, str]:
        """The settings of every Airflow command of this home. Raises MachineError without Airflow or a Java for Spark."""
        check_installed()
        self.passwords()
        settings = {
            "CORE__DAGS_FOLDER": DAGS,
            "CORE__PLUGINS_FOLDER": _PLUGINS,
            "CORE__LOAD_EXAMPLES": False,
            "CORE__DAGS_ARE_PAUSED_AT_CREATION": self.paused,
            "CORE__EXECUTOR": "LocalExecutor",
            "CORE__PARALLELISM": 4,
            "CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{self.ports[1]}/execution/",
            "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in self.users.items()),
            "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": self.folder / "passwords.json",
            # The timeout is the wait for a lock of SQLite, in seconds; see settings/airflow_local_settings.py.
            "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.database}?timeout=30",
            "DATABASE__CHECK_MIGRATIONS": False,  # half a second of each process: `migrate` was called
            "API__HOST": "127.0.0.1",
            "API__PORT": self.ports[0],
            "API__BASE_URL": self.address,
            "API__WORKERS": 1,
            "API__SECRET_KEY": self._secret("api"),
            "API_AUTH__JWT_SECRET": self._secret("jwt"),
            "LOGGING__WORKER_LOG_SERVER_PORT": self.ports[2],
            "LOGGING__TRIGGER_LOG_SERVER_PORT": self.ports[3],
            "DAG_PROCESSOR__REFRESH_INTERVAL": self.dag_seconds,
            "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": self.dag_seconds,
            "USAGE_DATA_COLLECTION__ENABLED": False,
        }
        return {
            **_inherited(os.environ),
            **spark_environment(),
            **{f"AIRFLOW__{name}": str(value) for name, value in settings.items()},
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "HUDI_REGISTRY": str(self.registry),
            **self.variables(),
            MARK: str(self.folder),
            "SPT_NOENV": "1",  # processes that rename themselves leave their environment as it is, and so the mark
            "PYTHONPATH": os.pathsep.join(map(str, (_SETTINGS, Path(hoodie.__file__).parents[1], PROJECT))),
            **_past_proxies(os.environ),
            "AIRFLOW_CONN_SPARK_DEFAULT": os.environ.get("AIRFLOW_CONN_SPARK_DEFAULT")
            or json.dumps({"conn_type": "spark", "host": self.spark_master}),
        }

    def migrate(self) -> None:
        """Make Airflow's database, or bring it to this release of Airflow. Raises what `command` does.

        A database that this release has migrated before needs nothing: a start then saves six seconds.
        """
        migrated, release = self.folder / "airflow.db.release", metadata.version("apache-airflow")
        if self.database.exists() and migrated.exists() and migrated.read_text() == release:
            return
        migrated.unlink(missing_ok=True)  # a migration that fails may leave half of it
        self.command("airflow", "db", "migrate")
        migrated.write_text(release)

    def command(self, *arguments: str) -> str:
        """Run a Python module or program of the environment to its end. Raises MachineError with its last lines."""
        run = subprocess.run(
            [sys.executable, "-m", *arguments], env=self.environment(), capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            raise MachineError(f"`{' '.join(arguments)}` ended with code {run.returncode}", found=run.stderr[-2000:])
        return run.stdout

    def _secret(self, name: str) -> str:
        file = self.folder / f"{name}.secret"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(32))
        return file.read_text()


def check_installed() -> None:
    """Raises MachineError when this Python has no Airflow, or not its Spark provider."""
    missing = []
    for name in _NEEDED:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise MachineError(
            "Airflow is not installed",
            found=f"{sys.executable} has no {' and no '.join(missing)}",
            fix="pip install 'hudi-table-services[airflow]'",
        )


def _past_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The parts of Airflow talk to each other without a proxy; what goes to the lake may need one."""
    no_proxy = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    hosts = ",".join(filter(None, [no_proxy, "127.0.0.1,localhost"]))
    return {"no_proxy": hosts, "NO_PROXY": hosts}


def _inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Connections and variables of Airflow go along; the settings of another Airflow do not."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith("AIRFLOW") or name.startswith(("AIRFLOW_CONN_", "AIRFLOW_VAR_"))
    }
