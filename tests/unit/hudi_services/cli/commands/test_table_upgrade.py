"""The command `table upgrade`: its plan, its question, and what holds it back."""

from __future__ import annotations

import io
import json

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE
from tests.support.tables import SMALL_BLOOM, batch, content
from tests.support.upgrades import compact, made


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("hoodie.services.upgrade.execute.READER_SECONDS", 0)
    table = made(tmp_path / "t", "MERGE_ON_READ")
    table.write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    return tmp_path / "t"


def run(path, *words):
    return main(["table", "upgrade", f"--target-base-path={path}", *map(str, words)])


def opened(path):
    return HoodieTable.open(str(path))


def test_it_shows_its_plan_asks_and_upgrades(path, capsys, monkeypatch):
    before = content(opened(path))
    assert run(path, "--to", 9, "--explain") == DONE
    assert "sets hoodie.table.version=9 (was 6)" in capsys.readouterr().out
    assert run(path, "--to", 9) == USAGE
    assert "--plan DIGEST" in capsys.readouterr().err
    for answer, code, version in (("n\n", FAILED, 6), ("y\n", DONE, 9)):
        terminal = io.StringIO(answer)
        monkeypatch.setattr(terminal, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", terminal)
        assert run(path, "--to", 9) == code
        assert opened(path).version == version
    assert "the table has version 9" in capsys.readouterr().out
    assert content(opened(path)) == before
    assert run(path, "--to", 9, "--yes") == DONE
    assert "nothing to do" in capsys.readouterr().out


def test_a_digest_approves_one_plan(path, capsys):
    assert run(path, "--to", 9, "--explain", "--json") == DONE
    digest = json.loads(capsys.readouterr().out)["digest"]
    assert run(path, "--to", 8, "--plan", digest) == FAILED
    assert "out of date" in capsys.readouterr().err
    assert run(path, "--to", 9, "--plan", digest, "--json") == DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["service"], told["acted"]) == ("upgrade", True)
    assert opened(path).version == 9


def test_logs_hold_it_back(path, capsys):
    opened(path).write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
    assert run(path, "--to", 9, "--explain", "--json") == DONE
    (obstacle,) = json.loads(capsys.readouterr().out)["obstacles"]
    assert obstacle["kind"] == "logs"
    assert run(path, "--to", 9, "--yes") == FAILED
    assert "hudi-services compact --force" in capsys.readouterr().err
    assert opened(path).version == 6
    compact(opened(path))
    assert run(path, "--to", 9, "--yes") == DONE
    assert opened(path).version == 9
