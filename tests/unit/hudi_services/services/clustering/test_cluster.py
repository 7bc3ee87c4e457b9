"""The service `cluster`: its command, and when its DAG has something to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hoodie import CLUSTERING, HoodieTable
from hoodie.engine import LocalEngine
from hudi_services.cli.program import main
from hudi_services.entry.dag import Outlook, RunRequest, WhenDue
from hudi_services.entry.table import Table
from hudi_services.services.clustering.entry import CLUSTER, Cluster
from tests.support.tables import SMALL_BLOOM, batch, content, create

SORT = "--hoodie-conf=hoodie.clustering.plan.strategy.sort.columns=value"


@pytest.fixture
def table(tmp_path: Path) -> HoodieTable:
    """Three small files in one partition."""
    made = create(tmp_path / "t")
    for number in range(3):
        made.write(batch([(f"k{number}", "p", 1, 9 - number)]), "bulk_insert", SMALL_BLOOM)
    return made


def cluster(table: HoodieTable, *more: str) -> int:
    return main(["cluster", f"--target-base-path={table.base_path}", *more])


def files(table: HoodieTable) -> int:
    return len(HoodieTable.open(table.base_path, engine=LocalEngine(1)).file_slices())


def test_the_command(table: HoodieTable, capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster(table) == 0
    assert (
        "none scheduled: 3 commits (of 4, hoodie.clustering.async.max.commits) since the last clustering"
        in capsys.readouterr().out
    )
    assert cluster(table, "--explain", "--force", SORT) == 0
    said = capsys.readouterr().out
    assert "cluster: asked for; 3 file groups below" in said
    assert "part=p  3 file groups become 1 file" in said
    assert "would cluster 1 group" in said
    assert files(table) == 3
    before = content(table)
    assert cluster(table, "--force", SORT, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["rows_written"], result["files_written"]) == (3, 1)
    assert "executed 1 of 1 waiting" in result["message"]
    assert files(table) == 1
    assert content(table) == before
    assert cluster(table, "--mode=execute", "--explain") == 0


def test_a_plan_is_scheduled_explained_carried_out_and_given_up(
    table: HoodieTable, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster(table, "--mode=schedule", "--force") == 0
    (time,) = [each.time for each in table.timeline.pending]
    capsys.readouterr()
    assert cluster(table, "--explain") == 0
    assert f"clustering {time} of 3 file groups waits" in capsys.readouterr().out
    assert cluster(table, f"--instant={time}") == 2, "only of one that is executed"
    assert cluster(table, f"--give-up={time}", "--explain") == 0
    assert len(table.timeline.pending) == 1
    assert cluster(table, f"--give-up={time}") == 0
    assert "the plan is given up" in capsys.readouterr().out
    assert table.timeline.pending == ()
    assert cluster(table, f"--give-up={time}") != 0
    assert cluster(table, "--mode=schedule", "--force") == 0
    (time,) = [each.time for each in table.timeline.pending]
    assert cluster(table, "--mode=execute", f"--instant={time}") == 0
    assert files(table) == 1
    capsys.readouterr()
    assert cluster(table, "--mode=execute", f"--instant={time}") == 0, (
        "a task that is tried again has nothing left to do"
    )
    assert f"{time} was carried out already" in capsys.readouterr().out
    written = table.timeline.commits[0].time
    assert cluster(table, "--mode=execute", f"--instant={written}") != 0, "which was no clustering"


def due(table: HoodieTable, after_ingests: int | None = None, **options: Any) -> Outlook:
    gate, *_ = CLUSTER.dag.steps(
        Table(name="t", base_path=table.base_path), Cluster(after_ingests=after_ingests, hoodie=options)
    )
    assert isinstance(gate, WhenDue)
    return gate.look(RunRequest(run_type="scheduled"))


def test_a_clustering_is_due_by_its_commits_or_when_a_plan_waits(table: HoodieTable) -> None:
    assert not due(table).due
    assert due(table, after_ingests=3).due
    assert not due(table, after_ingests=4).due
    assert due(table, after_ingests=4, **{"hoodie.clustering.async.max.commits": "2"}).due, "options go before"
    time = table.schedule(CLUSTERING, force=True)
    found = due(table)
    assert found.due
    assert json.loads(json.dumps(found.facts))["pending_plans"] == [time]
