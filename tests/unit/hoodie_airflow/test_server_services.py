"""The task that runs services of tables of rules until the next run of the DAG is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException

from hoodie_airflow.server_services import HudiServerServicesOperator, seconds_left
from hudi_services.sources.databases import server_services
from hudi_services.sources.databases.server_services import ServiceRun
from tests.support.airflow_task import context


def test_services_have_the_time_until_the_next_run():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    interval = {"data_interval_start": now - timedelta(minutes=10), "data_interval_end": now - timedelta(minutes=5)}
    for began, seconds in ((0, 300), (20, 280), (299, 10), (4_000, 10)):
        run = SimpleNamespace(**interval, start_date=now - timedelta(seconds=began))
        assert seconds_left(run, now) == seconds
    assert seconds_left(SimpleNamespace(data_interval_start=None, data_interval_end=None), now) == 60


def test_services_that_fail_fail_the_task_and_those_that_wait_do_not(tmp_path, monkeypatch):
    file = tmp_path / "tables.yaml"
    file.write_text(f"servers: {{shop: {{type: mysql, connection: shop, server_id: 1, state: {tmp_path}}}}}")
    runs = [
        ServiceRun("/lake/a", "clean", "done", "9 commits", "3 files removed"),
        ServiceRun("/lake/b", "archive", "left", "40 commits", "not started: the 10 s for services were over"),
    ]
    monkeypatch.setattr(
        server_services, "ServerServices", lambda plan, seconds: SimpleNamespace(run=lambda: iter(runs))
    )
    task = HudiServerServicesOperator(task_id="services", server="shop", file=str(file))
    result = task.execute(context())
    assert result["message"] == "1 services were run, 0 failed, 1 are due and wait"
    assert result["services"][0]["message"].startswith("not started")
    runs.append(ServiceRun("/lake/c", "compact", "failed", "5 commits", "a reason"))
    run = context()
    with pytest.raises(AirflowFailException, match=r"(?s)1 services failed.*compact of /lake/c: a reason"):
        task.execute(run)
    assert run["ti"].xcoms["return_value"]["counts"] == {"done": 1, "left": 1, "failed": 1}
