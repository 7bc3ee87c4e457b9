"""Options of a read that Spark hands to the source: which read they ask for, and which would be ignored."""

from __future__ import annotations

import pytest

from hoodie.changes import ChangeQuery
from hoodie.errors import ConfigError
from hoodie.read.query import Incremental, Snapshot
from hoodie.spark.source_options import asked_of

QUERY_TYPE = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
FORMAT = "hoodie.datasource.query.incremental.format"
CHANGES = {QUERY_TYPE: "incremental", BEGIN: "earliest"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({QUERY_TYPE: "newest"}, "newest"),
        ({BEGIN: "20260101000000000"}, "says nothing to a query of type snapshot"),
        ({QUERY_TYPE: "incremental"}, "has no begin"),
        ({**CHANGES, "as.of.instant": "2026-01-01"}, "says nothing to a query of type incremental"),
        ({QUERY_TYPE: "read_optimized", END: "2026-01-01"}, "says nothing to a query of type read_optimized"),
        ({**CHANGES, FORMAT: "rows"}, "latest_state"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        asked_of(options)


def test_each_type_of_query():
    assert asked_of({"path": "/t", "provider": "hoodie"}).kind == Snapshot(None, read_optimized=False)
    assert asked_of({QUERY_TYPE: " Read_Optimized"}).kind == Snapshot(None, read_optimized=True)
    assert asked_of({"as.of.instant": "2026"}).kind == Snapshot("2026", read_optimized=False)
    assert asked_of(CHANGES).kind == Incremental(None, None)
    assert asked_of({**CHANGES, BEGIN: "2026", END: "2027"}).kind == Incremental("2026", "2027")
    changes = asked_of({**CHANGES, FORMAT: "cdc", END: "2027", "other": "kept"})
    assert changes.kind == ChangeQuery(None, "2027", options={"other": "kept"})
    assert changes.options == {"other": "kept"}
