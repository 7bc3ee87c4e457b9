"""Random changes of a server that a DAG of a real Airflow loads, while its scheduler, tasks and the server are killed.

`SECONDS=1800 python -m pytest -s -m deep tests/load/test_scheduler.py` runs for half an hour.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

import psutil
import pytest

from hudi_services.entry.server import database_dag
from hudi_services.local_airflow.dags import wait_for_dags
from hudi_services.local_airflow.home import AirflowHome
from hudi_services.local_airflow.processes import Parts, started, wait_until_up
from hudi_services.registry.database_tables import cut_store
from hudi_services.registry.load import read_registry
from hudi_services.sources.cdc.mysql.position import log_position
from tests.load.database_changes import Changes, Session
from tests.load.test_database import SECONDS, STOP_SECONDS, Soak
from tests.support.examples import HUNT_SEED
from tests.support.waiting import until

DAG = database_dag("shop")
QUICK = {
    # A killed scheduler or task is noticed within seconds, not minutes, and tried again at once.
    "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "15",
    "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "3",
    "SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "5",
    "SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
    "SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "15",
    "CORE__DEFAULT_TASK_RETRY_DELAY": "1",
    "WORKERS__MIN_HEARTBEAT_INTERVAL": "2",
}
ACTIVE = ("queued", "running")


@dataclass(frozen=True)
class QuickHome(AirflowHome):
    """An Airflow that may connect to the server at `url`."""

    url: str = ""

    def environment(self) -> dict[str, str]:
        settings = {f"AIRFLOW__{name}": value for name, value in QUICK.items()}
        return {**super().environment(), **settings, "AIRFLOW_CONN_SHOP": self.url}


class ScheduledSoak(Soak):
    """The server, and an Airflow whose DAG loads it in place of a process that does."""

    def registered(self):
        registered = super().registered()
        registered["servers"]["shop"]["schedule"] = "* * * * *"
        return registered

    def begin(self, parts: Parts) -> None:
        """Take an Airflow that has begun."""
        self.parts, self.api = parts, wait_until_up(parts)
        wait_for_dags(self.api, [DAG])

    def children(self, *, of_tasks: bool) -> list[psutil.Process]:
        """The processes of the scheduler's tasks; otherwise all that it started.

        Idle workers of the LocalExecutor do not count. One of them holds the lock of the queue while it waits: when it is killed,
        the executor begins no task before the scheduler is started again.
        """
        with suppress(psutil.Error):
            scheduler = psutil.Process(self.parts.processes["scheduler"].pid)
            children = scheduler.children(recursive=True)
            return [child for child in children if not of_tasks or child.ppid() != scheduler.pid]
        return []

    def disturb(self) -> None:
        kind = self.dice.choice(["scheduler", "scheduler and tasks", "tasks", "tasks", "connection", "server"])
        self.said.say(did="kill", kind=kind)
        children = self.children(of_tasks=kind == "tasks")
        if kind == "connection":
            self.end_connection()
        elif kind == "server":
            self.restart_server()
        if kind.startswith("scheduler"):
            self.parts.processes["scheduler"].kill()
            self.parts.processes["scheduler"].wait()
        if kind.endswith("tasks"):
            for child in children:
                with suppress(psutil.Error):
                    child.kill()
        if kind.startswith("scheduler"):
            time.sleep(self.dice.uniform(0, 5))
            self.parts.begin("scheduler")
        self.kills[kind] += 1

    def load(self) -> None:
        """Begin a run of the DAG if none is active: the schedule begins one each minute."""
        if not any(run["state"] in ACTIVE for run in self.api.runs(DAG)):
            self.api.trigger(DAG, {})

    def round(self, seconds: float) -> None:
        stop, strange = Event(), []
        draws = [random.Random(self.dice.random()) for _ in range(2)]
        threads = [Changes(Session(self.server), draw, stop, strange).start() for draw in draws]
        end = time.monotonic() + seconds
        try:
            while (left := end - time.monotonic()) > 0:
                self.load()
                time.sleep(min(left, self.dice.uniform(0.5, self.dice.choice([6, 20]))))
                self.disturb()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert not strange, strange
        self.compare()

    def finish(self) -> str:
        [[file, offset, *_]] = self.query("SHOW MASTER STATUS")[1]
        end = log_position(f"{file}:{offset}")

        def is_loaded() -> bool:
            cut = self.cut()
            if cut is not None and log_position(cut.position) >= end and not cut.behind:
                return True
            self.load()
            return False

        until(is_loaded, lambda: f"a cut at {end}: {self.cut()}, {self.api.runs(DAG)[-3:]}", pause=1)
        until(
            lambda: not any(run["state"] in ACTIVE for run in self.api.runs(DAG)),
            lambda: f"the end of {self.api.runs(DAG)[-3:]}",
            pause=1,
        )
        return self.cut().position

    def cut(self):
        return cut_store("shop", read_registry(self.registry)).latest()


@pytest.fixture
def soak(tmp_path) -> Iterator[ScheduledSoak]:
    soak = ScheduledSoak(tmp_path, HUNT_SEED)
    try:
        home = QuickHome(tmp_path / "airflow", tmp_path / "tables.yaml", url=soak.server.url)
        with started(home) as parts:
            soak.begin(parts)
            yield soak
    finally:
        soak.close()


@pytest.mark.deep("Airflow takes half a minute to start, and a killed task ten seconds to be noticed")
def test_the_lake_equals_the_server_when_the_scheduler_is_killed(soak):
    soak.run(max(SECONDS, STOP_SECONDS))
    runs = Counter(run["state"] for run in soak.api.runs(DAG))
    print(
        f"\n{max(SECONDS, STOP_SECONDS):.0f} s, {soak.stops} stops with {soak.rows} rows compared, kills: {dict(soak.kills)}; "
        f"{soak.cut().number} cuts, runs of the DAG: {dict(runs)}"
    )
    assert soak.kills["scheduler"] + soak.kills["scheduler and tasks"]
