"""The arguments of spark-submit by the operator, and its use of the answer; spark-submit itself is not run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from airflow.exceptions import AirflowException
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.api.datamodels._generated import DagRunType
from airflow.sdk.exceptions import AirflowFailException

from hoodie.model.outcome import ServiceOutcome
from hoodie.storage import open_storage, walk_files
from hoodie_airflow.assets import outlet, table_asset
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.paths import PLUGINS, PROJECT
from hudi_services.entry.table import Table
from hudi_services.registry.load import load_registry
from hudi_services.runtime.result import Explained, Report, ServiceResult, write_report
from hudi_services.services.clean.entry import CLEAN, Clean
from hudi_services.sources.ingest.entry import INGEST
from tests.support.airflow_task import context
from tests.support.matrix import sample
from tests.support.tables import SMALL_BLOOM, batch, create

RESULT = ServiceResult("ingest", "3 rows inserted", instant="20130106060000000", rows_inserted=3, files_written=1)
FIELDS = json.loads(json.dumps(asdict(RESULT)))


class Submitted:
    """Replaces the hook's submit: keeps the command, and answers like the service."""

    def __init__(self, result: Report | None, failure: str | None = None) -> None:
        self.result = result
        self.failure = failure
        self.command: list[str] = []
        self.environment: dict[str, str] = {}

    def __call__(self, hook: SparkSubmitHook, application: str) -> None:
        self.command = [str(part) for part in hook._build_spark_submit_command(application)]
        self.environment = dict(hook._env_vars or {})
        if self.result is not None and "--result-path" in self.command:
            write_report(self.result, self.flag("--result-path"))
        if self.failure:
            raise AirflowException(self.failure)

    def flag(self, name: str) -> str:
        return self.command[self.command.index(name) + 1]


def submit(monkeypatch: pytest.MonkeyPatch, result: Report | None = RESULT, failure: str | None = None) -> Submitted:
    stand_in = Submitted(result, failure)
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda hook, application: stand_in(hook, application))
    return stand_in


def test_a_backfill_run_loads_its_day(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = submit(monkeypatch)
    operator = HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST)
    told = context()
    assert operator.execute(told) == FIELDS
    assert submitted.command[:3] == ["spark-submit", "--master", "local[2]"]
    assert submitted.command[submitted.command.index("--name") + 1] == "hudi-ingest-flights"
    assert "spark.driver.memory=2g" in submitted.command
    assert str(PROJECT / "spark_apps" / "ingest.py") in submitted.command
    assert (submitted.flag("--from"), submitted.flag("--to")) == ("2013-01-05", "2013-01-06")
    assert submitted.flag("--source-path") == "/land"
    ((alias, asset, extra),) = told["outlet_events"].added
    assert alias == outlet(tables["flights"], INGEST)
    assert asset == table_asset(tables["flights"], INGEST)
    assert (extra["table"], extra["instant"], extra["rows_inserted"]) == ("flights", RESULT.instant, 3)


def test_a_failed_service_after_the_commit_leaves_the_task_done(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done = replace(RESULT, services=(ServiceOutcome("sync", "HiveServer2 does not answer", failed=True),))
    submit(monkeypatch, done, "Cannot execute: spark-submit. Error code is: 3.")
    told = context()
    operator = HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST)
    answer = operator.execute(told)
    assert answer is not None
    assert answer["services"][0]["failed"]
    assert len(told["outlet_events"].added) == 1, "the rows are in"
    assert "The commit stays; sync after it failed: HiveServer2 does not answer" in caplog.text


def test_spark_gets_this_interpreter_and_this_code(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{PROJECT}{os.pathsep}/own")
    submitted = submit(monkeypatch)
    HudiServiceOperator(task_id="clean", table=tables["others"], entry=CLEAN).execute(context())
    assert submitted.environment["PYSPARK_PYTHON"] == sys.executable
    assert submitted.environment["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert submitted.environment["PYTHONPATH"].split(os.pathsep) == [str(PLUGINS), str(PROJECT), "/own"]


def test_a_run_by_hand_without_dates_loads_all_that_is_new(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submit(monkeypatch)
    HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(context(DagRunType.MANUAL))
    assert not {"--from", "--to"} & set(submitted.command)


def test_files_without_dates_are_loaded_when_they_are_new(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submit(monkeypatch)
    HudiServiceOperator(task_id="ingest", table=tables["events"], entry=INGEST).execute(context(DagRunType.SCHEDULED))
    assert not {"--from", "--to", "--source-date-pattern"} & set(submitted.command)


def test_explain_changes_nothing_and_tells_nobody(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    submitted = submit(monkeypatch, Explained("clean", "clean: one\nwould delete 1 files", {"reason": "one"}))
    told = context(operation="explain")
    operator = HudiServiceOperator(task_id="clean", table=tables["flights"], entry=CLEAN)
    with caplog.at_level("INFO"):
        assert operator.execute(told) is None
    assert "--explain" in submitted.command
    assert told["outlet_events"].added == []
    assert told["ti"].xcoms == {"plan": {"reason": "one"}}
    assert "would delete 1 files" in caplog.messages


def test_the_cleaners_form(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = submit(monkeypatch)
    operator = HudiServiceOperator(task_id="clean", table=tables["flights"], entry=CLEAN)
    operator.execute(context(DagRunType.MANUAL, policy="KEEP_LATEST_FILE_VERSIONS", retained=2))
    assert "hoodie.clean.policy=KEEP_LATEST_FILE_VERSIONS" in submitted.command
    assert "hoodie.clean.fileversions.retained=2" in submitted.command
    assert "hoodie.clean.commits.retained=3" in submitted.command


def test_a_run_with_nothing_to_do_emits_no_event(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    submit(monkeypatch, ServiceResult("ingest", "nothing to do: 0 files to load"))
    told = context()
    operator = HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST)
    assert (operator.execute(told) or {})["instant"] is None
    assert told["outlet_events"].added == []


def test_a_missing_connection_is_not_yarn(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = load_registry(registry).tables[0].model_copy(update={"connection": "spark_nowhere"})
    submitted = submit(monkeypatch)
    operator = HudiServiceOperator(task_id="ingest", table=table, entry=INGEST)
    with pytest.raises(
        AirflowFailException, match=r"(?s)'spark_nowhere' of table flights is not defined.*AIRFLOW_CONN_SPARK_N"
    ):
        operator.execute(context())
    assert submitted.command == []


class Cluster(Submitted):
    """Runs the service in a process of its own, which has nothing of this one's environment but what reaches S3."""

    def __call__(self, hook: SparkSubmitHook, application: str) -> None:
        super().__call__(hook, application)
        self.submitter = dict(os.environ)
        service = self.command[self.command.index(application) + 1 :]
        kept = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        kept["PYTHONPATH"] = os.pathsep.join([str(PLUGINS), str(PROJECT)])
        subprocess.run([sys.executable, "-m", "hudi_services", "clean", *service], env=kept, check=True)


def clustered(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Table], results: str | None, host: str = "yarn"
) -> Table:
    connection = {"conn_type": "spark", "host": host, "extra": {"deploy-mode": "cluster"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    return tables["others"].model_copy(update={"results": results})


@pytest.mark.parametrize("scheme", sample(["s3", "s3a", "file"], 2))
def test_the_result_of_a_driver_elsewhere_comes_back_through_a_shared_folder(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, s3: Any, scheme: str
) -> None:
    bucket = s3.bucket()
    url = {"s3": bucket, "s3a": bucket.replace("s3:", "s3a:"), "file": f"file://{tmp_path}"}[scheme]
    table = clustered(monkeypatch, tables, f"{url}/.results/")
    table = table.model_copy(update={"base_path": f"{url}/table"})
    written = create(table.base_path)
    for step in range(5):
        written.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    cluster = Cluster(None)
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda hook, application: cluster(hook, application))
    table = table.model_copy(update={"clean": Clean(hoodie={"hoodie.clean.commits.retained": "1"})})
    before = dict(os.environ)
    result = HudiServiceOperator(task_id="clean", table=table, entry=CLEAN).execute(context())
    assert result is not None
    assert (result["files_deleted"], result["instant"]) == (3, written.timeline.instants[-1].time)
    assert cluster.flag("--result-path").startswith(f"{url}/.results/others/clean-")
    assert cluster.flag("--deploy-mode") == "cluster"
    told = " ".join(cluster.command)
    assert not re.search(r"PYSPARK_PYTHON|PYTHONPATH|JAVA_HOME|SPARK_LOCAL_IP|appMasterEnv", told), "this machine's"
    assert cluster.environment == {}
    assert Path(cluster.submitter["PATH"].split(os.pathsep)[0]) == Path(sys.executable).parent
    assert dict(os.environ) == before
    assert list(walk_files(open_storage(f"{url}/.results"), "")) == []


def test_a_driver_elsewhere_whose_commit_stands_has_not_failed(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Spark hands on no exit code of a driver in the cluster."""
    table = clustered(monkeypatch, tables, str(tmp_path))
    done = replace(RESULT, services=(ServiceOutcome("sync", "HiveServer2 does not answer", failed=True),))
    told = context()
    for result, failed in ((done, False), (RESULT, True), (None, True)):
        submit(monkeypatch, result, "Cannot execute: spark-submit. Error code is: 1.")
        operator = HudiServiceOperator(task_id="clean", table=table, entry=CLEAN)
        if failed:
            with pytest.raises(AirflowException, match="ended with code 1"):
                operator.execute(told)
        else:
            assert (operator.execute(told) or {})["instant"] == RESULT.instant
    assert len(told["outlet_events"].added) == 1
    assert list((tmp_path / "others").iterdir()) == []


def test_results_that_nobody_fetched_are_removed(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The driver of a task that was killed writes its result all the same."""
    table = clustered(monkeypatch, tables, str(tmp_path))
    folder = tmp_path / "others"
    folder.mkdir()
    for name, days in (("clean-1.json", 8), ("clean-2.json", 1), ("else.txt", 8)):
        (folder / name).write_text("{}")
        os.utime(folder / name, (time.time() - days * 86400,) * 2)
    submitted = submit(monkeypatch)
    assert HudiServiceOperator(task_id="clean", table=table, entry=CLEAN).execute(context()) == FIELDS
    assert sorted(path.name for path in folder.iterdir()) == ["clean-2.json", "else.txt"]
    submit(monkeypatch, failure="lost")
    with pytest.raises(AirflowException, match="lost"):
        HudiServiceOperator(task_id="clean", table=table, entry=CLEAN).execute(context())
    assert submitted.flag("--result-path") != str(folder / "clean-2.json")
    assert sorted(path.name for path in folder.iterdir()) == ["clean-2.json", "else.txt"]


@pytest.mark.parametrize(
    ("results", "host", "match"),
    [
        (None, "yarn", r"(?s)nowhere to leave its result.*results: s3://.*table others.*client mode"),
        ("s3://lake/.results", "spark://x:7077", r"(?s)no Python application.*spark://x:7077.*client mode"),
        ("s3://lake/.results", "local[2]", r"(?s)no Python application.*client mode"),
    ],
)
def test_cluster_mode_is_refused_where_it_cannot_work(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, results: str | None, host: str, match: str
) -> None:
    table = clustered(monkeypatch, tables, results, host)
    submitted = submit(monkeypatch)
    with pytest.raises(AirflowFailException, match=match):
        HudiServiceOperator(task_id="clean", table=table, entry=CLEAN).execute(context())
    assert submitted.command == []


def test_a_form_that_makes_no_sense_is_not_tried_again(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(monkeypatch)
    told = context(DagRunType.MANUAL, **{"from": "2013-01-05", "to": "2013-01-01"})
    with pytest.raises(AirflowFailException, match="no day lies between"):
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(told)


@pytest.mark.parametrize(("code", "kind"), [(2, AirflowFailException), (1, AirflowException)])
def test_wrong_usage_is_not_tried_again_but_a_failure_is(
    tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    submit(monkeypatch, failure=f"Cannot execute: spark-submit. Error code is: {code}.")
    with pytest.raises(AirflowException) as caught:
        HudiServiceOperator(task_id="ingest", table=tables["flights"], entry=INGEST).execute(context())
    assert type(caught.value) is kind


def test_a_service_without_a_result_failed(tables: dict[str, Table], monkeypatch: pytest.MonkeyPatch) -> None:
    submit(monkeypatch, None)
    with pytest.raises(AirflowException, match="left no result"):
        HudiServiceOperator(task_id="clean", table=tables["others"], entry=CLEAN).execute(context())
