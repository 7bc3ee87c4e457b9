"""Savepoints of commits that overlap: their completion decides for a restore, their begin for a read of the past."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, Restore, WriteHooks
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create

OPTIMISTIC = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
LEAST = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": 1, **OPTIMISTIC}
BOTH = {"a": ("p", 1, 1), "b": ("q", 1, 1)}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    """The write of `a` begins first, and completes last."""
    table = create(tmp_path / "t", FakeClock(), **{"hoodie.table.type": request.param})

    def meanwhile():
        write(table, "b", "q", 1)
        return {}

    write(table, "a", "p", 1, WriteHooks(before_commit=meanwhile))
    return table


def write(table, key, part, value, hooks=None):
    options = {**SMALL_BLOOM, **OPTIMISTIC}
    more = {"hooks": hooks} if hooks is not None else {}
    return table.write(batch([(key, part, value, value)]), "upsert", options, **more).instant


def test_a_savepoint_keeps_what_was_complete(table):
    """By default it is of the commit that completed last. One of the commit that began last lost the other at a restore."""
    assert content(table) == BOTH
    table.savepoint()
    (saved,) = table.savepoints()
    assert saved.instant == table.timeline.commits[0].time
    for value in (2, 3):
        for key, part in (("a", "p"), ("b", "q")):
            write(table, key, part, value)
    table.run(CLEAN, LEAST)
    table.run(Restore(saved.instant), OPTIMISTIC)
    assert content(table) == BOTH
