"""The judge as a DAG: when it is there, what it starts, and that it goes on after a table that cannot be looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import CronDataIntervalTimetable

from hoodie.clock import SystemClock
from hoodie_airflow.forms import run_request
from hoodie_airflow.judge import HudiJudgeOperator, judge_dag
from hudi_services.entry.judge import Judge
from hudi_services.operations.objectives import rounds
from hudi_services.operations.watch.location import store_of
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from tests.support.airflow_task import Tried, context
from tests.support.tables import SMALL_BLOOM, batch, create


class Counted(Tried):
    """Knows which DAGs have runs."""

    active: tuple[str, ...] = ()

    def get_dr_count(self, dag_id: str, states: list[str]) -> int:
        assert states == ["queued", "running"]
        return int(dag_id in self.active)


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """A merge-on-read table with logs, and one that is damaged; both are compacted by objectives."""
    table = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    for number in (1, 2):
        table.write(batch([("1", "p", number, number)]), "upsert", SMALL_BLOOM)
    broken = create(tmp_path / "broken", **{"hoodie.table.type": "MERGE_ON_READ"})
    Path(broken.base_path, ".hoodie", "hoodie.properties").write_text("hoodie.table.version=99\n")
    compacted = {"type": "MERGE_ON_READ", "compact": {"schedule": "objectives"}}
    tables = [{"name": name, "base_path": f"{tmp_path}/{name}", **compacted} for name in ("orders", "broken")]
    file = tmp_path / "tables.yaml"
    judge = {"schedule": "*/10 * * * *"}
    file.write_text(json.dumps({"judge": judge, "objectives": {"log_ratio": 0.001}, "tables": tables}))
    return file


def judged(file: Path, *active: str, **judge: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The runs to start, and the XCom `choices`."""
    run = context()
    run["ti"] = Counted()
    run["ti"].active = active
    started = HudiJudgeOperator(task_id="judge", file=str(file), judge=Judge(**judge)).execute(run)
    return started, run["ti"].xcoms["choices"]


def test_what_misses_its_objective_is_started_with_its_name(registry: Path) -> None:
    started, choices = judged(registry)
    assert started == [
        {
            "trigger_dag_id": "hudi_compact__orders",
            "trigger_run_id": "objectives__manual__1",
            "conf": {"objective": "log_ratio"},
        }
    ]
    assert [(each["table"], each["started"]) for each in choices["choices"]] == [("orders", True)]
    assert list(choices["errors"]) == ["broken"]


def test_what_the_watcher_has_just_seen_is_not_looked_at(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_registry(registry)
    store = SnapshotStore.open(store_of(reading.registry), make=True)
    Watcher(store, SystemClock()).round(reading)
    gathered: list[str] = []
    monkeypatch.setattr(rounds, "gather", lambda entry, *_: gathered.append(entry.name))
    started, choices = judged(registry)
    assert [each["trigger_dag_id"] for each in started] == ["hudi_compact__orders"]
    assert (list(choices["errors"]), gathered) == (["broken"], [])


def test_what_goes_on_and_quiet_hours_start_nothing(registry: Path) -> None:
    started, choices = judged(registry, "hudi_compact__orders")
    assert (started, choices["choices"][0]["reason"]) == ([], "a run of it goes on")
    started, choices = judged(registry, quiet=("00:00-12:00", "12:00-00:00"))
    assert (started, choices["choices"][0]["reason"]) == ([], "these are quiet hours")


def test_the_run_that_is_started_knows_why() -> None:
    run = context()
    run["dag_run"].conf = {"objective": "log_ratio"}
    assert run_request(run).urged == "log_ratio"
    assert run_request(context()).urged == ""


def test_only_a_registry_that_asks_for_it_has_the_dag(registry: Path, tmp_path: Path) -> None:
    dag = judge_dag(registry)
    assert dag is not None
    assert (dag.dag_id, sorted(dag.task_ids)) == ("hudi_objectives", ["judge", "start"])
    assert isinstance(dag.timetable, CronDataIntervalTimetable)
    assert dag.task_dict["start"].upstream_task_ids == {"judge"}
    (other := tmp_path / "other.yaml").write_text("tables: []\n")
    assert judge_dag(other) is None
