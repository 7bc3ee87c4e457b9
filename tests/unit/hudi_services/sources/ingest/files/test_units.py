"""Times of Parquet that become whole numbers, and remedies for values that do not fit."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import SourceError
from hudi_services.entry.feed.model import Feed
from hudi_services.sources.ingest.task import IngestTask

KEYS = {"id": "string", "part": "string", "ts": "bigint"}


def declared(columns, **more):
    return Feed.model_validate({"schema": {**KEYS, **columns}, **more})


def values(feed, name):
    return {row["id"]: row[name] for row in feed.open().read().to_pylist()}


def test_whole_numbers_of_times_have_a_unit(feed):
    at = pa.table({"id": ["a"], "part": ["p"], "ts": [1], "at": pa.array([1_500], pa.timestamp("us"))})
    said = declared({"at": "bigint"})
    feed.land("1.parquet", at)
    assert "WARNING: times of at become whole numbers, which count us" in feed.run(declared=said).message
    assert values(feed, "at") == {"a": 1_500}
    feed.land("2.parquet", at)
    feed.land("3.parquet", at.set_column(3, "at", pa.array([1_500], pa.timestamp("ns"))))
    several = "WARNING: times of at become whole numbers of SEVERAL UNITS: us in 2.parquet and ns in 3.parquet"
    assert several in IngestTask(feed.request(declared=said)).explain(LocalEngine(2)).as_text("ingest")
    assert several in feed.run(declared=said).message


def test_times_with_nanoseconds_have_a_remedy(feed):
    at = pa.array([1_000_000_001], pa.timestamp("ns"))
    feed.land("1.parquet", pa.table({"id": ["a"], "part": ["p"], "ts": [1], "at": at}))
    for said in (None, declared({"at": "timestamp_ntz"})):
        with pytest.raises(SourceError, match="declare the column as bigint in `schema`"):
            feed.run(**({"declared": said} if said is not None else {}))
    feed.run(declared=declared({"at": "bigint"}))
    assert values(feed, "at") == {"a": 1_000_000_001}


def test_a_field_of_json_that_is_not_declared_has_a_remedy(feed):
    feed.land("1.json", [{"id": "a", "part": "p", "ts": 1, "more": 1}])
    with pytest.raises(SourceError, match="declare the field in `schema` of the source, or say `undeclared: keep`"):
        feed.run("json", declared=declared({}))
    feed.run("json", declared=declared({}, undeclared="keep"))
    assert values(feed, "more") == {"a": 1}
