"""`hudi-services registry check`."""

from __future__ import annotations

import json

from hudi_services.cli.program import main

TEXT = """\
pools: {hudi: 2}
tables:
  - name: trips
    base_path: /lake/trips
    keys: {record_key: id}
    source: {path: /land, format: csv}
    ingest: {schedule: "0 6 * * *", start: 2024-01-01}
    clean: {after_ingests: 3}
"""
WRONG = """\
  - name: odd
    base_pth: /x
    retries: -1
"""


def test_tables_services_and_schedules(tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    file.write_text(TEXT)
    assert main(["registry", "check", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "trips  COPY_ON_WRITE, version 9, at /lake/trips",
        "  source    /land (csv)",
        "  ingest    cron 0 6 * * *",
        "  clean     after commits by any program",
        "pool hudi  2 slots",
        f"{file}: 1 table, no mistakes",
    ]
    assert main(["registry", "check", f"--registry={file}"]) == 0
    assert f"{file}: 1 table, no mistakes" in capsys.readouterr().out
    assert main(["registry", "check", str(file), f"--registry={file}"]) == 2
    assert "leave FILE or --registry out" in capsys.readouterr().err


def test_every_mistake_with_line_and_key(tmp_path, capsys, monkeypatch):
    file = tmp_path / "tables.yaml"
    file.write_text(TEXT + WRONG)
    assert main(["registry", "check", str(file)]) == 1
    said = capsys.readouterr().out
    assert f"{file}:10: odd.base_pth: is not an option; did you mean 'base_path'?" in said
    assert "1 table, 3 mistakes" in said
    monkeypatch.chdir(tmp_path)
    assert main(["registry", "check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["line"], each["key"], each["table"]) for each in found["mistakes"]] == [
        (9, "odd.base_path", "odd"),
        (10, "odd.base_pth", "odd"),
        (11, "odd.retries", "odd"),
    ]
    [table] = found["tables"]
    assert [(each["dag"], each["schedule"], each["after"]) for each in table["services"]] == [
        ("hudi_ingest__trips", "0 6 * * *", []),
        ("hudi_clean__trips", None, ["ingest"]),
    ]
    assert found["pools"] == {"hudi": 2}
    assert found["doctor"] is None
    file.write_text(TEXT + "doctor: {schedule: 0 5 * * *}\n")
    assert main(["registry", "check"]) == 0
    assert "doctor of all tables  cron 0 5 * * *" in capsys.readouterr().out


def test_a_file_that_is_none(tmp_path, capsys):
    assert main(["registry", "check", str(tmp_path / "gone.yaml")]) == 1
    assert "cannot be read" in capsys.readouterr().out
    (tmp_path / "torn.yaml").write_text("tables: [")
    assert main(["registry", "check", str(tmp_path / "torn.yaml"), "--json"]) == 1
    assert "cannot be read" in json.loads(capsys.readouterr().out)["mistakes"][0]["message"]


def test_what_never_runs_by_itself_is_told(tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    file.write_text(TEXT.replace('schedule: "0 6 * * *", ', ""))
    assert main(["registry", "check", str(file)]) == 0
    said = capsys.readouterr().out
    assert "ingest    by hand: ingest.schedule is not set" in said
    assert "clean     after commits by any program" in said, "others may write to the table"
