"""Spark starts tasks twice, and tasks fail when their files are there: what is committed is of one attempt each."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from hoodie import HoodieTable
from hoodie.model.names import is_data_file
from hoodie.storage import open_storage, walk_files
from hudi_services.runtime.spark.java import spark_environment
from tests.cluster.speculating import ROWS, STALLED, TASKS, rows
from tests.support.cluster import settings
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.mark.deep(
    "the unit tests of fencing run tasks again, and test_tables.py kills an executor and has both kinds of markers"
)
@pytest.mark.parametrize("markers", ["direct", "timeline_server_based"])
def test_attempts_that_fail_and_attempts_that_are_slow(cluster, library, s3, tmp_path, markers):
    url = f"{s3.bucket()}/table"
    create(url)
    notes = tmp_path / "attempts"
    notes.mkdir()
    given = [f"{key}={value}" for key, value in settings(cluster, library, s3.environment).items()]
    environment = {
        **os.environ,
        **spark_environment(),
        **s3.environment,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    command = [sys.executable, "-m", "tests.cluster.speculating", url, markers, notes, *given]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    assert "note their files themselves" not in run.stderr, "the server in the driver was reached"
    attempts = {file.name for file in notes.iterdir()}
    again = {int(name.partition("-")[0]) for name in attempts if not name.endswith("-0")}
    assert again == {STALLED, *(number for number in range(TASKS) if number % 3 == 2)}, "these failed, or were slow"

    table = HoodieTable.open(url)
    found = table.read(columns=["id", "value"])
    assert found.sort_by("id").equals(rows(1).select(["id", "value"]).sort_by("id"))
    (commit,) = table.timeline.commits
    committed = [stat.path for stat in table.state().commit_metadata(commit).stats]
    tasks = [int(re.search(r"_(\d+)-\d+-\d+_", path).group(1)) for path in committed]
    assert sorted(tasks) == list(range(TASKS)), "one attempt of each"
    lying = {file.path for file in walk_files(open_storage(url), "") if is_data_file(file.name)}
    assert lying == set(committed), "nothing of any other attempt"
    table.write(batch([("x", "p0", 1, 1)]), "insert", SMALL_BLOOM)
    assert list(walk_files(open_storage(url), ".hoodie/.temp")) == []
    assert table.read(columns=["id"]).num_rows == TASKS * ROWS + 1
