"""INT96 timestamps of source files: moments in UTC, far dates too."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.tables import batch

FAR = datetime(9999, 12, 31)
LOCAL, MOMENT = pa.timestamp("us"), pa.timestamp("us", "UTC")


def land(feed, name="x.parquet", key="a"):
    rows = batch([(key, "p", 1, 1)]).append_column("at", pa.array([FAR], LOCAL))
    rows = rows.append_column("all", pa.array([[FAR]], pa.list_(LOCAL)))
    pq.write_table(rows, feed.source / name, use_deprecated_int96_timestamps=True, store_schema=False)


def stored(feed):
    rows = feed.open().read()
    return rows.schema.field("at").type, dict(zip(rows["id"].to_pylist(), rows["at"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"cast": {"value": "int"}},
        {"sql": 'SELECT *, "at" AS again FROM batch'},
        {"timestamps": {"at": {"zone": "UTC"}}},
    ],
    ids=["plain", "cast", "sql", "zone"],
)
def test_a_far_moment_is_the_same_by_every_way(feed, declared):
    land(feed)
    feed.run(declared=declared)
    assert stored(feed) == (MOMENT, {"a": FAR.replace(tzinfo=UTC)})
    assert feed.open().read()["all"].to_pylist() == [[FAR.replace(tzinfo=UTC)]]


def test_a_zone_that_is_declared_counts(feed):
    land(feed)
    feed.run(declared={"timestamps": {"at": {"zone": "Asia/Tokyo"}}})
    assert stored(feed) == (MOMENT, {"a": datetime(9999, 12, 30, 15, tzinfo=UTC)})


@pytest.mark.parametrize("declared", [False, True])
def test_a_column_of_local_times_stays_one(feed, declared):
    """Loads by older versions made one of INT96."""
    if declared:
        land(feed)
        columns = {"id": "string", "part": "string", "ts": "bigint", "value": "bigint", "all": "array<timestamp_ntz>"}
        feed.run(declared={"schema": {**columns, "at": "timestamp_ntz"}})
        assert stored(feed) == (LOCAL, {"a": FAR})
        return
    feed.land("1.parquet", batch([("old", "p", 1, 1)]).append_column("at", pa.array([FAR], LOCAL)))
    feed.run()
    land(feed, "2.parquet", "new")
    feed.run()
    assert stored(feed) == (LOCAL, {"old": FAR, "new": FAR})
