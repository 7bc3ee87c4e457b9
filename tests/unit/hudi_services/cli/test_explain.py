"""A dry run shows what a run does and changes nothing."""

from __future__ import annotations

import json

import pytest

from tests.support.cli import DONE, clean, deliver, everything, ingest


@pytest.mark.parametrize("version", ["6", "9"])
def test_explain_changes_nothing_and_shows_what_a_run_does(tmp_path, land, version, capsys):
    path = tmp_path / "trips"
    choose = f"--create-table-version={version}"
    before = everything(tmp_path)
    assert ingest(path, land, choose, "--explain", "--json") == DONE
    plan = json.loads(capsys.readouterr().out)
    assert plan["creates_table"]
    assert plan["files"] == [{"path": "dt=2024-01-01/x.parquet", "bytes": plan["bytes"]}]
    assert everything(tmp_path) == before

    ingest(path, land, choose)
    deliver(land, "y.parquet", [("b", "q", 2, 2)])
    capsys.readouterr()
    before = everything(tmp_path)
    assert ingest(path, land, "--explain") == DONE
    assert "would load 1 file" in capsys.readouterr().out
    assert clean(path, "--explain") == DONE
    assert "would remove 0 files" in capsys.readouterr().out
    assert everything(tmp_path) == before

    ingest(path, land)
    deliver(land, "z.parquet", [("b", "q", 3, 3)])
    ingest(path, land)
    capsys.readouterr()
    before = everything(tmp_path)
    assert clean(path, "--explain", "--json") == DONE
    [planned] = json.loads(capsys.readouterr().out)["files"]
    assert everything(tmp_path) == before
    assert clean(path) == DONE
    assert {name for name in before if name not in everything(tmp_path) and name.endswith(".parquet")} == {
        f"{path}/{planned['path']}"
    }
    assert planned["reason"]


def test_explain_repairs_nothing_either(path, land, tmp_path):
    """A lock, a failed write and a half-done update of the properties stay for the run that may change things."""
    meta = path / ".hoodie"
    (meta / "lock").write_text("{}")
    (meta / "timeline" / "20240101000000000.commit.requested").touch()
    (meta / "hoodie.properties").rename(meta / "hoodie.properties.backup")
    before = everything(tmp_path)
    assert ingest(path, land, "--explain") == DONE
    assert clean(path, "--explain") == DONE
    assert everything(tmp_path) == before
