"""The commands of `table`: plans, questions and what holds them back."""

from __future__ import annotations

import io
import json

import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import HoodieError
from hudi_services.cli.program import main
from tests.support.cli import DONE, FAILED, USAGE, fill
from tests.support.tables import content, create


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(create(tmp_path / "lake" / "trips", **{"hoodie.table.type": "MERGE_ON_READ"}))
    return tmp_path / "lake" / "trips"


def run(*words):
    return main(["table", *map(str, words)])


def rows(path):
    return content(HoodieTable.open(str(path)))


def test_a_drop_shows_its_plan_asks_and_deletes_the_folder(path, capsys, monkeypatch):
    at = f"--target-base-path={path}"
    assert run("drop", at, "--explain") == DONE
    assert "nothing was changed" in capsys.readouterr().out
    assert run("drop", at) == USAGE
    assert "add --yes" in capsys.readouterr().err
    for answer, code in (("n\n", FAILED), ("y\n", DONE)):
        assert rows(path)
        terminal = io.StringIO(answer)
        monkeypatch.setattr(terminal, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", terminal)
        assert run("drop", at) == code
    assert "dropped table" in capsys.readouterr().out
    assert not path.exists()
    assert path.parent.exists()
    assert run("drop", at, "--yes") == FAILED
    assert "not a Hudi table" in capsys.readouterr().err


def test_consumers_and_savepoints_hold_a_drop_back(path, capsys):
    table = HoodieTable.open(str(path))
    table.consumer("dashboard").reset("earliest")
    table.savepoint()
    at = (f"--target-base-path={path}", "--yes")
    assert run("drop", *at, "--despite=consumers") == FAILED
    assert "savepoints: " in capsys.readouterr().err
    assert rows(path)
    assert run("drop", *at, "--despite=consumers", "--despite=savepoints", "--json") == DONE
    assert json.loads(capsys.readouterr().out)["files"] > 5
    assert not path.exists()


def test_entries_of_the_registry_hold_drop_and_move_back(path, tmp_path, capsys):
    uris = "hoodie.datasource.hive_sync.metastore.uris"
    entry = f"{{name: trips, base_path: {path}, sync: {{hoodie: {{{uris}: 'thrift://h:9083'}}}}}}"
    reader = f"{{name: copy, base_path: {tmp_path / 'c'}, keys: [id], source: {{path: '{path}', format: parquet}}}}"
    (tmp_path / "tables.yaml").write_text(f"tables:\n  - {entry}\n  - {reader}\n")
    assert run("drop", "--table=trips", "--explain", "--json") == DONE
    found = json.loads(capsys.readouterr().out)["obstacles"]
    assert [each["kind"] for each in found] == ["registry", "catalogs", "registry"]
    for words in (("drop",), ("move", f"--to={tmp_path / 'new'}")):
        assert run(*words, "--table=trips", "--yes", "--despite=registry") == FAILED
        assert "metastore" in capsys.readouterr().err
    assert (
        run("move", "--table=trips", "--yes", "--despite=registry", "--despite=catalogs", f"--to={tmp_path / 'n'}")
        == DONE
    )
    assert rows(tmp_path / "n")


def test_links_and_tables_inside_are_never_followed(path, tmp_path, capsys):
    other = tmp_path / "other"
    fill(create(other))
    (path / "part=x").symlink_to(other)
    at = (f"--target-base-path={path}", "--yes", "--despite=consumers")
    assert run("drop", *at) == FAILED
    assert "links: " in capsys.readouterr().err
    (path / "part=x").unlink()
    fill(create(path / "below"))
    assert run("drop", *at) == FAILED
    assert "tables inside" in capsys.readouterr().err
    link = tmp_path / "link"
    link.symlink_to(other)
    assert run("drop", f"--target-base-path={link}", "--yes") == FAILED
    assert rows(other)
    assert rows(path)


def test_a_copy_and_a_move_keep_the_rows(path, tmp_path, capsys):
    whole, at = rows(path), f"--target-base-path={path}"
    HoodieTable.open(str(path)).consumer("dashboard").reset("earliest")
    assert run("copy", at, f"--to={tmp_path / 'copy'}", "--yes") == DONE
    assert run("move", at, f"--to={tmp_path / 'new' / 'place'}", "--yes") == DONE
    assert "moved table" in capsys.readouterr().out
    assert not path.exists()
    assert rows(tmp_path / "copy") == rows(tmp_path / "new" / "place") == whole
    assert not (tmp_path / "copy" / ".hoodie" / ".consumers").exists()
    assert (tmp_path / "new" / "place" / ".hoodie" / ".consumers").exists()
    fill(HoodieTable.open(str(tmp_path / "copy")))
    assert rows(tmp_path / "new" / "place") == whole


def test_a_copy_waits_for_plans_and_refuses_places_in_use(path, tmp_path, capsys):
    at = f"--target-base-path={path}"
    for place in (path / "below", path.parent, path):
        assert run("copy", at, f"--to={place}", "--yes") == FAILED
        assert "lie in each other" in capsys.readouterr().err
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    assert run("copy", at, f"--to={tmp_path / 'used'}", "--yes") == FAILED
    assert "There are files at" in capsys.readouterr().err
    table = HoodieTable.open(str(path))
    table.schedule(COMPACTION, force=True)
    for action in ("copy", "move"):
        assert run(action, at, f"--to={tmp_path / 'c'}", "--yes") == FAILED
        assert "pending: " in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_drop_that_was_cut_short_is_ended_and_says_so(path, capsys):
    (path / ".hoodie" / "hoodie.properties").rename(path / ".hoodie" / "dropped.properties")
    with pytest.raises(HoodieError, match=r"a drop of the table has begun.*table drop"):
        HoodieTable.open(str(path))
    with pytest.raises(HoodieError, match="not empty"):
        create(path)
    assert run("drop", f"--target-base-path={path}", "--explain") == DONE
    assert "It was begun before" in capsys.readouterr().out
    assert run("drop", f"--target-base-path={path}", "--yes") == DONE
    assert not path.exists()


def test_a_table_at_work_is_left_alone(path, tmp_path, capsys):
    locks = path / ".hoodie" / ".locks"
    for action, more in (("drop", ()), ("copy", (f"--to={tmp_path / 'c'}",))):
        (path / ".hoodie" / "lock").write_text("{}")
        assert (
            run(action, f"--target-base-path={path}", "--yes", "--hoodie-conf=hoodie.write.lock.wait_time_ms=0", *more)
            == FAILED
        )
        assert "lock" in capsys.readouterr().err
        (path / ".hoodie" / "lock").unlink()
    assert rows(path)
    assert not locks.exists() or not list(locks.iterdir())
