"""Source files that have changed since they were loaded."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.operations.advice import source_files
from hudi_services.operations.advice.source_files import changed_files
from hudi_services.registry.load import read_registry
from tests.support.registered import advised, registered

ONE, TWO = '{"id": "a"}\n', '{"id": "b"}\n'


def loaded(tmp_path, *names):
    for name in names:
        (tmp_path / "land" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "land" / name).write_text(ONE)
    source = {"path": f"{tmp_path}/land", "format": "json", "schema": {"id": "string"}}
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    return file


def changed(file, tmp_path):
    (entry,) = read_registry(file).registry.tables
    return changed_files(entry, HoodieTable.open(str(tmp_path / "orders")).state())


def test_a_file_that_grew_is_a_loss_until_it_is_loaded_again(tmp_path, capsys):
    file = loaded(tmp_path, "1 a.json", "2.json")
    assert changed(file, tmp_path).paths == ()
    assert "changed files" not in advised(file, "orders")
    (tmp_path / "land/1 a.json").write_text(ONE + TWO)
    loss = advised(file, "orders")["changed files"]
    assert (loss.severity, loss.text) == ("loss", "1 source file changed after the load (1 a.json)")
    assert datetime.now(UTC) - loss.since < timedelta(minutes=10)
    assert loss.fix == "hudi-services ingest --reload --files '1 a.json' --explain --table orders"
    capsys.readouterr()
    assert main(["show", "table", "--table=orders", f"--registry={file}"]) == 0
    assert loss.fix in capsys.readouterr().out
    assert main(["ingest", "--reload", "--files=1 a.json", "--table=orders", f"--registry={file}"]) == 0
    assert "changed files" not in advised(file, "orders")


def test_files_that_are_gone_or_new_have_not_changed(tmp_path):
    file = loaded(tmp_path, "1.json", "2.json")
    (tmp_path / "land/1.json").unlink()
    (tmp_path / "land/3.json").write_text(TWO)
    assert changed(file, tmp_path).paths == ()


def test_only_the_folders_that_were_loaded_from_last_are_listed(tmp_path, monkeypatch):
    file = loaded(tmp_path, "old/1.json")
    os.utime(tmp_path / "land/old/1.json", (0, 0))
    assert main(["ingest", "--table=orders", f"--registry={file}", "--reload"]) == 0
    loaded(tmp_path, "new/1.json")
    for name in ("old", "new"):
        (tmp_path / "land" / name / "1.json").write_text(ONE + TWO)
    assert changed(file, tmp_path).paths == ("new/1.json", "old/1.json")
    monkeypatch.setattr(source_files, "_FOLDERS", 1)
    assert changed(file, tmp_path).paths == ("new/1.json",)


def test_a_table_without_a_load_or_a_folder_has_none(tmp_path):
    file = loaded(tmp_path, "1.json")
    (entry,) = read_registry(file).registry.tables
    state = HoodieTable.open(str(tmp_path / "orders")).state()
    assert changed_files(entry.model_copy(update={"source": None}), state) is None
