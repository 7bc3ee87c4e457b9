"""`hudi-services infer`. The entry itself is tested beside its modules."""

from __future__ import annotations

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
