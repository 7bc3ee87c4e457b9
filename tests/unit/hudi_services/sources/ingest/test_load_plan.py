"""A load is planned before anything is written, and `--explain` shows keys that it would refuse."""

from __future__ import annotations

import json

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.sources.ingest import load_plan


@pytest.fixture
def explained(tmp_path, capsys):
    def explain(rows, *more, key="id"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        flags = [
            "--target-base-path",
            str(tmp_path / "t"),
            "--source-path",
            str(tmp_path / "in"),
            "--source-format",
            "json",
        ]
        flags += [
            "--hoodie-conf",
            "hoodie.table.name=t",
            "--hoodie-conf",
            f"hoodie.table.recordkey.fields={key}",
            *more,
        ]
        code = main(["ingest", *flags])
        return code, "".join(capsys.readouterr())

    return explain


def test_a_key_of_a_time_with_a_zone_is_refused(explained, tmp_path):
    code, told = explained([{"id": "2026-07-01T10:00:00Z"}], "--explain")
    assert code == 1
    assert "Column 'id' cannot be part of a record key" in told
    assert not (tmp_path / "t").exists()


def test_a_column_that_no_row_has_is_refused(explained, tmp_path):
    for option, role in (
        ("recordkey.fields=no", "Record key column 'no'"),
        ("partition.fields=day", "Partition column 'day'"),
        ("ordering.fields=ts", "Ordering column 'ts'"),
    ):
        code, told = explained([{"id": 1}], "--hoodie-conf", f"hoodie.table.{option}", "--explain")
        assert (code, f"MissingColumnError: {role} is in no row" in told) == (1, True)
    assert not (tmp_path / "t").exists()


def test_other_faults_are_noted(explained):
    code, told = explained([{"id": 1, "zip": 2}, {"id": 2, "ZIP": 3}], "--explain")
    assert code == 0
    assert "WARNING: the load would fail: Column 'zip' of" in told
    assert "occurs more than once. Found: zip in a.json and ZIP in a.json, which differ in case alone" in told
    assert "`rename: {ZIP: ZIP_2}` of the source" in told


def test_a_large_load_is_not_read_for_it(explained, monkeypatch):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", 10)
    code, told = explained([{"id": "2026-07-01T10:00:00Z"}], "--explain")
    assert (code, "WARNING: the keys were not looked at (1 file, " in told) == (0, True)


def test_a_table_that_is_there_has_its_types(explained, tmp_path, monkeypatch):
    assert explained([{"id": 1}])[0] == 0
    assert HoodieTable.open(str(tmp_path / "t")).read().num_rows == 1
    monkeypatch.setattr(load_plan, "plan_load", lambda *_: pytest.fail("the files were read"))
    assert explained([{"id": 2}, {"id": 3}], "--explain")[0] == 0
