"""A load is planned before anything is written, and `--explain` shows keys and columns that it would refuse."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import SchemaConflictError
from hudi_services.cli.program import main
from hudi_services.sources.ingest import load_plan
from hudi_services.sources.ingest.task import IngestTask
from tests.support.tables import batch

HEADER = "id,part,ts,value\n"
SCHEMA = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint"}


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
    assert "WARNING: the columns were not looked at (1 file, " in told


@pytest.fixture
def seen(feed):
    """The text of `--explain` for the CSV files of a feed."""

    def look(**declared):
        return IngestTask(feed.request("csv", declared=declared)).explain(LocalEngine(2)).as_text("ingest")

    return look


@pytest.mark.parametrize("most", [64 << 20, 10], ids=["rows", "headers"])
def test_columns_that_files_lack_are_named(feed, seen, monkeypatch, most):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", most)
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    assert "WARNING: files lack" not in seen()
    feed.run("csv")
    feed.land("2.csv", "id,part,ts\na,p,2\n")
    lacks = "columns of the table, which are null in their rows: value (not in 2.csv)"
    assert f"WARNING: files lack {lacks}" in seen()
    assert f"WARNING: files lack {lacks}" in seen(schema=SCHEMA)
    with_more = {**SCHEMA, "note": "string"}
    assert "null in their rows: value (not in 2.csv), note (not in 2.csv)" in seen(schema=with_more)
    feed.land("3.csv", "id,value,part\na,1,p\n")
    feed.land("4.csv", f"{HEADER}a,p,1,1\n")
    said = seen()
    assert f"WARNING: files lack {lacks}" in said
    assert "WARNING: files lack columns of the key or the order, and none of their rows fits: ts (not in 3.csv)" in said


@pytest.mark.parametrize("most", [64 << 20, 10], ids=["rows", "headers"])
def test_columns_that_are_not_declared_are_named(feed, seen, monkeypatch, most):
    monkeypatch.setattr(load_plan, "_MOST_BYTES", most)
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", "id,part,ts,value,more\na,p,2,1,1\n")
    assert "WARNING: the load would fail: Source file " in (said := seen(schema=SCHEMA))
    assert "2.csv has the undeclared column 'more'" in said
    assert "1 file to load; 1 loaded before" in seen(schema=SCHEMA, undeclared="drop")


def test_a_refusal_of_files_that_lack_columns_is_named(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", "id,part,ts\na,p,2\n")
    options = {"hoodie.write.set.null.for.missing.columns": "false"}
    said = IngestTask(feed.request("csv", options)).explain(LocalEngine(2)).as_text("ingest")
    assert "WARNING: the load would fail: Files of" in said
    assert "lack columns of the table. Found: value (not in 2.csv)" in said


def test_the_headers_of_the_first_of_many_files_are_read(feed, seen, monkeypatch):
    monkeypatch.setattr(load_plan, "_MOST_FILES", 1)
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", "id,part,ts\na,p,2\n")
    feed.land("3.csv", "id,part\na,p\n")
    said = seen()
    assert "value (not in 2.csv)" in said
    assert "WARNING: the columns of the first 1 files were looked at (2 files, " in said
    assert "2 files to load" in said


def test_a_broken_file_is_not_counted_with_those_to_load(feed, seen):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.land("2.csv", "")
    said = seen(quarantine={"files": "skip"})
    assert "1 file to load; 1 cannot be read and are SKIPPED: 2.csv" in said
    assert "would load 1 file," in said


def test_a_table_that_is_there_has_its_types(explained, tmp_path, monkeypatch):
    assert explained([{"id": 1}])[0] == 0
    assert HoodieTable.open(str(tmp_path / "t")).read().num_rows == 1
    monkeypatch.setattr(load_plan, "KeyCheck", lambda *_, **__: pytest.fail("the rows were read"))
    assert explained([{"id": 2}, {"id": 3}], "--explain")[0] == 0


@pytest.mark.parametrize(
    ("column", "kind", "cast"),
    [
        ("ts", "string", "bigint"),
        ("value", "string", "bigint"),
        ("id", "int64", "string"),
        ("price", "string", '"decimal(9,2)"'),
    ],
)
def test_the_cast_of_a_column_that_does_not_fit_the_table_is_named(feed, column, kind, cast):
    price = pa.array(["1.50"]).cast(pa.decimal128(9, 2))
    rows = batch([("7", "p", 1, 1)]).append_column("price", price)
    feed.land("1.parquet", rows)
    feed.run()
    place = rows.schema.get_field_index(column)
    feed.land("2.parquet", rows.set_column(place, column, rows[column].cast(kind)))
    with pytest.raises(SchemaConflictError) as raised:
        feed.run()
    said = str(raised.value)
    assert (
        f"To do: say `cast: {{{column}: {cast}}}` in the source for 2.parquet, if its values are such; or cast" in said
    )
    assert ("ALTER" in said) == (column in ("value", "price"))
    assert said.endswith("; nothing was loaded.")
    feed.run(declared=yaml.safe_load(f"cast: {{{column}: {cast}}}"))
    assert feed.open().read(columns=["id", "ts", "value", "price"]).to_pylist() == [
        {"id": "7", "ts": 1, "value": 1, "price": Decimal("1.50")}
    ]


def test_no_cast_is_named_for_columns_of_sql(feed):
    feed.land("1.parquet", batch([("a", "p", 1, 1)]))
    feed.run()
    feed.land("2.parquet", batch([("b", "p", 1, 1)]))
    with pytest.raises(SchemaConflictError, match=r"To do: cast the column to int64") as raised:
        feed.run(declared={"sql": "SELECT id, part, ts, 'x' AS value FROM batch"})
    assert "`cast:" not in str(raised.value)
