"""Source files that are not in the table as they are: changed since their load, new, or left out."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.operations.advice import source_files
from hudi_services.operations.advice.source_files import SourceFiles
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
    return source_files.source_files(
        entry, HoodieTable.open(str(tmp_path / "orders")).state(), datetime.now(UTC)
    ).changed


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
    assert (
        source_files.source_files(entry.model_copy(update={"source": None}), state, datetime.now(UTC)) == SourceFiles()
    )


def test_new_files_wait_for_a_load_that_may_not_come(tmp_path):
    file = loaded(tmp_path, "1.json")
    for name in ("2.json", "3.json", ".4.json", "5.csv"):
        (tmp_path / "land" / name).write_text(TWO)
    assert changed(file, tmp_path).paths == ()
    due = advised(file, "orders")["new files"]
    assert (due.severity, due.text) == ("due", f"2 new source files, 24 bytes, wait in {tmp_path}/land")
    assert (due.fix, due.waits) == (
        "hudi-services ingest --table orders",
        "Nothing starts it: ingest.schedule is not set.",
    )
    assert datetime.now(UTC) - due.since < timedelta(minutes=10)
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    assert "new files" not in advised(file, "orders")


def test_files_that_are_too_young_do_not_wait_yet(tmp_path):
    loaded(tmp_path, "1.json")
    (tmp_path / "land/2.json").write_text(TWO)
    source = {"path": f"{tmp_path}/land", "format": "json", "schema": {"id": "string"}, "min_age": "1h"}
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})
    assert "new files" not in advised(file, "orders")
    os.utime(tmp_path / "land/2.json", (0, 0))
    assert "new files" in advised(file, "orders")


def test_files_that_loads_leave_out_are_a_loss(tmp_path, capsys):
    (tmp_path / "land").mkdir()
    (tmp_path / "land/torn.parquet").write_bytes(b"torn")
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "land/1.parquet")
    source = {"path": f"{tmp_path}/land", "format": "parquet", "quarantine": {"files": "skip"}}
    file = registered(tmp_path, {"name": "orders", "source": source, "keys": {"record_key": ["id"]}})
    assert main(["ingest", "--table=orders", f"--registry={file}"]) == 0
    loss = advised(file, "orders")["broken files"]
    assert (loss.severity, loss.text) == ("loss", "Loads leave 1 source file out, which cannot be read")
    assert "torn.parquet: " in loss.detail
    assert "new files" not in advised(file, "orders")
    capsys.readouterr()
    assert main(["show", "table", "--table=orders", f"--registry={file}"]) == 0
    assert "Loads leave 1 source file out" in " ".join(capsys.readouterr().out.split())
    pq.write_table(pa.table({"id": ["b"]}), tmp_path / "land/torn.parquet")
    assert "broken files" not in advised(file, "orders"), "a load tries it again"
    assert "new files" in advised(file, "orders")


def declared(folder, path, **source):
    keys = {"record_key": ["id"]}
    return registered(
        folder, {"name": "orders", "keys": keys, "source": {"path": str(path), "format": "csv", **source}}
    )


def advised_pattern(file, capsys):
    """The advice of `advise` and of `show table`, which are one, and the warning of `registry check`."""
    flags = [f"--registry={file}", "--table=orders", "--json"]
    capsys.readouterr()
    main(["advise", *flags])
    [table] = json.loads(capsys.readouterr().out)["tables"]
    main(["show", "table", *flags])
    shown = json.loads(capsys.readouterr().out)["advice"]
    main(["registry", "check", str(file), "--json"])
    [line] = json.loads(capsys.readouterr().out)["tables"]
    of_kind = [[item for item in advice if item["kind"] == "source pattern"] for advice in (table["advice"], shown)]
    assert of_kind[0] == of_kind[1]
    texts = [item["text"].replace("Loads of days find", "Loads find") for item in of_kind[0]]
    assert [f"Loads find no file: {warning}." for warning in line["warnings"]] == texts
    return of_kind[0]


def test_a_pattern_that_matches_nothing_is_advised_with_and_without_a_table(tmp_path, capsys):
    (tmp_path / "land/orders").mkdir(parents=True)
    (tmp_path / "land/orders/1.csv").write_text("id,v\n1,2\n")
    [advice] = advised_pattern(declared(tmp_path, tmp_path / "land", pattern="orders/*.cvs"), capsys)
    assert advice["severity"] == "failed"
    assert advice["text"] == (
        f"Loads find no file: pattern 'orders/*.cvs' matches nothing: 1 of 1 file below {tmp_path}/land ends in .csv, such as "
        "orders/1.csv; 'orders/*.csv' would match 1."
    )
    file = declared(tmp_path, tmp_path / "land", pattern="orders/*.cvs")
    assert main(["ingest", f"--registry={file}", "--table=orders"]) == 0
    assert "pattern 'orders/*.cvs' matches nothing: 1 of 1 file below" in capsys.readouterr().out
    file = declared(tmp_path, tmp_path / "land")
    assert main(["ingest", f"--registry={file}", "--table=orders"]) == 0
    assert advised_pattern(file, capsys) == []
    [advice] = advised_pattern(declared(tmp_path, tmp_path / "land", pattern="o_*.csv"), capsys)
    assert advice["severity"] == "due"


def test_a_pattern_of_dates_that_no_file_has(tmp_path, capsys):
    (tmp_path / "land").mkdir()
    (tmp_path / "land/2026-01-02.csv").write_text("id,v\n1,2\n")
    file = declared(tmp_path, tmp_path / "land", date_pattern="dt=%Y-%m-%d")
    [advice] = advised_pattern(file, capsys)
    text = f"date_pattern 'dt=%Y-%m-%d' is in no path of 1 file below {tmp_path}/land, such as 2026-01-02.csv"
    assert advice["text"] == f"Loads of days find no file: {text}."
    assert "`source.date_pattern`" in advice["remedy"]
    assert main(["ingest", f"--registry={file}", "--table=orders", "--from=2026-01-01", "--explain"]) == 0
    assert text in capsys.readouterr().out
    assert advised_pattern(declared(tmp_path, tmp_path / "land", date_pattern="%Y-%m-%d"), capsys) == []


def test_a_missing_folder_beside_one_of_a_similar_name(tmp_path, capsys):
    (tmp_path / "landing").mkdir()
    [advice] = advised_pattern(declared(tmp_path, tmp_path / "landng"), capsys)
    assert (
        f"folder {tmp_path}/landng is missing or empty: {tmp_path} has 1 file and the folder landing" in advice["text"]
    )
    assert advised_pattern(declared(tmp_path, tmp_path / "incoming"), capsys) == [], "the first delivery may make it"
    file = declared(tmp_path, tmp_path / "landng")
    assert main(["ingest", f"--registry={file}", "--table=orders"]) != 0
    assert f"Found: {tmp_path} has 1 file and the folder landing." in capsys.readouterr().err
