"""`rollback` without an instant offers the last commit, and takes it back only with an answer."""

from __future__ import annotations

import io
import json

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, fill
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "trips"
    fill(create(path))
    return str(path)


def commits(base):
    return [commit.time for commit in HoodieTable.open(base).timeline.commits]


def test_without_a_terminal_it_shows_the_plan_and_the_command(base, capsys):
    before = commits(base)
    for more in ([], ["--yes"], ["--yes", "--json"]):
        assert main(["rollback", f"--target-base-path={base}", *more]) == USAGE
        printed = capsys.readouterr()
        assert f"--instant {before[-1]} --yes" in printed.out + printed.err
        assert ("would" in printed.out) is ("--json" not in more)
        assert commits(base) == before
    assert main(["rollback", f"--target-base-path={base}", "--explain", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["files"]
    assert commits(base) == before


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", FAILED, 3), ("", FAILED, 3), ("y\n", DONE, 2)])
def test_at_a_terminal_it_asks(base, capsys, monkeypatch, answer, code, left):
    before = commits(base)
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert main(["rollback", f"--target-base-path={base}"]) == code
    assert "Roll it back?" in capsys.readouterr().out
    assert commits(base) == before[:left]


def test_a_table_without_commits_has_nothing_to_offer(tmp_path, capsys):
    create(tmp_path / "new")
    assert main(["rollback", f"--target-base-path={tmp_path / 'new'}"]) == USAGE
    assert "no commit to roll back" in capsys.readouterr().err


def test_the_limits_of_the_registry_hold_for_a_user_too(base, tmp_path):
    HoodieTable.open(base).write(batch([("x", "p", 9, 9), ("y", "q", 9, 9)]), "upsert", SMALL_BLOOM)
    before, file = commits(base), tmp_path / "tables.yaml"
    rollback = ["rollback", "--table=t", f"--registry={file}", f"--instant={before[-1]}", "--yes"]
    for restore, left in ({"hoodie.delete.max.files": 1}, before), ({}, before[:-1]):
        entry = {"name": "t", "base_path": base, "restore": {"hoodie": restore}}
        file.write_text(json.dumps({"tables": [entry]}))
        assert (main(rollback) == DONE) is (left != before)
        assert commits(base) == left
