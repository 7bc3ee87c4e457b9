"""The command `advise`: text at 80 columns, JSON, exit codes, tables that cannot be read."""

from __future__ import annotations

import json

from hudi_services.cli.program import main
from tests.support.cli import fill
from tests.support.registered import registered
from tests.support.tables import SMALL_BLOOM, batch, create

LOOKED = "Looked at: files, plans of services, locks, consumers, objectives, the doctor's checks."


def test_all_tables_of_a_registry_although_some_cannot_be_read(tmp_path, capsys):
    fill(create(tmp_path / "torn"))
    (tmp_path / "torn/.hoodie/hoodie.properties").write_bytes(b"")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/.hoodie").write_bytes(b"no folder")
    damaged = create(tmp_path / "damaged")
    fill(damaged)
    (file_slice,) = damaged.file_slices()
    (tmp_path / "damaged" / file_slice.base_file.path).unlink()
    create(tmp_path / "fine").write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    names = ("torn", "odd", "damaged", "fine", "gone")
    file = registered(tmp_path, *({"name": name} for name in names), {"name": "wrong", "no_such_key": 1})
    assert main(["advise", f"--registry={file}"]) == 0
    text = capsys.readouterr().out
    unbroken = "".join(text.split())
    assert f"torn:1damageDAMAGEThetablecannotberead:.hoodie/hoodie.propertiesof{tmp_path}" in unbroken
    assert "A file is missing that commit" in text
    assert "FAILED   The registry has a mistake:" in text
    assert "Nothing to do: fine.\nLooked at: files," in text
    assert max(len(line) for line in text.splitlines() if not line.lstrip().startswith("$ ")) <= 80
    assert main(["advise", f"--registry={file}", "--json", "--exit-code"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == 2
    by_name = {each["table"]: each for each in told["tables"]}
    assert {name: [each["severity"] for each in by_name[name]["advice"]] for name in by_name} == {
        **{name: ["damage"] for name in ("torn", "odd", "damaged")},
        "gone": ["failed"],
        "wrong": ["failed"],
        "fine": [],
    }
    assert by_name["fine"]["base_path"] == str(tmp_path / "fine")


def test_one_table_by_its_path_or_its_name(tmp_path, capsys):
    create(tmp_path / "fine").write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    assert main(["advise", f"--target-base-path={tmp_path}/fine", "--exit-code"]) == 0
    assert "".join(capsys.readouterr().out.split()) == f"Nothingtodo:{tmp_path}/fine.{''.join(LOOKED.split())}"
    file = registered(tmp_path, {"name": "fine", "objectives": {"freshness": "1s"}})
    assert main(["advise", "--table=fine", f"--registry={file}"]) == 0
    assert main(["advise", "--table=other", f"--registry={file}"]) == 2
