"""A table that follows another one in a real Airflow: commits of any program start its DAG."""

from __future__ import annotations

import time
from itertools import count

import pytest

from hoodie import HoodieTable
from hoodie.errors import TableNotFoundError
from tests.e2e.conftest import Running
from tests.e2e.test_judged import until
from tests.support.tables import SMALL_BLOOM, batch, content, create

pytestmark = pytest.mark.e2e
STREAM = "hudi_stream__follower"


def test_commits_of_another_program_start_the_stream(airflow: Running) -> None:
    source, steps = create(airflow.home.lake / "source"), count(1)

    def follower() -> HoodieTable | None:
        try:
            return HoodieTable.open(airflow.home.lake / "follower")
        except TableNotFoundError:
            return None

    def is_followed() -> bool:
        found = follower()
        return found is not None and content(found) == content(source)

    def begins() -> bool:
        source.write(batch([("a", "p", next(steps), 1), ("b", "p", 1, 1)]), "upsert", SMALL_BLOOM)
        time.sleep(3)
        return follower() is not None

    until(begins)  # commits start it from when the trigger began
    source.write(batch([("a", "q", 1000, 2), ("c", "p", 2, 2)]), "upsert", {"hoodie.index.type": "GLOBAL_SIMPLE"})
    source.write(batch([("b", "p", 3, 3)]), "delete", SMALL_BLOOM)
    until(is_followed)
    runs = until(lambda: [run for run in airflow.api.runs(STREAM) if run["state"] == "success"])
    assert {run["run_type"] for run in runs} == {"asset_triggered"}
    done = {run["dag_run_id"]: airflow.states(STREAM, run["dag_run_id"]) for run in runs}
    took = [run for run, states in done.items() if states == {"new_commits": "success", "stream": "success"}]
    result = airflow.api.result(STREAM, took[0], "stream")
    assert result["service"] == "stream"
    assert result["lag_seconds"] is not None
