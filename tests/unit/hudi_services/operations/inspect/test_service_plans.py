"""The services' next work on a table, in values and in words."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from hoodie.errors import HoodieError, StorageError
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect import service_plans
from hudi_services.operations.inspect.service_plans import next_plans, next_words
from hudi_services.operations.inspect.table_look import look_at
from tests.support.cli import fill
from tests.support.tables import create


def failing(error):
    """The clean service, whose planning raises this."""
    return Mock(options=service_plans.CLEAN.options, decide=Mock(side_effect=error))


def look(tmp_path, **options):
    fill(table := create(tmp_path / "orders", **options))
    return look_at(ChosenTable(table.base_path))


def test_a_service_is_asked_if_the_table_can_need_it(tmp_path):
    plans, blockers = next_plans(look(tmp_path), problems := [])
    assert (list(plans), blockers, problems) == (["clean", "archive"], [], [])
    plans, _ = next_plans(look(tmp_path / "mor", **{"hoodie.table.type": "MERGE_ON_READ"}), problems)
    assert list(plans) == ["clean", "archive", "compact"]


def test_a_service_that_cannot_plan_is_a_problem_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(service_plans, "CLEAN", failing(HoodieError("the plan is torn")))
    plans, _ = next_plans(look(tmp_path), problems := [])
    assert (list(plans), problems) == (["archive"], [str(HoodieError("the plan is torn"))])


def test_a_storage_that_fails_is_no_problem_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(service_plans, "CLEAN", failing(StorageError("no answer")))
    with pytest.raises(StorageError, match="no answer"):
        next_plans(look(tmp_path), [])


def test_the_next_work_in_words():
    due = {"due": True, "reason": "5 commits", "items": 2, "bytes": 2048}
    assert next_words("clean", due) == "would remove 2 files, 2.0 KiB: 5 commits"
    idle = {"due": False, "reason": "1 delta commit", "backlog": {"log_bytes": 1024, "pending_plans": 1}}
    assert next_words("compact", idle) == "nothing to do: 1 delta commit; 1.0 KiB of logs wait, 1 plan"
