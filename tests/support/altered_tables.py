"""A table whose columns are changed, of each type and version."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create

OPTIMISTIC = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.num.retries.on.conflict.failures": 0,
}
KINDS = [(kind, version) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ") for version in ("9", "6")]
WITH_LOGS = pytest.mark.parametrize(
    "table",
    [each for each in KINDS if each[0] == "MERGE_ON_READ"],
    indirect=True,
    ids=lambda each: f"{each[0][:4]}{each[1]}",
)
ROWS = [("a", "p", 1, 1), ("b", "p", 1, 2), ("c", "q", 1, 3)]


def rows(table, **read):
    """The rows by key."""
    return {row.pop("id"): row for row in table.read(**read).to_pylist()}


def values(table, column, **read):
    """The values of one column by key."""
    return {key: row[column] for key, row in rows(table, **read).items()}


def upsert(table, key="b", **columns):
    """Upsert one row of partition p with these columns."""
    given = {"id": [key], "part": ["p"], "ts": [9], **{name: [value] for name, value in columns.items()}}
    return table.write(pa.table(given), "upsert", SMALL_BLOOM)


def compact(table):
    """Compact all logs, if the table has any."""
    if table.properties.is_merge_on_read:
        table.schedule(COMPACTION, force=True)
        table.run(COMPACTION, SMALL_BLOOM)


def written(folder, kind, version):
    """Rows in base files. A merge-on-read table has an update in a log."""
    table = create(folder / "t", FakeClock(), **{"hoodie.table.type": kind, "hoodie.write.table.version": version})
    table.write(batch(ROWS), "insert", SMALL_BLOOM)
    table.write(batch([("b", "p", 2, 20)]), "upsert", SMALL_BLOOM)
    return table
