"""Savepoints that keep files in partitions at which the next clean does not look."""

from __future__ import annotations

import json
from unittest.mock import Mock

import pytest

from hoodie import CLEAN
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect import savepoints as module
from hudi_services.operations.inspect.savepoints import with_savepoints
from hudi_services.operations.inspect.table_look import look_at
from tests.support.tables import batch, create

KEPT = {
    "hoodie.clean.commits.retained": "1",
    "hoodie.clean.fileversions.retained": "1",
    "hoodie.clean.trigger.max.commits": "1",
}


@pytest.mark.parametrize("policy", ["KEEP_LATEST_COMMITS", "KEEP_LATEST_FILE_VERSIONS"])
def test_a_savepoint_is_named_also_after_a_clean_has_passed_it(tmp_path, capsys, policy):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert")
    saved = table.savepoint().instant
    for step in range(2, 4):
        table.write(batch([("a", "p", step, step)]), "upsert", {"hoodie.clean.automatic": "false"})
    options = {**KEPT, "hoodie.clean.policy": policy}

    def held():
        look = look_at(ChosenTable(table.base_path))
        blockers = with_savepoints(look, options, CLEAN.decide(look.state, options, look.clock).blockers)
        return [(blocker.instant, blocker.held.partition(" of ")[0]) for blocker in blockers]

    assert held() == [(saved, "1 file")]
    table.run(CLEAN, options)
    assert held() == [(saved, "1 file")]
    for step in range(4, 15):  # past the commits that a table of no registry retains
        table.write(batch([("a", "p", step, step)]), "upsert", {"hoodie.clean.automatic": "false"})
    main(["show", "table", "--target-base-path", table.base_path, "--json"])
    shown = json.loads(capsys.readouterr().out)
    waiting = [item["fix"].partition(" --target")[0] for item in shown["advice"] if item["severity"] == "waiting"]
    assert waiting == [f"hudi-services savepoint delete --instant {saved}"]
    table.delete_savepoint(saved)
    assert held() == []


def test_all_partitions_are_planned_only_for_a_savepoint_that_keeps_older_files_unnamed(tmp_path, monkeypatch):
    clean = Mock(decide=Mock(side_effect=CLEAN.decide))
    monkeypatch.setattr(module, "CLEAN", clean)
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]), "upsert")

    def planned(known=()):
        look = look_at(ChosenTable(table.base_path))
        clean.decide.reset_mock()
        return with_savepoints(look, KEPT, known), clean.decide.call_count

    assert planned() == ([], 0), "no savepoint"
    saved = table.savepoint().instant
    assert planned() == ([], 0), "all its files are current"
    for step in range(2, 4):
        table.write(batch([("a", "p", step, step)]), "upsert", {"hoodie.clean.automatic": "false"})
    blockers, plans = planned()
    assert ([blocker.instant for blocker in blockers], plans) == ([saved], 1)
    assert planned(blockers) == (blockers, 0), "the next clean names it"
