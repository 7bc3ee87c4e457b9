"""`hudi-services compact`: full and of logs only, explained and carried out."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.storage import LocalStorage
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, everything, rows, said
from tests.support.tables import SMALL_BLOOM, batch, create

MERGE_LOGS = [
    "hoodie.log.compaction.enable=true",
    "hoodie.log.compaction.blocks.threshold=2",
    "hoodie.compact.inline.max.delta.commits=6",
]


@pytest.fixture
def logged(tmp_path):
    """A merge-on-read table with three log blocks in its file group: none is due before six commits."""
    path = tmp_path / "logged"
    table = create(path, **{"hoodie.table.type": "MERGE_ON_READ"})
    for step in range(4):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    return path


def compact(path, *more, options=()):
    return main(["compact", f"--target-base-path={path}", *(f"--hoodie-conf={option}" for option in options), *more])


def actions(path):
    return [str(i.action) for i in HoodieTable.open(str(path), engine=LocalEngine(1)).timeline.pending]


def test_logs_are_merged_when_no_compaction_is_due(logged, capsys):
    before = everything(logged)
    assert compact(logged, "--explain", "--json", options=MERGE_LOGS) == DONE
    plan = json.loads(capsys.readouterr().out)
    assert "1 file groups have 2 log blocks or more" in plan["reason"]
    assert [entry["bytes"] for entry in plan["files"]] == [plan["bytes"]]
    assert plan["files"][0]["bytes_written"] <= plan["bytes"]
    assert everything(logged) == before
    assert compact(logged, options=MERGE_LOGS[2:]) == DONE
    assert "none scheduled" in capsys.readouterr().out
    assert compact(logged, "--mode=schedule", options=MERGE_LOGS) == DONE
    assert actions(logged) == ["logcompaction"]
    assert compact(logged, "--mode=execute") == DONE
    assert "executed 1 of 1 waiting" in capsys.readouterr().out
    assert rows(logged) == {"a": ("p", 3, 3)}
    assert compact(logged, options=MERGE_LOGS) == DONE
    assert "none scheduled" in capsys.readouterr().out


def test_a_compaction_that_is_due_goes_before(logged):
    assert compact(logged, "--mode=schedule", "--force", options=MERGE_LOGS) == DONE
    assert actions(logged) == ["compaction"]


def test_bounded_runs(logged, capsys):
    """A run executes at most `--max-plans` of the plans that wait."""
    table = HoodieTable.open(str(logged), engine=LocalEngine(1))
    table.schedule(COMPACTION, force=True)
    table.write(batch([("z", "z", 1, 1)]), "upsert", SMALL_BLOOM)
    table.write(batch([("z", "z", 2, 2)]), "upsert", SMALL_BLOOM)
    table.schedule(COMPACTION, force=True)
    for left in (1, 0):
        assert compact(logged, "--mode=execute", "--max-plans=1") == DONE
        assert f"executed 1 of {left + 1} waiting" in capsys.readouterr().out
        assert len(actions(logged)) == left
    assert rows(logged) == {"a": ("p", 3, 3), "z": ("z", 2, 2)}


def test_what_cannot_be(logged, tmp_path, capsys):
    assert compact(logged, "--mode=execute", "--instant=20200101000000000") == FAILED
    assert "no pending compaction 20200101000000000" in said(capsys)
    assert compact(logged, "--mode=sometimes") == USAGE
    create(tmp_path / "old", **{"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": "6"})
    assert compact(tmp_path / "old", options=MERGE_LOGS) == FAILED
    assert "it is of version 6" in said(capsys)


def test_an_idle_run_looks_at_the_table_once(logged, monkeypatch):
    listed = Counter()
    listing = LocalStorage.list

    def counted(storage, path):
        listed[path] += 1
        return listing(storage, path)

    monkeypatch.setattr(LocalStorage, "list", counted)
    assert compact(logged, "--mode=schedule") == DONE
    assert listed["part=p"] == 1
