"""Columns that are changed, killed at any storage call: the table has the old ones or the new ones, and its values under both."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.schema.changes import AddColumn, RenameColumn
from tests.support.clock import FakeClock
from tests.support.crashes import reopen, run_to_failure
from tests.support.matrix import diagonal
from tests.support.tables import SMALL_BLOOM, batch, create

CHANGES = [RenameColumn("value", "amount"), AddColumn("value", pa.int64())]
ROWS = [("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)]


def column(table, name):
    rows = table.read()
    return dict(zip(rows["id"].to_pylist(), rows[name].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("again", "version", "kind", "half"),
    diagonal(
        [False, True],
        [("9", "kill", False), ("9", "kill", True), ("6", "kill", False), ("9", "lost", False), ("6", "full", False)],
    ),
)
def test_an_alteration_that_dies_at_any_call(tmp_path, version, kind, half, again):
    """`again`: the table has a history of its columns already."""

    def prepare(path):
        options = {"hoodie.write.table.version": version, "hoodie.table.type": "MERGE_ON_READ"}
        table = create(path, FakeClock(), **options)
        table.write(batch(ROWS), "insert", SMALL_BLOOM)
        if again:
            table.alter([AddColumn("more", pa.int32())])
        table.write(batch([("b", "p", 2, 20)]), "upsert", SMALL_BLOOM)

    calls = 0
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.alter(CHANGES), kind, half, few=0 if kind == "lost" else 10
    ):
        calls += 1
        table = reopen(storage, clock)
        done = "amount" in table.schema.names
        assert column(table, "amount" if done else "value") == {"a": 1, "b": 20, "c": 3}, call
        if not done:
            table.alter(CHANGES)
        assert len(table.state().schemas) == (3 if again else 2), call
        assert column(table, "value") == dict.fromkeys("abc"), call
        table.write(
            pa.table({"id": ["a"], "part": ["p"], "ts": [3], "amount": [10], "value": [11]}), "upsert", SMALL_BLOOM
        )
        assert column(table, "amount") == {"a": 10, "b": 20, "c": 3}, call
        assert column(table, "value") == {"a": 11, "b": None, "c": None}, call
        assert table.timeline.pending == (), call
    assert calls or kind == "lost"
