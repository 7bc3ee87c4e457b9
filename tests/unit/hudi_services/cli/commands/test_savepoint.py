"""`hudi-services savepoint` and `restore` as people and programs call them."""

from __future__ import annotations

import json

import pytest

from hoodie import HoodieTable
from hoodie.errors import SavepointError
from hoodie.services.restore.service import Restore
from hudi_services.cli.program import main
from hudi_services.services.restore.execution import TakeBackTask
from tests.support.cli import DONE, FAILED, USAGE, everything, fill
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t")
    fill(made)
    return made


def call(table, *words):
    return main([*words[:-1], f"--target-base-path={table.base_path}", words[-1]])


def asked(monkeypatch, answer):
    monkeypatch.setattr(
        "click.confirm", lambda *_args, **_kw: answer or (_ for _ in ()).throw(__import__("click").Abort)
    )


def test_made_shown_and_deleted(table, capsys, monkeypatch):
    first, second, last = (commit.time for commit in table.timeline.commits)
    assert call(table, "savepoint", "list", "-v") == DONE
    assert "the table has no savepoints" in capsys.readouterr().out
    assert main(["savepoint", "create", "--target-base-path", table.base_path, "--user=jo", "--comments=a\nb"]) == DONE
    assert f"made savepoint {last}, which keeps 1 file in 1 partition" in capsys.readouterr().out
    assert call(table, "savepoint", "create", f"--instant={second}") == DONE
    capsys.readouterr()
    assert call(table, "savepoint", "list", "--json") == DONE
    shown = json.loads(capsys.readouterr().out)["savepoints"]
    assert [(each["instant"], each["files"]) for each in shown] == [(second, 1), (last, 1)]
    assert (shown[1]["made_by"], shown[1]["comments"]) == ("jo", "a\nb")
    assert call(table, "savepoint", "list", "-v") == DONE
    assert "jo: a b" in capsys.readouterr().out
    assert call(table, "savepoint", "create", f"--instant={second}") == FAILED
    assert main(["savepoint", "delete", "--target-base-path", table.base_path, f"--instant={last}", "--json"]) == USAGE
    asked(monkeypatch, False)
    assert call(table, "savepoint", "delete", f"--instant={last}") != DONE
    assert len(table.savepoints()) == 2
    asked(monkeypatch, True)
    assert call(table, "savepoint", "delete", f"--instant={last}") == DONE
    assert (
        main(["savepoint", "delete", f"--target-base-path={table.base_path}", f"--instant={first}", "--yes"]) == FAILED
    )
    assert [each.instant for each in table.savepoints()] == [second]


def test_a_restore_is_explained_asked_for_and_done(table, tmp_path, capsys, monkeypatch):
    saved = table.savepoint().instant
    table.write(batch([("a", "p", 9, 9), ("b", "q", 9, 9)]), "upsert", SMALL_BLOOM)
    before = everything(tmp_path)
    flags = [f"--target-base-path={table.base_path}", f"--savepoint={saved}"]
    assert main(["restore", *flags, "--explain"]) == DONE
    out = capsys.readouterr().out
    assert "1 row inserted, 1 updated, 0 deleted" in out
    assert "nothing was changed" in out
    assert main(["restore", *flags, "--explain", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["commits"] == 1
    assert main(["restore", *flags, "--json"]) == USAGE
    asked(monkeypatch, False)
    assert main(["restore", *flags]) != DONE
    assert everything(tmp_path) == before
    asked(monkeypatch, True)
    assert main(["restore", *flags]) == DONE
    assert content(table) == {"a": ("p", 3, 3)}
    capsys.readouterr()
    assert main(["restore", *flags, "--json", "--yes"]) == DONE
    assert "nothing came after" in json.loads(capsys.readouterr().out)["message"]
    assert main(["restore", *flags[:1], "--savepoint=20200101000000000", "--yes"]) == FAILED
    assert f"its savepoints are {saved}" in capsys.readouterr().err


def test_no_more_goes_than_was_agreed_to(table):
    saved = table.savepoint().instant
    table.write(batch([("a", "p", 9, 9)]), "upsert", SMALL_BLOOM)
    task = TakeBackTask(table.base_path, Restore(saved), {})
    agreed = task.confirmed(task.explain(table.engine))
    HoodieTable.open(table.base_path).write(batch([("c", "p", 10, 10)]), "upsert", SMALL_BLOOM)
    now = content(table)
    with pytest.raises(SavepointError, match="began after the plan was explained"):
        agreed.run(table.engine)
    assert content(table) == now


def test_a_rollback_is_explained_asked_for_and_done(table, tmp_path, capsys, monkeypatch):
    last = table.timeline.commits[-1].time
    before, rows = everything(tmp_path), content(table)
    flags = [f"--target-base-path={table.base_path}", f"--instant={last}"]
    assert main(["rollback", *flags, "--explain"]) == DONE
    assert "is the last commit" in capsys.readouterr().out
    assert main(["rollback", *flags, "--explain", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["instant"] == last
    assert main(["rollback", *flags, "--json"]) == USAGE
    asked(monkeypatch, False)
    assert main(["rollback", *flags]) != DONE
    assert (everything(tmp_path), content(table)) == (before, rows)
    asked(monkeypatch, True)
    assert main(["rollback", *flags]) == DONE
    assert f"took back commit {last} and 1 file" in capsys.readouterr().out
    assert content(table) != rows
    assert main(["rollback", *flags, "--yes"]) == FAILED
