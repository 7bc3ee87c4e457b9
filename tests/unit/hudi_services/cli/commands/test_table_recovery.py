"""`table recover` writes lost properties of the table's entry, once a user has seen what no file proves."""

from __future__ import annotations

import json

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import USAGE, fill
from tests.support.registered import registered
from tests.support.tables import create

KEYS = {"record_key": ["id"], "partition_by": ["part"], "ordering": ["ts"]}
HIVE = {"hoodie.datasource.write.hive_style_partitioning": "true", "hoodie.table.name": "trips"}


def test_the_advice_on_lost_properties_is_a_line_that_works(tmp_path, capsys, monkeypatch):
    table = create(tmp_path / "orders")
    fill(table)
    rows = table.read()
    file = tmp_path / "orders/.hoodie/hoodie.properties"
    before = file.read_text()
    file.unlink()
    registry = registered(tmp_path, {"name": "orders", "keys": KEYS, "hoodie": HIVE})
    line = f"table recover --table orders --registry {registry}"
    for command in ("show table", "advise"):
        main([*command.split(), "--table=orders", f"--registry={registry}"])
        assert f"$ hudi-services {line}\n" in capsys.readouterr().out
    assert main([*line.split(), "--explain"]) == 0
    assert "  no file shows:   ordering (ts), by EVENT_TIME_ORDERING\n" in capsys.readouterr().out
    assert main(line.split()) == USAGE, "no user has seen the plan"
    assert not file.exists()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    assert main(line.split()) == 0
    assert file.read_text().splitlines()[2:] == before.splitlines()[2:]
    assert HoodieTable.open(tmp_path / "orders").read().equals(rows)


def test_an_entry_that_contradicts_the_files_writes_nothing(tmp_path, capsys):
    fill(create(tmp_path / "orders"))
    file = tmp_path / "orders/.hoodie/hoodie.properties"
    file.unlink()
    registry = registered(tmp_path, {"name": "orders", "keys": {**KEYS, "record_key": ["value"]}, "hoodie": HIVE})
    command = ["table", "recover", "--table=orders", f"--registry={registry}", "--yes", "--json"]
    assert main(command) == USAGE
    assert "correct `keys: {record_key: [...]}`" in json.loads(capsys.readouterr().out)["fix"]
    assert main(["table", "recover", f"--target-base-path={tmp_path}/orders", "--yes"]) == USAGE
    assert "Only an entry of the registry says which columns are keys" in capsys.readouterr().err
    assert not file.exists()


def test_properties_of_another_table_are_what_the_advice_corrects_and_not_the_entry(tmp_path, capsys):
    fill(create(tmp_path / "orders"))
    create(tmp_path / "rides", **{"hoodie.table.name": "rides", "hoodie.table.recordkey.fields": "value"})
    file, other = (tmp_path / f"{name}/.hoodie/hoodie.properties" for name in ("orders", "rides"))
    before = file.read_text()
    file.write_bytes(other.read_bytes())
    source = {"path": str(tmp_path), "format": "csv"}
    registry = registered(tmp_path, {"name": "orders", "keys": KEYS, "hoodie": HIVE, "source": source, "ingest": {}})
    line = f"table recover --table orders --registry {registry}"
    chosen = ["--table=orders", f"--registry={registry}"]
    for command in ("show table", "advise", "doctor", "ingest"):
        main([*command.split(), *chosen])
        shown = "".join(capsys.readouterr())
        assert f"hudi-services {line}" in shown, command
        assert "keys: {record_key: [value]}" not in shown, "the registry is right"
    main(["registry", "check", str(registry)])
    shown = capsys.readouterr().out
    assert "hoodie.properties of the table are not those of its files, so loads are refused" in shown
    assert "keys: {record_key: [value]}" not in shown
    assert main([*line.split(), "--explain"]) == 0
    assert "    hoodie.table.recordkey.fields=id  (was value)\n" in capsys.readouterr().out
    assert main([*line.split(), "--yes"]) == 0
    assert file.read_text().splitlines()[2:] == before.splitlines()[2:]
    capsys.readouterr()
    main(["advise", *chosen])
    assert "table recover" not in capsys.readouterr().out
