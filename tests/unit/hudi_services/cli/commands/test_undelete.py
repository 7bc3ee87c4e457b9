"""The command `undelete`: what there is, and putting it back."""

from __future__ import annotations

import json

from hoodie import CLEAN
from hudi_services.cli.program import main
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


def test_explained_and_put_back(capsys, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    for step in range(3):
        table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM)
    done = table.run(CLEAN, {"hoodie.clean.commits.retained": 1, "hoodie.delete.grace.hours": 1}).results[0]
    named = ["undelete", "--target-base-path", table.base_path]
    assert main([*named, "--explain"]) == 0
    told = capsys.readouterr().out
    assert f"clean {done.start}: 1 file, " in told
    assert "would put back 1 file" in told
    assert main([*named, "--explain", "--json", "--partition", "part=p"]) == 0
    assert json.loads(capsys.readouterr().out)["cleans"][0]["clean"] == done.start
    assert main([*named, "--clean", done.start]) == 0
    assert "1 file put back" in capsys.readouterr().out
    assert main([*named, "--all"]) == 0
    assert "nothing to do: nothing was set aside" in capsys.readouterr().out


def test_what_is_put_back_has_to_be_said(capsys, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    assert main(["undelete", "--target-base-path", table.base_path]) == 2
    assert "--all" in capsys.readouterr().err
    assert main(["undelete", "--target-base-path", table.base_path, "--all", "--clean", "20260101000000000"]) == 2
    assert "keep one" in capsys.readouterr().err
    assert main(["undelete", "--target-base-path", table.base_path, "--clean", "20260101000000000"]) == 1
    assert "No such files were set aside" in capsys.readouterr().err
