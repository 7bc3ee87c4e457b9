"""Tasks of a paused table: skipped before anything is begun, and also when the pause comes in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException

from hoodie.clock import SystemClock
from hoodie_airflow.operator import HudiServiceOperator
from hoodie_airflow.paused_tables import PAUSED, skip_paused
from hoodie_airflow.task_result import task_output
from hoodie_airflow.worker_operator import HudiWorkerOperator
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.pause import pause
from hudi_services.services.clean.entry import CLEAN
from hudi_services.services.restore.entry import RESTORE
from hudi_services.services.sync.entry import SYNC
from tests.support.airflow_task import context
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def paused(tables: dict[str, Table], tmp_path: Path) -> Table:
    made = create(tmp_path / "t")
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    pause(made.storage, SystemClock(), "ann", "the source moves")
    return tables["trips"].model_copy(update={"base_path": made.base_path})


def never(*_: Any, **__: Any) -> None:
    raise AssertionError("something was begun")


@pytest.mark.parametrize(("operator", "entry"), [(HudiServiceOperator, CLEAN), (HudiWorkerOperator, SYNC)])
def test_a_task_is_skipped_with_the_reason(
    paused: Table, operator: Callable[..., Any], entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for begins in ("_on_threads", "_on_spark"):
        monkeypatch.setattr(HudiServiceOperator, begins, never)
    run = context()
    with pytest.raises(AirflowSkipException, match=r"trips is paused by ann since .*: the source moves\. .*resume"):
        operator(task_id="x", table=paused, entry=entry).execute(run)
    assert run["ti"].xcoms[PAUSED]["reason"] == "the source moves"


def test_a_plan_is_explained_and_a_restore_runs(paused: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HudiServiceOperator, "_on_threads", never)
    monkeypatch.setattr(HudiServiceOperator, "_on_spark", never)
    operator = HudiServiceOperator(task_id="x", table=paused, entry=CLEAN)
    with pytest.raises(AssertionError, match="begun"):
        operator.execute(context(operation="explain"))
    skip_paused(paused, RESTORE, context())


def test_a_worker_that_cannot_look_leaves_it_to_the_service(tables: dict[str, Table]) -> None:
    away = tables["trips"].model_copy(update={"base_path": "nowhere://bucket/t"})
    skip_paused(away, CLEAN, context())


def test_a_pause_in_between(paused: Table) -> None:
    failure = Failure("TablePausedError", "Table trips is paused, so clean does not run", "by ann: x", "wait", 1, False)
    with pytest.raises(AirflowSkipException, match="by ann: x"):
        task_output(failure, paused, CLEAN, context(), None)
