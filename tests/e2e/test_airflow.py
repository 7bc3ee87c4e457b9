"""A real scheduler and spark-submit: forms, rights, failures that people must understand."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.demo.steps import wait_for_run
from hudi_services.local_airflow.api import ApiError
from tests.e2e.catalog import Outage
from tests.e2e.conftest import Demo, Running
from tests.support.waiting import until

pytestmark = pytest.mark.e2e
INGEST, CLEAN = "hudi_ingest__dated", "hudi_clean__flights"


def _until_failed(airflow: Running, dag: str, run: str) -> tuple[list[dict], str]:
    """The tasks of a run that must fail for good, and the log of its task."""

    def failed() -> list[dict] | None:
        tasks = airflow.api.tasks(dag, run)
        assert not any(task["state"] == "up_for_retry" for task in tasks), "it must not be tried again"
        return tasks if all(task["state"] == "failed" for task in tasks) else None

    tasks = until(failed, lambda: airflow.api.tasks(dag, run), pause=0.5)
    return tasks, airflow.api.task_log(dag, run, tasks[0]["task_id"], tasks[0]["try_number"])


def test_a_metastore_that_is_down_costs_no_commit(airflow: Running, outage: Outage) -> None:
    assert f"No Hive metastore answers at thrift://127.0.0.1:{airflow.metastore_port}" in outage.log
    assert "next sync catches up" in outage.log
    assert outage.loaded == HoodieTable.open(airflow.home.lake / "catalogued").timeline.commits[0].time


def test_a_form_loads_exactly_its_dates(airflow: Running) -> None:
    step = wait_for_run(airflow.api, INGEST, airflow.begun[INGEST], "ingest")
    landed = list((airflow.home.landing / "flights" / "dt=2013-01-31").glob("*.parquet"))
    assert step.result["files_read"] == len(landed) > 0
    assert len(HoodieTable.open(airflow.home.lake / "dated").timeline.commits) == 1
    again = wait_for_run(airflow.api, INGEST, airflow.api.trigger(INGEST, {}), "ingest")
    assert again.result["instant"] is not None, "the files of the other days are new to a run without dates"
    last = wait_for_run(airflow.api, INGEST, airflow.api.trigger(INGEST, {}), "ingest")
    assert last.result["files_read"] == 0
    assert "nothing to do" in last.result["message"]


def test_explain_shows_the_plan_and_changes_nothing(airflow: Running, demo: Demo) -> None:
    before, run = HoodieTable.open(demo.copy), airflow.begun[CLEAN]
    assert airflow.ended(CLEAN, run)["clean"] == "success"
    log = airflow.api.task_log(CLEAN, run, "clean", 1)
    assert "1 version of each file group is retained" in log, "the policy of the form, and not the registry's"
    after = HoodieTable.open(demo.table)
    assert [i.file_name for i in after.timeline] == [i.file_name for i in before.timeline]
    assert after.file_slices() == before.file_slices()


def test_a_viewer_may_look_but_not_start(airflow: Running) -> None:
    viewer = airflow.home.api("viewer")
    assert INGEST in viewer.dag_ids()
    with pytest.raises(ApiError) as refused:
        viewer.trigger(INGEST, {})
    assert refused.value.status == 403


def test_a_form_with_nonsense_starts_no_run_and_says_why(airflow: Running) -> None:
    before = len(airflow.api.runs(INGEST))
    with pytest.raises(ApiError, match="no day lies between 2013-02-01 and 2013-01-31") as refused:
        airflow.api.trigger(INGEST, {"from": "2013-02-01", "to": "2013-01-31"})
    assert refused.value.status == 400
    assert len(airflow.api.runs(INGEST)) == before  # the state of the last one may still change


def test_a_missing_connection_is_named(airflow: Running) -> None:
    run = airflow.begun["hudi_ingest__unconnected"]
    tasks, log = _until_failed(airflow, "hudi_ingest__unconnected", run)
    assert tasks[0]["try_number"] == 1
    assert "'nowhere'" in log
    assert "AIRFLOW_CONN_NOWHERE" in log


def test_mistakes_of_the_registry_are_import_errors_beside_the_good_tables(airflow: Running) -> None:
    assert "hudi_ingest__misspelt" not in airflow.api.dag_ids()
    (error,) = airflow.home.api("viewer").get("/importErrors")["import_errors"]
    assert error["filename"] == "hudi_registry.py"
    assert "misspelt.operatoin: is not an option" in error["stack_trace"]
