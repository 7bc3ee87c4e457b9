"""One more entry is one more DAG a table, with its schedule, form and tasks, without any other change."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import DAG, AssetOrTimeSchedule
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException
from airflow.serialization.serialized_objects import DagSerialization

from hoodie_airflow import operator
from hoodie_airflow.assets import outlet, table_asset
from hoodie_airflow.factory import service_dags
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.worker_operator import HudiWorkerOperator
from hudi_services.runtime.result import ServiceResult, write_report
from hudi_services.services.entries import ENTRIES, Entries
from tests.support.airflow_task import Tried
from tests.support.new_service import EXPIRE, WITH_EXPIRE, entry

TABLES = """\
tables:
  - name: trips
    base_path: /lake/trips
    keys: {record_key: id, partition_by: day}
    engine: spark
    expire: {schedule: 0 1 * * *, days: 9, spark: {spark.driver.memory: 4g}, hoodie: {hoodie.clean.commits.retained: 3}}
    tags: [demo]
  - {name: exempt, base_path: /lake/exempt, expire: {}}
  - {name: without, base_path: /lake/without}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tables.yaml"
    file.write_text(TABLES)
    return file


def dag(file: Path, entries: Entries = WITH_EXPIRE) -> DAG:
    [made] = service_dags("expire", file, entries)
    return made


def context(**params: Any) -> tuple[dict[str, Any], list[Any]]:
    run = SimpleNamespace(run_type=DagRunType.MANUAL, data_interval_start=None, data_interval_end=None)
    events: list[Any] = []
    told = SimpleNamespace(add=lambda asset, extra: events.append((asset, extra)))
    return {"params": params, "dag_run": run, "outlet_events": {outlet(TRIPS, EXPIRE): told}, "ti": Tried()}, events


TRIPS: Any = SimpleNamespace(name="trips")


def test_its_dag(file: Path) -> None:
    made = dag(file)
    assert made.dag_id == "hudi_expire__trips"
    assert set(made.tags) == {"demo", "expire", "hudi"}
    assert isinstance(made.schedule, AssetOrTimeSchedule)
    assert made.get_task("expire").upstream_task_ids == {"due"}
    assert made.params.dump() == {"operation": "execute", "days": None}
    assert "`hoodie.clean.commits.retained` = `3`" in (made.doc_md or "")
    assert table_asset(TRIPS, EXPIRE).uri == "hudi://tables/trips/expire"
    DagSerialization.serialize_dag(made)


def test_spark_submit_is_called_with_what_registry_and_form_say(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    task = dag(file).get_task("expire")
    assert isinstance(task, HudiServiceOperator)
    assert task.application.endswith("/spark_apps/expirer.py")
    assert (task.conf, task.name) == ({"spark.driver.memory": "4g"}, "hudi-expire-trips")

    def submit(self: Any, _context: Any) -> None:
        write_report(ServiceResult("expire", "done", instant="1"), self.application_args[-1])

    monkeypatch.setattr(operator.SparkSubmitOperator, "execute", submit)
    told, events = context(days=5)
    answer = task.execute(told)
    options = ["--hoodie-conf", "hoodie.clean.commits.retained=3"]
    assert task.application_args[:-1] == [
        "--target-base-path", "/lake/trips", "--days", "5", *options, "--verbose", "--result-path"
    ]  # fmt: skip
    assert events == [(table_asset(TRIPS, EXPIRE), {"table": "trips", **(answer or {})})]


def test_without_spark_it_runs_in_the_worker(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    light = entry(None)
    task = dag(file, (*ENTRIES, light)).get_task("expire")
    assert isinstance(task, HudiWorkerOperator)
    told, events = context()
    answer = task.execute(told)
    assert answer is not None
    assert answer["message"] == "9 days, ['hoodie.clean.commits.retained']"
    assert [extra["instant"] for _, extra in events] == ["1"]
    told, events = context(operation="explain", days=5)
    assert task.execute(told) is None
    assert "older than 5 days" in caplog.text
    assert events == []
    file.write_text(TABLES.replace("{hoodie.clean.commits.retained: 3}", "{}"))
    task = dag(file, (*ENTRIES, light)).get_task("expire")
    task.table = task.table.model_copy(
        update={"expire": task.table.section("expire").model_copy(update={"hoodie": {"hoodie.clen.policy": "x"}})}
    )
    with pytest.raises(AirflowFailException, match=r"hoodie\.clen\.policy"):
        task.execute(context()[0])
