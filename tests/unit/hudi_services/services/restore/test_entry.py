"""The service `restore` of Airflow: savepoints, and a restore by the plan that a person approved, and by no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, DeleteCapError, NoSavepointError, SavepointError
from hudi_services.cli.program import cli
from hudi_services.entry.call import Call
from hudi_services.entry.dag import Run, RunRequest
from hudi_services.entry.table import Table
from hudi_services.registry.sections import table_model
from hudi_services.services.entries import ENTRIES
from hudi_services.services.restore.entry import RESTORE, Restore
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def written(tmp_path: Path) -> HoodieTable:
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return table


def entry(table: HoodieTable) -> Table:
    kind: type[Table] = table_model(ENTRIES)
    return kind.model_validate({"name": "t", "base_path": table.base_path, "restore": {}})


def asked(table: HoodieTable, agreed: str = "", **form: Any) -> Any:
    """The task of a run with this form."""
    called = RESTORE.called_with(entry(table), RunRequest(params=form, agreed=agreed))
    return RESTORE.command.called(Call(table.base_path, called.options), called.flags)


def test_a_savepoint_is_made_and_deleted_by_the_form(written: HoodieTable) -> None:
    task = asked(written, operation="make savepoint", comments="before; rm -rf --yes")
    assert task.explain(LocalEngine(1)).plan is None
    assert written.savepoints() == []
    done = task.run(LocalEngine(1))
    (made,) = written.savepoints()
    assert made.comments == "before; rm -rf --yes"
    assert made.instant in done.message
    assert done.instant is None, "no row was changed, so nobody has to follow"
    with pytest.raises(NoSavepointError):
        asked(written, operation="delete savepoint", instant="20200101000000000").run(LocalEngine(1))
    asked(written, operation="delete savepoint", instant=made.instant).run(LocalEngine(1))
    assert written.savepoints() == []


def test_a_restore_asks_and_is_by_the_plan_that_was_agreed_to(written: HoodieTable) -> None:
    saved, before = written.savepoint().instant, content(written)
    form = {"operation": "restore", "instant": saved}
    assert "nothing to do" in asked(written, **form).run(LocalEngine(1)).message
    written.write(batch([("a", "p", 2, 2), ("b", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    now = content(written)
    assert "1 instant came after" in asked(written, operation="explain", instant=saved).explain(LocalEngine(1)).reason
    with pytest.raises(DeleteCapError, match="lost would be 1 inserted rows") as question:
        asked(written, **form).run(LocalEngine(1))
    written.write(batch([("c", "p", 3, 3)]), "upsert", SMALL_BLOOM)
    with pytest.raises(SavepointError, match="the current plan is"):
        asked(written, question.value.digest, **form).run(LocalEngine(1))
    assert content(written) == {**now, "c": ("p", 3, 3)}
    with pytest.raises(DeleteCapError, match="takes back 2 instants") as question:
        asked(written, **form).run(LocalEngine(1))
    done = asked(written, question.value.digest, **form).run(LocalEngine(1))
    assert content(written) == before
    assert done.instant is not None, "whoever follows the table is told"
    assert done.files_deleted == 2


def test_what_the_form_cannot_mean_is_refused(written: HoodieTable) -> None:
    for operation in ("explain", "restore", "delete savepoint"):
        with pytest.raises(ConfigError, match="needs the instant of a savepoint"):
            asked(written, operation=operation)
    with pytest.raises(NoSavepointError):
        asked(written, operation="restore", instant="20200101000000000").run(LocalEngine(1))
    assert asked(written, instant="20200101000000000").agreed == ""


def test_an_agreement_goes_to_the_step_after_the_approval(written: HoodieTable) -> None:
    steps = RESTORE.dag.steps(entry(written), Restore())
    runs = [(step.task_id, step.asks, step.agreed_in) for step in steps if isinstance(step, Run)]
    assert runs == [("restore", "DeleteCapError", ""), ("restore_approved", "", "restore")]
    form = {"operation": "restore", "instant": "1"}
    flags = [
        RESTORE.dag.arguments(entry(written), Restore(), RunRequest(params=form, agreed=each)).flags
        for each in ("", "x")
    ]
    assert flags[1] == (*flags[0], "--agreed", "x")


def test_a_table_has_it_only_when_it_says_so_and_the_shell_has_its_own_command(written: HoodieTable) -> None:
    kind: type[Table] = table_model(ENTRIES)
    assert RESTORE.has_dag(entry(written))
    assert not RESTORE.has_dag(kind.model_validate({"name": "t", "base_path": "/t"}))
    assert "--savepoint" in {option for param in cli.commands["restore"].params for option in param.opts}
