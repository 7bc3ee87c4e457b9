"""Columns that files lack, by their names in the source."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import MissingColumnError, SchemaConflictError, SourceError
from hudi_services.sources.ingest.missing_columns import MissingColumns, missing_columns

HEADER = "id,part,ts,value\n"


def missing(feed, file_format="csv", *, known=False, **more):
    """The columns that new files lack."""
    request = feed.request(file_format, **more)
    prepared = feed.prepare(file_format, **more)
    columns = prepared.target.columns if known else None
    batch, _ = prepared.batch.opened(request.shape.expected(columns), LocalEngine(2))
    return missing_columns(batch, request.shape, columns, request.operation, prepared.properties)


def test_columns_of_the_key_and_the_order_are_needed(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.land("2.csv", "part,value\np,1\n")
    feed.land("3.csv", "id,ts\na,1\n")
    assert missing(feed) == MissingColumns({"part": ["3.csv"]}, {"id": ["2.csv"], "ts": ["2.csv"]})


@pytest.mark.parametrize("first_loads", [False, True])
def test_a_file_without_a_needed_column_is_named_with_its_columns(feed, first_loads):
    if first_loads:
        feed.land("0.csv", f"{HEADER}z,p,1,1\n")
        feed.run("csv")
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.land("2.csv", "id,part,value,ts_ms\nb,p,1,1\n")
    with pytest.raises(MissingColumnError) as raised:
        feed.run("csv")
    said = str(raised.value)
    assert f"Ordering column 'ts' is not in {feed.source}/2.csv. Found: columns ts_ms, " in said
    assert (
        "deliver 2.csv again with the name ts in place of ts_ms, if it is the column; or correct keys.ordering" in said
    )
    assert feed.quarantined == []
    feed.land("1.csv", HEADER.replace("ts", "ts_ms") + "a,p,1,1\n")
    with pytest.raises(MissingColumnError) as raised:
        feed.run("csv")
    said = str(raised.value)
    assert f"Ordering column 'ts' is in no row of {feed.source}. Found: columns ts_ms, " in said
    assert "in 1.csv. To do: write `rename: {ts_ms: ts}` in the source, if ts_ms is the column; or correct" in said
    feed.run("csv", declared={"rename": {"ts_ms": "ts"}})
    assert {"a", "b"} <= set(feed.content)


def test_a_share_of_bad_rows_may_be_without_it(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.land("2.csv", "id,part,value\nb,p,1\n")
    result = feed.run("csv", max_bad_share=0.5)
    assert (result.rows_inserted, result.rows_quarantined) == (1, 1)
    assert "WARNING: files lack columns of the key or the order, and none of their rows fits: ts (not in 2.csv)" in (
        result.message
    )


def test_a_deletion_needs_its_key(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", "id,part\na,p\n")
    feed.land("3.csv", "part\np\n")
    assert missing(feed, known=True, operation="delete") == MissingColumns({}, {"id": ["3.csv"]})


@pytest.mark.parametrize(
    ("declared", "needed"),
    [
        ({}, {"ts": ["2.csv"]}),
        ({"rename": {"at": "ts"}}, {"at": ["1.csv"]}),
        ({"sql": "select id, part, 1 as ts from batch"}, {}),
        ({"schema": {"id": "string", "ts": {"type": "bigint", "default": 1}}, "undeclared": "keep"}, {}),
    ],
    ids=["as they are", "renamed", "computed", "default"],
)
def test_they_may_have_other_names_or_values(feed, declared, needed):
    feed.land("1.csv", "id,part,ts\na,p,1\n")
    feed.land("2.csv", "id,part,at\na,p,1\n")
    assert missing(feed, declared=declared).needed == needed


def test_objects_of_json_leave_out_what_is_null_and_not_what_is_needed(feed):
    feed.land("1.json", [{"id": "a", "part": "p", "ts": 1, "value": 1}])
    feed.run("json")
    feed.land("2.json", [{"id": "a"}])
    assert missing(feed, "json", known=True) == MissingColumns({}, {"ts": ["2.json"]})


@pytest.mark.parametrize("new", ["value_new", "amount"])
def test_a_column_of_another_name_is_named_beside_the_one_that_is_lacking(feed, new):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", HEADER.replace("value", new) + "b,p,1,2\n")
    line = f"2.csv lack value and bring {new}: if it is renamed, say `rename: {{{new}: value}}` in the source"
    (renamed,) = missing(feed, known=True).renamed
    assert renamed == line
    with pytest.raises(SchemaConflictError) as raised:
        feed.run("csv", options={"hoodie.write.set.null.for.missing.columns": "false"})
    assert line in str(raised.value)
    assert f"WARNING: {line}" in feed.run("csv").message
    feed.land("3.csv", f"{HEADER}c,p,1,2\n")
    feed.land("4.csv", HEADER.replace("value", new) + "d,p,1,2\n")
    assert missing(feed, known=True).renamed == ()


def test_files_of_both_names_have_to_be_loaded_apart(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", HEADER.replace("value", "value_new") + "b,p,1,2\n")
    feed.land("3.csv", f"{HEADER}c,p,1,2\n")
    (renamed,) = missing(feed, known=True).renamed
    assert renamed.endswith("and load these files apart from those with the old name (`--files`)")
    declared = {"rename": {"value_new": "value"}}
    with pytest.raises(SourceError, match="Two columns of"):
        feed.run("csv", declared=declared)


def test_further_columns_are_no_other_names(feed):
    feed.land("1.csv", f"{HEADER}a,p,1,1\n")
    feed.run("csv")
    feed.land("2.csv", "id,part,ts,colour,weight\nb,p,1,2,3\n")
    assert missing(feed, known=True).renamed == ()
    feed.land("2.csv", f"{HEADER.strip()},value_2\nb,p,1,2,3\n")
    assert missing(feed, known=True).renamed == ()


def test_objects_of_json_need_a_similar_name(feed):
    feed.land("1.json", [{"id": "a", "part": "p", "ts": 1, "value": 1, "note": 1}])
    feed.run("json")
    feed.land("2.json", [{"id": "b", "part": "p", "ts": 1, "value_new": 1, "weight": 2}])
    (renamed,) = missing(feed, "json", known=True).renamed
    assert "bring value_new: if it is renamed, say `rename: {value_new: value}`" in renamed


def test_a_declared_column_of_another_name(feed):
    schema = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint"}
    feed.land("1.csv", HEADER.replace("value", "value_new") + "b,p,1,2\n")
    with pytest.raises(SourceError) as raised:
        feed.run("csv", declared={"schema": schema})
    assert (
        "the file lacks value and brings value_new. To do: if it is renamed, write `value_new` in place of `value` in `schema`, "
        "and `rename: {value_new: value}` for the name in the table; if not, add `value_new: string`"
    ) in str(raised.value)
    del schema["value"]
    declared = {"schema": {**schema, "value_new": "bigint"}, "rename": {"value_new": "value"}}
    assert feed.run("csv", declared=declared).rows_inserted == 1
