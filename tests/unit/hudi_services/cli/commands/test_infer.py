"""`hudi-services infer`. The entry itself is tested beside its modules."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.registry.load import read_registry


def test_the_sections_are_a_registry_without_mistakes(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,v\n1,2\n")
    assert main(["infer", str(tmp_path / "in"), "--objectives"]) == 0
    (file := tmp_path / "tables.yaml").write_text(capsys.readouterr().out)
    reading = read_registry(str(file))
    assert not reading.mistakes
    (table,) = reading.registry.tables
    assert table.history.path == f"{tmp_path}/in_history"
    assert table.objectives.any
    assert reading.registry.alerts.hooks[0].url == "${HUDI_ALERTS_URL}"
    assert main(["registry", "check", str(file)]) == 0
    assert "WARNING" not in capsys.readouterr().out


def test_paths_are_those_of_every_process(tmp_path, monkeypatch, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,v\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert main(["infer", "in/"]) == 0
    (file := tmp_path / "tables.yaml").write_text(capsys.readouterr().out)
    (table,) = read_registry(str(file)).registry.tables
    assert (table.base_path, table.source.path) == (f"{tmp_path}/in_table", f"{tmp_path}/in")


@pytest.mark.parametrize("path", ["in", "in/*.tsv", "in/t_*"])
def test_an_entry_for_files_with_tabs_loads_them(path, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for number in (1, 2):
        (tmp_path / "in" / f"t_{number}.tsv").write_text(f"id\tname\n{number}\ta, b; c\n")
    assert main(["infer", f"{tmp_path}/{path}", "--name", "tabs"]) == 0
    (file := tmp_path / "tables.yaml").write_text(capsys.readouterr().out)
    assert main(["ingest", "--registry", str(file), "--table", "tabs"]) == 0
    (table,) = read_registry(str(file)).registry.tables
    rows = HoodieTable.open(table.base_path).read(columns=["id", "name"])
    assert sorted(rows.to_pylist(), key=str) == [{"id": 1, "name": "a, b; c"}, {"id": 2, "name": "a, b; c"}]


def test_one_feed_of_several_in_a_folder(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    for name, header in (("orders_1", "order_id,v"), ("orders_2", "order_id,v"), ("users_1", "user_id,city")):
        (tmp_path / "in" / f"{name}.csv").write_text(f"{header}\n{name[-1]},x\n")
    assert main(["infer", f"{tmp_path}/in"]) == 0
    assert "Several feeds? Other columns than most: users_1.csv has user_id, city." in capsys.readouterr().out
    assert main(["infer", f"{tmp_path}/in/*.csv"]) == 1
    assert "1 of 3 that were looked at have other columns" in capsys.readouterr().err
    assert main(["infer", f"{tmp_path}/in/orders_*.csv"]) == 0
    (file := tmp_path / "tables.yaml").write_text(capsys.readouterr().out)
    (table,) = read_registry(str(file)).registry.tables
    assert (table.name, table.base_path, table.source.path) == (
        "orders",
        f"{tmp_path}/in_orders_table",
        f"{tmp_path}/in",
    )
    assert main(["ingest", "--registry", str(file), "--table", "orders"]) == 0
    assert HoodieTable.open(table.base_path).read(columns=["order_id"]).num_rows == 2


def test_a_pattern_that_the_shell_has_replaced(capsys):
    assert main(["infer", "a.csv", "b.csv"]) == 2
    assert "was given 2 paths" in (error := capsys.readouterr().err)
    assert "put it in quotes" in error
