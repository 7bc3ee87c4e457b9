"""Codes such as 007 in columns that are numbers in the table, which the registry does not declare."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from hoodie.errors import SourceError
from hoodie.schema.changes import WidenColumn

HEADER = "id,part,ts,value"


def land(feed, name, *rows):
    feed.land(f"{name}.csv", "\n".join([HEADER, *rows]))


def begun(feed, *rows, **more):
    """The table after a first load."""
    land(feed, "a", *rows)
    feed.run("csv", **more)


def ids(feed):
    return sorted(row["id"] for row in feed.open().read(columns=["id"]).to_pylist())


@pytest.mark.parametrize("code", ["007", " 007 ", "\u00a0007", "+7", "-07", "+07"])
def test_a_key_that_is_a_code_does_not_become_the_row_of_a_number(feed, code):
    begun(feed, "7,p,1,a")
    land(feed, "b", f"{code},p,2,b", "8,p,1,c")
    result = feed.run("csv", max_bad_share=0.5)
    assert (result.rows_inserted, result.rows_updated, result.rows_quarantined) == (1, 0, 1)
    assert ids(feed) == [7, 8]
    ((file, reason, row),) = feed.quarantined
    assert (file, row["id"]) == ("b.csv", code)
    assert reason.startswith(f"line 2: column id: {code!r} would be the number")
    assert "say `cast: {id: bigint}` in the source" in reason
    assert "load into a new table, with `cast: {id: string}`" in reason


@pytest.mark.parametrize("value", ["7", " 7 ", "0", "-0", "-5", "10"])
def test_numbers_as_keys_are_taken(feed, value):
    begun(feed, "1,p,1,a")
    land(feed, "b", f"{value},p,1,b")
    assert feed.run("csv").rows_inserted == 1


@pytest.mark.parametrize(
    ("first", "later", "is_code"),
    [
        ("5", "007", True),
        ("5", "-007", True),
        ("5", "+007", True),
        ("5", "+8", False),
        ("5", " 12", False),
        ("5", "0", False),
        ("5.25", "007", True),
        ("5.25", "007.50", False),
        ("5.25", "1.50", False),
        ("5.25", "+8", False),
        ("5.25", "0.5", False),
        ("5.25", "1E1", False),
        ("1.5e-7", "007", True),
        ("1.5e-7", "1E5", False),
        ("2026-01-01", "2026-01-02", False),
        ("true", "false", False),
    ],
)
def test_in_other_columns_only_whole_numbers_with_a_further_zero_are_codes(feed, first, later, is_code):
    begun(feed, f"a,p,1,{first}")
    land(feed, "b", f"b,p,1,{later}")
    result = feed.run("csv", max_bad_share=1)
    assert result.rows_quarantined == is_code
    assert all(
        "if it is a code, say ALTER TABLE … ALTER COLUMN value TYPE string" in reason
        for _, reason, _ in feed.quarantined
    )


@pytest.mark.parametrize("value", ["1E5", "+1.5", "01.5"])
def test_a_key_of_fractions(feed, value):
    begun(feed, "a,p,1,1.5e-7", options={"hoodie.table.recordkey.fields": "value"})
    land(feed, "b", f"b,p,1,{value}")
    result = feed.run("csv", max_bad_share=1, options={"hoodie.table.recordkey.fields": "value"})
    assert result.rows_quarantined == 1


def test_the_remedy_of_a_key(feed):
    land(feed, "a", "7,p,1,a")
    land(feed, "b", "007,p,1,b")
    feed.run("csv", declared={"cast": {"id": "string"}})
    assert ids(feed) == ["007", "7"]


@pytest.mark.parametrize(("column", "row"), [("part", "b,07,1,x"), ("part", "b,+7,1,x"), ("ts", "b,7,+2,x")])
def test_columns_of_partitions_and_order(feed, column, row):
    begun(feed, "a,7,1,x")
    land(feed, "b", row)
    assert feed.run("csv", max_bad_share=1).rows_quarantined == 1
    assert f"column {column}: " in feed.quarantined[0][1]


def test_the_load_is_refused_with_the_remedy(feed):
    begun(feed, "7,p,1,a")
    land(feed, "b", "007,p,2,b")
    with pytest.raises(SourceError) as caught:
        feed.run("csv")
    assert "'007' would be the number 7" in str(caught.value)
    assert "declare the column by `cast` of the source" in str(caught.value)
    assert ids(feed) == [7]


DECLARED = {"id": "bigint", "part": "string", "ts": "bigint", "value": "bigint"}


@pytest.mark.parametrize(
    "declared",
    [
        {"cast": {"id": "bigint", "value": "bigint"}},
        {"schema": DECLARED, "cast": {"id": "bigint"}},
        {"schema": {"value": "bigint"}, "undeclared": "keep", "cast": {"id": "bigint"}},
    ],
)
def test_columns_that_are_cast_or_declared_take_them_as_numbers(feed, declared):
    begun(feed, "7,p,1,5")
    land(feed, "b", "007,p,2,007", "+8,p,1,+7")
    result = feed.run("csv", declared=declared)
    assert (result.rows_inserted, result.rows_updated, result.rows_quarantined) == (1, 1, 0)


@pytest.mark.parametrize("kept", ["refuse", "keep"])
def test_a_key_that_is_declared_and_not_cast_takes_no_code(feed, kept):
    """`infer` declares all columns, so that a user need not have thought of codes. This holds for a first load, too."""
    declared = {"schema": DECLARED, "undeclared": kept}
    land(feed, "a", "7,p,1,5", "007,p,2,5", "8,p,1,05")
    result = feed.run("csv", declared=declared, max_bad_share=0.5)
    assert (result.rows_inserted, result.rows_quarantined) == (2, 1)
    assert "say `cast: {id: bigint}` in the source if it is one" in feed.quarantined[0][1]
    land(feed, "b", "+8,p,2,5", "9,p,2,5")
    assert feed.run("csv", declared=declared, max_bad_share=0.5).rows_quarantined == 1
    assert ids(feed) == [7, 8, 9]


def test_a_column_that_was_altered_to_text_takes_codes(feed):
    begun(feed, "7,p,1,5")
    feed.open().alter([WidenColumn("value", pa.string())])
    land(feed, "b", "8,p,2,007")
    assert feed.run("csv").rows_inserted == 1
    assert {row["value"] for row in feed.open().read(columns=["value"]).to_pylist()} == {"5", "007"}


def test_names_in_the_file_and_in_the_table(feed):
    feed.land("a.csv", "nr,part,ts,value\n7,p,1,a")
    feed.run("csv", declared={"rename": {"nr": "id"}})
    feed.land("b.csv", "nr,part,ts,value\n+7,p,1,b")
    assert feed.run("csv", declared={"rename": {"nr": "id"}}, max_bad_share=1).rows_quarantined == 1
    assert "column id: '+7' would be the number 7: say `cast: {id: bigint}`" in feed.quarantined[0][1]


def test_names_in_the_statement(feed):
    sql = {"sql": "SELECT nr AS id, part, ts, value FROM batch"}
    feed.land("a.csv", "nr,part,ts,value\n7,p,1,a")
    feed.run("csv", declared=sql)
    feed.land("b.csv", "nr,part,ts,value\n+7,p,1,b")
    assert feed.run("csv", declared=sql, max_bad_share=1).rows_quarantined == 1


def test_texts_that_mean_null_are_no_codes(feed):
    begun(feed, "a,p,1,5")
    land(feed, "b", "b,p,1,000")
    assert feed.run("csv", declared={"csv": {"null_values": ["000"]}}).rows_quarantined == 0


def test_a_mark_of_decimals(feed):
    declared = {"csv": {"decimal_mark": ",", "delimiter": ";"}}
    feed.land("a.csv", "id;part;ts;value\na;p;1;5,25")
    feed.run("csv", declared=declared)
    feed.land("b.csv", "id;part;ts;value\nb;p;1;007,5\nc;p;1;007")
    feed.run("csv", declared=declared, max_bad_share=1)
    assert [row["id"] for _, _, row in feed.quarantined] == ["c"]


def test_a_delete_does_not_remove_the_row_of_a_number(feed):
    begun(feed, "7,p,1,a")
    land(feed, "b", "007,p,2,b")
    with pytest.raises(SourceError, match="would be the number 7"):
        feed.run("csv", operation="delete")
    assert ids(feed) == [7]


def test_strings_of_json_in_a_column_of_decimals(feed):
    declared = {"cast": {"id": "decimal(10,2)"}}
    feed.land("a.json", [{"id": "7.25", "part": "p", "ts": 1, "value": "a"}])
    feed.run("json", declared=declared)
    codes = ["007", "+8", "1E2"]
    rows = [{"id": text, "part": "p", "ts": 1, "value": "a"} for text in [*codes, "8.50", "0.5", 9]]
    feed.land("b.json", [*rows, {"id": "10", "part": "p", "ts": 1, "value": "007"}])
    assert feed.run("json", max_bad_share=0.5).rows_inserted == 4
    assert [json.loads(row)["id"] for _, _, row in feed.quarantined] == codes
    assert feed.quarantined[0][1].startswith("line 1: column id: '007' would be the number 7")
    feed.land("c.json", rows[:1])
    assert feed.run("json", declared=declared).rows_inserted == 1
