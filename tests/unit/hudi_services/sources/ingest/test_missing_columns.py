"""Columns that files lack, by their names in the source."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
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
