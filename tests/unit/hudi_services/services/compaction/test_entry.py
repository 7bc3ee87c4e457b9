"""When a compaction is due."""

from __future__ import annotations

import json

from hoodie import COMPACTION
from hudi_services.cli.program import main
from hudi_services.entry.dag import RunRequest
from hudi_services.entry.table import Table
from hudi_services.services.compaction.entry import COMPACT, Compact
from tests.support.tables import SMALL_BLOOM, batch, create


def due(table, after_ingests=None, **options):
    entry = Table(name="t", base_path=table.base_path, type="MERGE_ON_READ")
    gate, *_ = COMPACT.dag.steps(entry, Compact(after_ingests=after_ingests, hoodie=options))
    return gate.look(RunRequest(run_type="scheduled"))


def test_a_compaction_is_due_by_its_trigger_or_when_a_plan_waits(tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    found = due(table)
    assert not found.due
    backlog = json.loads(json.dumps(found.facts))["backlog"]
    assert (backlog["log_files"], backlog["pending_plans"]) == (2, 0)
    assert backlog["reason"] in found.reason
    assert due(table, **{"hoodie.compact.inline.max.delta.commits": "2"}).due
    assert due(table, after_ingests=3).due
    assert not due(table, after_ingests=4).due
    assert due(table, after_ingests=4, **{"hoodie.compact.inline.max.delta.commits": "2"}).due, "options go before"
    table.schedule(COMPACTION, force=True)
    assert due(table).due
    assert due(table).facts["backlog"]["pending_plans"] == 1


def test_a_plan_that_was_carried_out_already_is_no_failure(tmp_path, capsys):
    """A task that is tried again after it was killed, or beside another, has nothing left to do."""
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(2):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)
    (time,) = [each.time for each in table.timeline.pending]
    execute = ["compact", f"--target-base-path={table.base_path}", "--mode=execute"]
    assert main([*execute, f"--instant={time}"]) == 0
    assert main([*execute, f"--instant={time}"]) == 0
    assert f"executed 0 of 0 waiting; {time} was carried out already" in capsys.readouterr().out
    for other in (table.timeline.commits[0].time, "20200101000000000"):
        assert main([*execute, f"--instant={other}"]) == 1
        assert "no pending compaction" in capsys.readouterr().err


def test_a_plan_is_unscheduled(tmp_path, capsys):
    table = create(tmp_path / "t", **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(2):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    time = table.schedule(COMPACTION, force=True)
    flags = ["compact", "--target-base-path", table.base_path, "--unschedule", time]
    assert main([*flags, "--explain"]) == 0
    assert f"compaction {time} of 1 file group waits" in capsys.readouterr().out
    assert main(flags) == 0
    assert "the plan is unscheduled" in capsys.readouterr().out
    assert table.timeline.pending == ()
    assert main(flags) == 1
