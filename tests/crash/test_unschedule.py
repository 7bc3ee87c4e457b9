"""Unscheduling a compaction, killed at each storage call: no row is lost, and the next call ends it."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, UnscheduleCompaction
from hoodie.timeline import Action
from tests.support.clock import FakeClock
from tests.support.crashes import killed, reopen, run_to_failure, uncommitted
from tests.support.faulty import Killed
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.mark.parametrize("version", ["9", "6"])
def test_unscheduling_a_compaction_that_dies_at_any_call(tmp_path, monkeypatch, version):
    """Its execution was begun, and had written its files."""
    expected = {"a": ("p", 2, 2), "c": ("q", 1, 1)}

    def prepare(path):
        options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
        table = create(path, FakeClock(), **options)
        table.write(batch([("a", "p", 1, 1), ("c", "q", 1, 1)]), "insert", SMALL_BLOOM)
        table.write(batch([("a", "p", 2, 2)]), "upsert", SMALL_BLOOM)
        table.schedule(COMPACTION, force=True)
        with monkeypatch.context() as patch:
            patch.setattr("hoodie.transaction.transaction.Transaction.commit", killed)
            with pytest.raises(Killed):
                table.run(COMPACTION, SMALL_BLOOM)

    def unschedule(table):
        for pending in table.timeline.pending:
            if pending.action is Action.COMPACTION:
                table.run(UnscheduleCompaction(pending.time))

    for storage, clock, call in run_to_failure(tmp_path, prepare, unschedule, "kill", True):
        table = reopen(storage, clock)
        assert content(table) == expected, call
        unschedule(table)
        table.write(batch([("a", "p", 3, 3)]), "upsert", SMALL_BLOOM)
        assert content(table) == {**expected, "a": ("p", 3, 3)}, call
        assert table.timeline.pending == (), call
        assert uncommitted(table) == [], call
