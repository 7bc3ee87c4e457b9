"""One demo, then the Airflow it left, with a registry of its own, for all tests of this folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

from hudi_services.demo.home import DemoHome
from hudi_services.demo.land import land
from hudi_services.demo.run import UNCHANGED_SECONDS
from hudi_services.local_airflow.api import AirflowApi
from hudi_services.local_airflow.dags import wait_for_dags
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.processes import running
from hudi_services.runtime.folders import DAGS, PROJECT
from tests.e2e import catalog, failing
from tests.e2e.catalog import Outage
from tests.support.browser import chromium
from tests.support.hooks import Server, serving
from tests.support.jvm import submit_environment
from tests.support.matrix import DEEP
from tests.support.page_lake import FEW, MANY, registry, watch, write_lake
from tests.support.page_server import page_server
from tests.support.servers import free_port
from tests.support.waiting import until

os.environ.update({name: value for name, value in submit_environment().items() if name.startswith("SPARK_")})

DAYS = 2
FIRST, LAST = date(2013, 1, 29), date(2013, 1, 30)
DATED = {"name": "dated", "engine": "local", "ingest": {"start": FIRST}}
"""Loads the days of a form, and what is new. The demo does so on Spark."""
GUARDED = {
    "name": "guarded",
    "engine": "local",
    "clean": {"hoodie": {"hoodie.clean.commits.retained": 1, "hoodie.delete.max.files": 1}},
}


JUDGED = {
    "name": "judged",
    "type": "MERGE_ON_READ",
    "engine": "local",
    "objectives": {"log_ratio": 0.001},
    "compact": {"schedule": "objectives", "deadline": "1s"},
}
FOLLOWER = {
    "name": "follower",
    "engine": "local",
    "keys": {"record_key": ["id"], "partition_by": ["part"]},
    "stream": {"table": "source", "commits_by": "any"},
}
BEGUN = {
    "hudi_ingest__catalogued": {"from": "2013-01-29", "to": "2013-01-30"},
    "hudi_ingest__damaged": {},
    **({"hudi_ingest__on_spark": {}} if DEEP else {}),
    "hudi_clean__flights": {"operation": "explain", "policy": "KEEP_LATEST_FILE_VERSIONS", "retained": 1},
    "hudi_ingest__dated": {"from": "2013-01-31", "to": "2013-02-01"},
    "hudi_ingest__unconnected": {},
    "hudi_ingest__rejected": {},
    "hudi_bootstrap__rejected": {},
}
"""Runs of several tests. They wait for the same programs, and so for less time together than one after the other."""
AFTER_JUDGED = """
from airflow.sdk import DAG, task
from hoodie_airflow.commits import commits_asset

with DAG("after_judged", schedule=[commits_asset("judged")], max_active_runs=1):

    @task
    def look(triggering_asset_events=None):
        return [event.extra["payload"] for events in triggering_asset_events.values() for event in events]

    look()
"""
"""A user's own DAG: one that commits of any writer start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the demo's Airflow come last: its programs then take no time of a core beside the others. The pages
    in a browser come one after the other."""

    def place(item: pytest.Item) -> int:
        names = getattr(item, "fixturenames", ())
        return 2 if "demo" in names else int("browser" in names)

    items.sort(key=place)


@dataclass(frozen=True)
class HomeWithOwnDags(DemoHome):
    """A user's DAG files beside those of the project."""

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "AIRFLOW__CORE__DAGS_FOLDER": str(self.folder / "dags")}


@dataclass(frozen=True)
class Demo:
    """The output of `make demo`; its table, which other tests use, and a copy in its first state."""

    folder: Path
    exit_code: int
    output: str

    @property
    def table(self) -> str:
        return str(self.folder / "lake" / "flights")

    @property
    def copy(self) -> str:
        return str(self.folder / "copy")


_open = ExitStack()
_browsers: list[Browser] = []


@pytest.fixture
def browser() -> Browser:
    """It stays open for the next test, so that each user signs in once, and Airflow's scripts are loaded once."""
    if not _browsers:
        _browsers.append(_open.enter_context(chromium()))
        _open.callback(_browsers.clear)
    return _browsers[0]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test without a browser closes it: while Playwright is open, asyncio finds its loop running."""
    if "browser" not in getattr(item, "fixturenames", ()):
        _open.close()


def pytest_sessionfinish() -> None:
    _open.close()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo of two days in a folder of its own."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "hudi_services.demo", "run", "--days", str(DAYS), "--folder", str(folder)]
    run = subprocess.run(command, cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(run.stdout)
    demo = Demo(folder, run.returncode, run.stdout)
    if run.returncode == 0:
        shutil.copytree(demo.table, demo.copy)
    return demo


@dataclass(frozen=True)
class Running:
    """An Airflow that is up, and its administrator's session."""

    home: DemoHome
    api: AirflowApi
    metastore_port: int  # where the table `catalogued` is synced; at first no server listens there
    hook: Server  # receives the alerts
    begun: dict[str, str]
    """DAGs and the runs that were begun together at the start, for tests that look at their ends."""

    def states(self, dag: str, run: str) -> dict[str, str]:
        """The states of a run's tasks."""
        return {task["task_id"]: task["state"] for task in self.api.tasks(dag, run)}

    def ended(self, dag: str, run: str) -> dict[str, str]:
        """The states of a run's tasks at its end."""
        path = f"/dags/{dag}/dagRuns/{run.replace('+', '%2B')}"
        until(
            lambda: self.api.get(path)["state"] in ("success", "failed"),
            lambda: f"the end of {run} of {dag}: {self.states(dag, run)}",
            pause=0.5,
        )
        return self.states(dag, run)


@pytest.fixture(scope="session")
def hook() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def airflow(demo: Demo, hook: Server) -> Iterator[Running]:
    """The demo's Airflow again, with more tables: one that is synced, one without a Spark connection, one to reject, one whose
    cleans must ask, one that is compacted by an objective, one that follows another, three whose loads fail, and one with a
    mistake."""
    metastore_port = free_port()
    registry = yaml.safe_load((PROJECT / "tables.yaml").read_text())
    flights, _, history = registry["tables"]
    metastore = {"mode": "hms", "metastore.uris": f"thrift://127.0.0.1:{metastore_port}", "database": "lake"}
    if not DEEP:
        registry["tables"][0] = {**flights, "engine": "local"}  # what is explained here the demo did on Spark
    registry["tables"] += [
        {
            **flights,
            "name": "catalogued",
            "base_path": "${HUDI_LAKE}/catalogued",
            "engine": "local",
            "ingest": {"start": FIRST},
            "sync": {"hoodie": {f"hoodie.datasource.hive_sync.{key}": value for key, value in metastore.items()}},
        },
        {**flights, **DATED, "base_path": "${HUDI_LAKE}/dated"},
        *failing.entries(),
        {**flights, "name": "unconnected", "base_path": "${HUDI_LAKE}/unconnected", "connection": "nowhere"},
        {**history, "name": "rejected", "base_path": "${HUDI_LAKE}/rejected"},
        {**GUARDED, "base_path": "${HUDI_LAKE}/guarded"},
        {**JUDGED, "base_path": "${HUDI_LAKE}/judged"},
        {"name": "source", "base_path": "${HUDI_LAKE}/source"},
        {**FOLLOWER, "base_path": "${HUDI_LAKE}/follower"},
        {**flights, "name": "misspelt", "base_path": "${HUDI_LAKE}/misspelt", "operatoin": "upsert"},
    ]
    registry |= {"judge": {}, "watch": {"every": 2}, "alerts": {"hooks": [{"name": "ops", "url": hook.address}]}}
    file = demo.folder / "tables.yaml"
    file.write_text(yaml.safe_dump(registry))
    home = HomeWithOwnDags(demo.folder, registry=file, dag_seconds=UNCHANGED_SECONDS)
    shutil.copytree(DAGS, demo.folder / "dags", ignore=shutil.ignore_patterns("__pycache__"))
    (demo.folder / "dags" / "after_judged.py").write_text(AFTER_JUDGED)
    land(home.landing / "flights", FIRST, date(2013, 1, 31))  # a day more than the demo loaded
    with running(home) as api:
        dags = ["hudi_ingest__flights", "hudi_clean__flights", "hudi_ingest__unconnected", "hudi_ingest__dated"]
        dags += [
            "hudi_ingest__catalogued",
            "hudi_sync__catalogued",
            *(f"hudi_ingest__{name}" for name in failing.ENGINES),
        ]
        dags += ["hudi_bootstrap__rejected", "hudi_ingest__rejected", "hudi_clean__guarded"]
        dags += ["hudi_compact__judged", "hudi_objectives", "after_judged", "hudi_stream__follower"]
        wait_for_dags(api, dags)
        for dag in dags:
            api.unpause(dag)
        failing.deliver_to_spark(home)
        yield Running(home, api, metastore_port, hook, {dag: api.trigger(dag, conf) for dag, conf in BEGUN.items()})


@pytest.fixture(scope="session")
def outage(airflow: Running) -> Iterator[Outage]:
    """The metastore is down at first. A test of the first module asks for it: others run until the second try of the sync."""
    with catalog.outage(airflow) as outage:
        yield outage


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with Airflow's database, which others copy: to make it takes ten seconds. The demo makes its own."""
    home = AirflowHome(tmp_path_factory.mktemp("migrated") / "home", PROJECT / "tables.yaml")
    home.make()
    home.migrate()
    return home.folder


def copy_database(migrated: Path, home: AirflowHome) -> None:
    """So that the home needs no migration."""
    home.make()
    for file in migrated.glob("airflow.db*"):
        shutil.copy(file, home.folder)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, migrated: Path) -> Iterator[AirflowHome]:
    """An API server by itself, for the pages of tables."""
    folder = tmp_path_factory.mktemp("pages")
    copy_database(migrated, AirflowHome(folder / "airflow-home", folder / "tables.yaml"))
    with page_server(folder, folder / "tables.yaml", ["damaged", *FEW, *MANY]) as home:
        yield home


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("lake")
    write_lake(lake)
    return lake


@pytest.fixture
def few(home: AirflowHome, lake: Path) -> None:
    """A table with logs and a plan that waits, one without a snapshot, one that is not there, and a mistake."""
    registry(home, FEW, "  - {name: wrong, base_path: /lake/wrong, typ: x}\n", lake)
    watch(home)
