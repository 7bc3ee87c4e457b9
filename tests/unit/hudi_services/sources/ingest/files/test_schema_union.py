"""One schema from those of many files, and a first load whose objects contradict each other."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import SourceError
from hudi_services.sources.ingest.files.schema_union import Weighed, unite_by_rows

KEYS = {"part": "p", "ts": 1}


def test_the_type_of_most_rows_stands_and_no_column_goes():
    text, number = (
        pa.schema([("v", pa.struct([("a", kind)])), ("w", pa.list_(kind))]) for kind in (pa.string(), pa.int64())
    )
    other = pa.schema([("v", pa.struct([("a", pa.string()), ("b", pa.bool_())])), ("x", pa.int64())])
    schema, contradictions = unite_by_rows([Weighed(text, 2), Weighed(number, 4), Weighed(other, 1)])
    assert schema == pa.schema(
        [("v", pa.struct([("a", pa.int64()), ("b", pa.bool_())])), ("w", pa.list_(pa.int64())), ("x", pa.int64())]
    )
    assert contradictions == [
        "v.a is int64 in most rows, and string in others",
        "w.element is int64 in most rows, and string in others",
    ]
    assert unite_by_rows([]) == (pa.schema([]), [])


@pytest.mark.parametrize(
    ("most", "others"),
    [
        ([1, 2, 3], ["x", {"a": 1}, [1]]),
        (["x", "y", "z"], [[1], {"b": 1}, {"a": 1}]),
        ([{"a": 1}, {"a": 2, "b": 3}, {}], [{"a": "x"}, "y", 1.5]),
    ],
)
def test_rows_against_most_others_of_a_first_load_go_to_the_quarantine(feed, caplog, most, others):
    """Within a file, between files, first or last. Too many of them stop the run, like other bad rows."""
    rows = [{"id": f"{n}", **KEYS, "value": value} for n, value in enumerate([others[0], *most, *others[1:]])]
    feed.land("1.json", rows[:3])
    feed.land("2.json", rows[3:])
    with pytest.raises(SourceError, match="3 of 6 rows"):
        feed.run("json")
    assert feed.open().timeline.commits == ()
    assert "value is" in caplog.text
    assert feed.run("json", max_bad_share=0.5).rows_quarantined == 3
    bad = {(path, reason.partition(":")[0]) for path, reason, _ in feed.quarantined}
    assert bad == {("1.json", "line 1"), ("2.json", "line 2"), ("2.json", "line 3")}
    assert set(feed.content) == {"1", "2", "3"}


def test_a_run_that_stopped_fixes_no_type(feed):
    feed.land("1.json", [{"id": f"{n}", **KEYS, "value": value} for n, value in enumerate([1, "x"])])
    with pytest.raises(SourceError, match="1 of 2 rows"):
        feed.run("json")
    feed.land("1.json", [{"id": f"{n}", **KEYS, "value": value} for n, value in enumerate(["y", "x"])])
    feed.run("json")
    assert {row["value"] for row in feed.open().read().to_pylist()} == {"x", "y"}
