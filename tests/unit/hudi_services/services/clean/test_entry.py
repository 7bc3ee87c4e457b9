"""When a clean is due."""

from __future__ import annotations

import pytest

from hudi_services.entry.dag import RunRequest
from hudi_services.entry.source import FolderSource
from hudi_services.entry.table import Table
from hudi_services.services.clean.entry import CLEAN, Clean
from tests.support.cli import clean, fill
from tests.support.tables import create


def due(path, after, run_type):
    gate, *_ = CLEAN.dag.steps(Table(name="t", base_path=str(path)), Clean(after_ingests=after))
    return gate.look(RunRequest(run_type=run_type))


def test_a_clean_is_due_after_so_many_commits_since_the_last_one(tmp_path):
    table = create(tmp_path / "t")
    fill(table)
    assert due(tmp_path / "t", 3, "asset_triggered").due
    found = due(tmp_path / "t", 4, "asset_triggered")
    assert (found.due, found.reason) == (False, "3 commits since the last clean; 4 start one")
    assert clean(tmp_path / "t") == 0
    assert not due(tmp_path / "t", 1, "asset_triggered").due


@pytest.mark.parametrize("run_type", ["manual", "scheduled"])
def test_people_and_schedules_are_not_asked_for_commits(tmp_path, run_type):
    assert due(tmp_path / "no table", 4, run_type).due


def test_without_a_number_nothing_is_looked_at():
    assert [step.task_id for step in CLEAN.dag.steps(Table(name="t", base_path="/t"), Clean())] == [
        "clean",
        "approve",
        "clean_approved",
    ]


def test_a_clean_waits_for_the_first_ingestion(tmp_path):
    """Its schedule begins with the table's entry."""
    entry = Table(name="t", base_path=str(tmp_path / "t"), source=FolderSource(path="/land", format="csv"))
    gate, *_ = CLEAN.dag.steps(entry, Clean(schedule="0 4 * * *"))
    found = gate.look(RunRequest(run_type="scheduled"))
    assert (found.due, found.reason) == (False, f"nothing was ingested yet: there is no table at {tmp_path / 't'}")
    assert gate.look(RunRequest(run_type="manual")).due, "the clean itself says that there is no table"
    fill(create(tmp_path / "t"))
    assert gate.look(RunRequest(run_type="scheduled")).due
