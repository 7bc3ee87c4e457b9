"""A column without a value has no type until one shows it."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import SchemaConflictError, SourceError
from hudi_services.sources.ingest.run import run_ingest

ROW = {"id": "a", "part": "p", "ts": 1}
CSV = "id,part,ts,value\n"
NULLS_REFUSED = {"hoodie.write.set.null.for.missing.columns": "false"}
SCHEMA = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint"}
LACKING = "WARNING: files lack columns of the table, which are null in their rows: value (not in 2.csv, 3.csv)"


def field(feed, path):
    """The type of a column or field, dotted; None where the table has none."""
    kind = pa.struct(list(feed.open().schema))
    for name in path.split("."):
        kind = kind.value_type if pa.types.is_list(kind) else kind
        place = kind.get_field_index(name)
        if place < 0:
            return None
        kind = kind.field(place).type
    return kind


def values(feed, name="value"):
    rows = feed.open().read().to_pylist()
    return {row["id"]: row[name] for row in rows}


@pytest.mark.parametrize(
    ("empty", "later"),
    [
        ([], [{"a": 1}]),
        ([[]], [[1]]),
        (None, [1]),
        (None, {"a": 1}),
        (None, 5),
        (None, "x"),
        ({}, {"a": 1}),
        ([], {"a": 1}),
        ([{}], [{"a": 1}]),
        ({"a": None}, {"a": [True]}),
    ],
    ids=str,
)
def test_the_first_value_of_json_shows_the_type(feed, empty, later):
    feed.land("1.json", [{**ROW, "value": empty}])
    first = feed.run("json")
    assert (first.rows_inserted, first.columns_left_out) == (1, ("value",))
    assert "left out until a row has a value of a known type: value" in first.message
    assert field(feed, "value") is None
    feed.land("2.json", [{**ROW, "id": "b", "value": later}, {**ROW, "id": "c"}])
    second = feed.run("json")
    assert (second.rows_quarantined, second.columns_left_out) == (0, ())
    assert values(feed) == {"a": None, "b": later, "c": None}


@pytest.mark.parametrize(
    ("empty", "later", "left_out"),
    [
        ({"n": 1, "of": None}, {"n": 2, "of": {"x": 5}}, "value.of"),
        ({"n": 1, "of": []}, {"n": 2, "of": [5]}, "value.of"),
        ({"n": 1, "of": {}}, {"n": 2, "of": {"x": "t"}}, "value.of"),
        ([{"n": 1, "of": None}], [{"n": 2, "of": 5}], "value.element.of"),
    ],
    ids=str,
)
def test_so_it_is_inside_structs_and_lists(feed, empty, later, left_out):
    for name, value, expected in (("1", empty, (left_out,)), ("2", empty, (left_out,)), ("3", later, ())):
        feed.land(f"{name}.json", [{**ROW, "id": name, "value": value}])
        assert feed.run("json").columns_left_out == expected
    rows = values(feed)
    inner = rows["1"][0] if isinstance(empty, list) else rows["1"]
    assert inner == {"n": 1, "of": None}
    assert rows["3"] == later


@pytest.mark.parametrize(
    ("empty", "later"),
    [
        (pa.nulls(1), pa.array([5])),
        (pa.array([[]], pa.list_(pa.null())), pa.array([["x"]])),
        (pa.array([[]], pa.large_list(pa.null())), pa.array([[1.5]])),
        (pa.array([{"n": 1, "of": None}]), pa.array([{"n": 2, "of": 5}])),
        (pa.array([[]], pa.map_(pa.string(), pa.null())), pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))),
    ],
    ids=lambda column: str(column.type),
)
def test_so_it_is_in_parquet(feed, empty, later):
    for name, column, count in (("1", empty, 1), ("2", later, 0)):
        feed.land(f"{name}.parquet", pa.table({"id": [name], "part": ["p"], "ts": [1], "value": column}))
        assert len(feed.run().columns_left_out) == count
    assert values(feed)["2"] == later.to_pylist()[0]


@pytest.mark.parametrize(("later", "kind"), [("5", pa.int64()), ("x", pa.string()), ("2026-01-01", pa.date32())])
def test_so_it_is_in_csv(feed, later, kind):
    feed.land("1.csv", f"{CSV}a,p,1,\n")
    feed.run("csv")
    assert field(feed, "value") is None
    feed.land("2.csv", f"{CSV}b,p,1,{later}\nc,p,1,\n")
    feed.run("csv")
    assert field(feed, "value") == kind
    assert values(feed)["a"] is None


def test_words_for_null_are_kept_as_texts_unless_they_are_declared(feed):
    """Namibia's code is NA."""
    text = f"{CSV}a,p,1,NA\nb,p,1,\n"
    feed.land("1.csv", text)
    assert feed.run("csv", declared={"csv": {"null_values": ["NA", ""]}}).columns_left_out == ("value",)
    feed.land("2.csv", text)
    assert feed.run("csv").columns_left_out == ()
    assert values(feed) == {"a": "NA", "b": None}


def test_words_for_null_are_null_beside_numbers_of_another_file(feed):
    feed.land("1.csv", f"{CSV}a,p,1,NULL\n")
    feed.land("2.csv", f"{CSV}b,p,1,5\n")
    feed.run("csv")
    assert values(feed) == {"a": None, "b": 5}


def test_a_value_in_any_file_of_the_load_counts(feed):
    feed.land("1.json", [{**ROW, "value": []}])
    feed.land("2.json", [{**ROW, "id": "b", "value": [1]}])
    assert feed.run("json").columns_left_out == ()
    assert values(feed) == {"a": [], "b": [1]}


def test_a_declared_type_stands_without_a_value(feed):
    schema = {"id": "string", "part": "string", "ts": "bigint", "value": "array<int>"}
    feed.land("1.json", [{**ROW, "value": []}])
    assert feed.run("json", declared={"schema": schema}).columns_left_out == ()
    assert values(feed) == {"a": []}


def test_the_type_of_the_table_stands_also_inside(feed):
    feed.land("1.json", [{**ROW, "value": {"n": [1]}}])
    feed.run("json")
    feed.land("2.json", [{**ROW, "id": "b", "value": {"n": []}}, {**ROW, "id": "c", "value": None}])
    assert feed.run("json").columns_left_out == ()
    assert values(feed) == {"a": {"n": [1]}, "b": {"n": []}, "c": None}


@pytest.mark.parametrize("sql", ["select * from batch", "select id, part, ts, value from batch where ts > 0"])
def test_columns_that_sql_leaves_as_they_come_are_left_out(feed, sql):
    feed.land("1.json", [{**ROW, "value": []}])
    assert feed.run("json", declared={"sql": sql}).columns_left_out == ("value",)
    feed.land("2.json", [{**ROW, "id": "b", "value": [{"a": 1}]}])
    feed.run("json", declared={"sql": sql})
    assert values(feed) == {"a": None, "b": [{"a": 1}]}


def test_a_null_of_sql_shows_no_type(feed):
    feed.land("1.json", [ROW])
    assert feed.run("json", declared={"sql": "select *, null as value from batch"}).columns_left_out == ("value",)


def test_a_partition_column_without_a_value_is_text(feed):
    feed.land("1.json", [{**ROW, "part": None}])
    assert feed.run("json").rows_inserted == 1
    assert field(feed, "part") == pa.string()


def test_a_load_without_any_value_is_refused(feed):
    feed.land("1.json", [{"x": None, "y": []}])
    request = replace(feed.request("json", operation="insert"), options={"hoodie.table.name": "trips"})
    with pytest.raises(SourceError, match=r"No row of .* has a value"):
        run_ingest(request, LocalEngine(1))
    assert not feed.table.exists()


@pytest.mark.parametrize(("unit", "bad"), [("ns", 999), ("s", 2**50), ("s", -(2**50))])
@pytest.mark.parametrize("nested", [lambda times: times, lambda times: pa.StructArray.from_arrays([times], ["x"])])
def test_a_time_that_microseconds_do_not_hold_makes_a_bad_row(feed, unit, bad, nested):
    """It stopped the load of all rows, although some were allowed to be bad."""
    for number, values in enumerate([[bad, 1000], [2000, bad]]):
        ids = [f"{number}{place}" for place in range(2)]
        times = nested(pa.array(values, pa.timestamp(unit)))
        feed.land(f"{number}.parquet", pa.table({"id": ids, "part": ["p"] * 2, "ts": [1, 1], "at": times}))
        assert feed.run("parquet", max_bad_share=0.5).rows_quarantined == 1
    assert sorted(feed.open().read()["id"].to_pylist()) == ["01", "10"]
    assert all("column at: " in reason for _, reason, _ in feed.quarantined)


@pytest.mark.parametrize(
    "declared", [{}, {"schema": SCHEMA}, {"rename": {"amount": "value"}}], ids=["guessed", "declared", "renamed"]
)
def test_files_that_lack_a_column_of_the_table_are_named(feed, declared):
    header = CSV.replace("value", "amount") if "rename" in declared else CSV
    feed.land("1.csv", f"{header}a,p,1,1\nb,p,1,2\n")
    assert "WARNING" not in feed.run("csv", declared=declared).message
    feed.land("2.csv", "id,part,ts\na,p,2\n")
    feed.land("3.csv", "id,part,ts\nc,p,2\n")
    feed.land("4.csv", f"{header}d,p,1,3\n")
    lacking = LACKING.replace("value", header.rstrip().rpartition(",")[2])
    with pytest.raises(SchemaConflictError, match=re.escape(lacking.rpartition(": ")[2])):
        feed.run("csv", NULLS_REFUSED, declared=declared)
    assert values(feed) == {"a": 1, "b": 2}
    assert lacking in feed.run("csv", declared=declared).message
    assert values(feed) == {"a": None, "b": 2, "c": None, "d": 3}


def test_a_footer_shows_the_columns_too(feed):
    rows = pa.table({"id": ["a"], "part": ["p"], "ts": [1], "value": [1]})
    feed.land("1.parquet", rows)
    feed.run()
    feed.land("2.parquet", rows.drop_columns("value"))
    assert "value (not in 2.parquet)" in feed.run().message


def test_a_column_that_no_row_needs_is_not_missed(feed):
    """Objects of JSON leave out what is null, deletions need keys, a default takes the place of a value."""
    feed.land("1.json", [{**ROW, "value": 1}, {**ROW, "id": "b", "value": 1}])
    feed.run("json", declared={"schema": SCHEMA})
    feed.land("2.json", [ROW])
    assert "WARNING" not in feed.run("json", NULLS_REFUSED, declared={"schema": SCHEMA}).message
    with_default = {"schema": {**SCHEMA, "value": {"type": "bigint", "default": 7}}}
    feed.land("other/3.csv", "id,part,ts\nc,p,2\n")
    others = {"source": feed.source / "other"}
    assert "WARNING" not in feed.run("csv", NULLS_REFUSED, declared=with_default, **others).message
    feed.land("other/4.csv", "id,part,ts\nb,p,2\n")
    assert "WARNING" not in feed.run("csv", operation="delete", **others).message
    assert values(feed) == {"a": None, "c": 7}


def test_a_name_that_differs_in_case_from_that_of_the_table_is_named_with_its_remedy(feed):
    feed.land("1.csv", f"{CSV}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", f"{CSV.replace('value', 'Value')}b,p,1,2\n")
    with pytest.raises(
        SchemaConflictError, match=r"'Value' of .* differs in case alone from the table's column 'value'"
    ) as raised:
        feed.run("csv")
    assert "Value in 2.csv. To do: write `rename: {Value: value}` in the source" in str(raised.value)
    feed.run("csv", declared={"rename": {"Value": "value"}})
    assert values(feed) == {"a": 1, "b": 2}


def test_a_key_that_differs_in_case_is_named_with_its_remedy(feed):
    feed.land("1.csv", f"{CSV.replace('id', 'ID')}a,p,1,1\n")
    with pytest.raises(SourceError, match="Record key column 'id' is in no row of ") as raised:
        feed.run("csv")
    assert "write `rename: {ID: id}` in the source, as they differ in case alone; or" in str(raised.value)
    feed.run("csv", declared={"rename": {"ID": "id"}})
    assert values(feed) == {"a": 1}


def test_two_spellings_in_two_files_are_named_with_their_remedies(feed):
    feed.land("1.csv", f"{CSV}a,p,1,1\n")
    feed.land("2.csv", f"{CSV.replace('value', 'VALUE')}b,p,1,2\n")
    with pytest.raises(
        SchemaConflictError, match=r"value in 1\.csv and VALUE in 2\.csv, which differ in case alone"
    ) as raised:
        feed.run("csv")
    assert "deliver 2.csv again with the name value; or load the files of one spelling by themselves" in str(
        raised.value
    )
    feed.run("csv", declared={"pattern": "1.csv"})
    feed.run("csv", declared={"pattern": "2.csv", "rename": {"VALUE": "value"}})
    assert values(feed) == {"a": 1, "b": 2}
