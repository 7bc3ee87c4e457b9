"""The task of `purge`: its counts, and the bad rows whose keys only the table knows."""

from __future__ import annotations

import json

from hoodie import Purge
from hoodie.engine import LocalEngine
from hoodie.services.purge.erasure import Erasure
from hudi_services.cli.commands.purge_task import PurgeTask
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


def test_counts_and_bad_rows_by_their_keys(tmp_path):
    table = create(tmp_path / "t", FakeClock())
    table.write(batch([("person-1", "p", 1, 4711), ("other-2", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    (tmp_path / "bad").mkdir()
    lines = [{"file": "a", "reason": "r", "row": {"id": key, "value": "x"}} for key in ("person-1", "other-2")]
    (tmp_path / "bad" / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = PurgeTask(table.base_path, str(tmp_path / "bad"), Purge("value = 4711"), {})
    assert task.explain(LocalEngine(1)).facts["quarantined"] == 1
    assert task.work(LocalEngine(1)).bytes == 0
    result = task.approved("").run(LocalEngine(1))
    assert (result.rows_deleted, result.files_deleted, result.acted) == (1, 1, True)
    (left,) = (tmp_path / "bad").iterdir()
    assert json.loads(left.read_text())["row"]["id"] == "other-2"
    assert not task.run(LocalEngine(1)).acted


def test_rows_that_came_back_are_a_blocker(tmp_path, monkeypatch):
    table = create(tmp_path / "t", FakeClock())
    person = batch([("person-1", "p", 1, 1)])
    table.write(person, "upsert", SMALL_BLOOM)
    real = Erasure._clean

    def write_first(*args):
        table.write(person, "upsert", SMALL_BLOOM)
        return real(*args)

    monkeypatch.setattr(Erasure, "_clean", write_first)
    task = PurgeTask(table.base_path, str(tmp_path / "bad"), Purge("id = 'person-1'"), {})
    result = task.run(LocalEngine(1))
    assert [blocker["reason"] for blocker in result.blockers] == ["rows came back during the run"]
    assert "run it again" in result.message
