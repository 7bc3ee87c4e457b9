"""Compaction plans of a process that had lost the lock before it wrote them, and died before it noticed."""

from __future__ import annotations

import pytest

from hoodie import COMPACTION, LOG_COMPACTION, Restore, Rollback
from hoodie.doctor.diagnosis import diagnose
from hoodie.services.service import Scheduled
from hoodie.timeline import Action
from hoodie.timeline.codecs.compaction import encode_compaction_plan
from hoodie.transaction import instants
from hoodie.transaction.instant_generator import new_time
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, content, create


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    options = {"hoodie.table.type": "MERGE_ON_READ", "hoodie.write.table.version": request.param}
    made = create(tmp_path / "t", FakeClock(), **options)
    for value in range(3):
        upsert(made, value)
        if not value:
            made.savepoint()
    return made


def upsert(table, value):
    table.write(batch([("a", "p", value, value)]), "upsert", SMALL_BLOOM)


def plan_late(table, service: Scheduled, beside) -> None:
    """Put a plan on the timeline that was made before `beside`."""
    state = table.state()
    options = {"hoodie.log.compaction.blocks.threshold": 2} if service is LOG_COMPACTION else {}
    plan = service.decide(state, options, table.clock, force=True).plan
    time = new_time(state, table.clock)
    beside()
    action = Action.COMPACTION if service is COMPACTION else Action.LOG_COMPACTION
    instants.request(state, time, action, encode_compaction_plan(plan))


def take_back_the_last(table):
    table.run(Rollback(table.timeline.commits[-1].time))


def restore(table):
    table.run(Restore(table.savepoints()[0].instant))


@pytest.mark.parametrize(("undo", "left"), [(take_back_the_last, 1), (restore, 0)])
def test_a_log_that_was_rolled_back_before_is_left_out(table, undo, left):
    plan_late(table, COMPACTION, lambda: undo(table))
    findings = diagnose(table.storage, table.clock, {}).findings
    assert "missing-file" not in {finding.check.name for finding in findings}
    table.run(COMPACTION)
    assert content(table) == {"a": ("p", left, left)}
    assert not table.timeline.pending
    upsert(table, 9)
    assert content(table) == {"a": ("p", 9, 9)}


@pytest.mark.parametrize("table", ["9"], indirect=True)
def test_a_log_compaction_leaves_it_out_too(table):
    upsert(table, 3)
    plan_late(table, LOG_COMPACTION, lambda: take_back_the_last(table))
    table.run(LOG_COMPACTION)
    assert content(table) == {"a": ("p", 2, 2)}


def test_a_log_that_was_written_before_is_not_hidden(table):
    plan_late(table, COMPACTION, lambda: upsert(table, 7))
    table.run(COMPACTION)
    assert content(table) == {"a": ("p", 7, 7)}
