"""An optimistic write that dies at any storage call, beside others that go on, and the writer that comes after it."""

from __future__ import annotations

import pytest

from hoodie.errors import PendingInstantError
from hoodie.transaction.heartbeat import FOLDER
from tests.support.clock import FakeClock
from tests.support.crashes import FIRST, SECOND, reopen, run_to_failure, uncommitted
from tests.support.matrix import covering
from tests.support.rivals import OCC
from tests.support.tables import SMALL_BLOOM, batch, content, create

APART = {**OCC, "hoodie.parquet.small.file.limit": 0}
BESIDE = batch([("y", "y", 5, 5)])
AFTER = batch([("z", "z", 6, 6)])
LATER = FakeClock().time.replace(year=2040)  # than any heartbeat, which has this machine's time


TABLES = [
    ("COPY_ON_WRITE", "9", "kill", True),
    ("MERGE_ON_READ", "9", "kill", False),
    ("MERGE_ON_READ", "9", "full", False),
    ("COPY_ON_WRITE", "6", "full", False),
    ("MERGE_ON_READ", "6", "kill", True),
]


@pytest.mark.parametrize(
    ("table_type", "version", "kind", "half", "heir"),
    covering([(*table, heir) for table in TABLES for heir in ("optimistic", "single")]),
)
def test_an_optimistic_write_that_dies_at_any_call(tmp_path, table_type, version, kind, half, heir):
    options = SMALL_BLOOM if heir == "single" else APART

    def prepare(path):
        table = create(path, FakeClock(), **{"hoodie.write.table.version": version, "hoodie.table.type": table_type})
        table.write(FIRST, "insert", {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0})

    before = {"a": ("p", 1, 1), "b": ("p", 1, 1), "c": ("q", 1, 1)}
    after = {**before, "a": ("p", 2, 2), "d": ("p", 2, 2), "e": ("r", 2, 2)}
    completed = 0
    for storage, clock, call in run_to_failure(
        tmp_path, prepare, lambda table: table.write(SECOND, "upsert", APART), kind, half
    ):
        table = reopen(storage, clock)
        now = content(table)
        assert now in (before, after), call
        completed += now == after
        writers = [instant for instant in table.timeline.pending if instant.action in ("commit", "deltacommit")]
        beats = {file.name for file in storage.list(FOLDER).files}
        if heir == "optimistic":  # no writer knows yet that it is dead: its files stay
            table.write(BESIDE, "upsert", APART)
            now = {**now, "y": ("y", 5, 5)}
            assert content(table) == now, call
            kept = [instant for instant in table.timeline.pending if instant in writers]
            assert [instant.time for instant in kept] == [i.time for i in writers if i.time in beats], call
        elif any(instant.time in beats for instant in writers):
            with pytest.raises(PendingInstantError, match="Another writer is at work"):
                table.write(BESIDE, "upsert", options)
        clock.time = LATER
        table.write(AFTER, "upsert", options)
        assert content(table) == {**now, "z": ("z", 6, 6)}, call
        assert uncommitted(table) == [], call
        assert table.timeline.pending == (), call
        assert storage.info(".hoodie/lock") is None, call
        if heir == "optimistic":
            assert storage.list(FOLDER).files == (), call
    if kind == "kill":
        assert completed, "no crash after the commit became visible was tried"
