"""Pauses, plans, writes, savepoints and locks that hold services back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hudi_services.operations.advice.facts import Held, HeldLock, PendingInstant, Reader
from hudi_services.operations.advice.rules.blockers import locks, paused, plans, savepoints, writes
from hudi_services.runtime.pause import Pause
from tests.support.advice import AT_NINE, NOW, said, start

RESET = "let it read and commit, or move it with `hudi-services consumer reset bi --to latest`"


def held(instant="7", action="compaction", *, completed=False, owner=None, fix="`hudi-services clean` goes on"):
    return (Held("clean", "3 file slices", instant, action, completed, AT_NINE, owner, "which it needs", fix),)


def test_a_pause_names_who_paused_and_until_when():
    until = Pause("ann", "a migration.", AT_NINE, NOW + timedelta(hours=6))
    assert said(paused, pause=until) == [
        "No service runs: ann has paused the table until 18:00 UTC (a migration), since 09:00 UTC. "
        "$ hudi-services resume --table orders"
    ]
    assert "It waits for a user." in said(paused, pause=Pause("ann", "why", AT_NINE))[0]
    assert said(paused) == []


def test_a_plan_that_waits_with_what_it_holds_back():
    plan = (PendingInstant("7", "compaction", "REQUESTED", AT_NINE),)
    run = "$ hudi-services compact --mode execute --instant 7 --table orders"
    assert said(plans, pending=plan, held=held(), starts=start("compact")) == [
        "Compaction 7 is planned and not carried out, since 09:00 UTC. No process is known to work on it. It holds back clean: "
        "3 file slices. "
        f"It waits for an ingestion in Airflow. {run}"
    ]
    assert said(plans, pending=plan, held=held(owner="process 1 of a")) == [
        "Compaction 7 is planned and not carried out, since 09:00 UTC. Process 1 of a. It holds back clean: 3 file slices. "
        f"It waits for that process. {run}"
    ]
    assert said(plans, pending=(PendingInstant("7", "commit", "INFLIGHT", AT_NINE),)) == []


def test_a_write_that_lasts_long_or_holds_a_service_back():
    long = (PendingInstant("7", "commit", "INFLIGHT", AT_NINE, 4),)
    assert said(writes, pending=long) == [
        "Commit 7 is not complete, 4 data files begun, since 09:00 UTC. No process is known to work on it. "
        "$ hudi-services show timeline --table orders"
    ]
    short = (PendingInstant("7", "commit", "INFLIGHT", NOW - timedelta(minutes=59)),)
    assert said(writes, pending=short) == []
    [text] = said(writes, pending=(replace(short[0], abandoned=True),))
    assert text.endswith("$ hudi-services doctor --fix --table orders")
    fix = "the next change takes it back; `hudi-services rollback --instant 7` does so now"
    [text] = said(writes, pending=short, held=held(action="commit", fix=fix))
    assert text.endswith("$ hudi-services rollback --instant 7 --table orders")
    assert said(writes, pending=(PendingInstant("7", "clustering", "REQUESTED", AT_NINE),)) == []


def test_a_savepoint_that_keeps_files():
    fix = "once it is not needed any more, run `hudi-services savepoint delete --instant 5`"
    kept = held("5", "savepoint", completed=True, owner="made by ann: before a test", fix=fix)
    assert said(savepoints, held=kept) == [
        "Savepoint 5 holds back clean, since 09:00 UTC. Held back: 3 file slices. Made by ann: before a test. Delete it "
        "once it is not needed any more. "
        "$ hudi-services savepoint delete --instant 5 --table orders"
    ]
    unread = replace(held("6", "commit", completed=True)[0], reason="which consumer 'bi' has not read", fix=RESET)
    [text] = said(savepoints, held=(unread,))
    assert text.startswith(
        "Commit 6, which consumer 'bi' has not read, holds back clean, since 09:00 UTC. Held back: 3 file"
    )
    assert text.endswith(
        "move it with hudi-services consumer reset bi --to latest --table orders. $ hudi-services show consumers --table orders"
    )
    assert said(savepoints, held=held(), pending=(PendingInstant("7", "compaction", "REQUESTED", AT_NINE),)) == []
    assert said(savepoints) == []


def test_a_consumer_that_holds_a_clean_back_says_how_far_it_is_behind_and_until_when_it_holds():
    unread = replace(held("6", "commit", completed=True)[0], reason="which consumer 'bi' has not read", fix=RESET)
    reader = Reader("bi", 4, AT_NINE, AT_NINE + timedelta(hours=10), passed=False)
    other = Reader("b", 9, AT_NINE, AT_NINE + timedelta(hours=1), passed=False)
    [text] = said(savepoints, held=(unread,), readers=(other, reader))
    assert text == (
        "Consumer 'bi' holds back clean: it is 4 commits behind, since 09:00 UTC. Held back until 19:00 UTC, and then no longer: "
        "3 file slices. Let it read and commit, or move it with hudi-services consumer reset bi --to latest --table orders. It "
        "gives up what it has not read. hudi-services consumer delete bi --table orders drops the consumer. It waits for the "
        "consumer, which no service starts. $ hudi-services show consumers --table orders"
    )


def test_locks_whose_holder_is_gone_and_locks_that_last():
    gone = (HeldLock("a.lock", "process 1 of b", NOW, alive=False),)
    assert said(locks, locks=gone) == [
        "Process 1 of b holds the lock a.lock, since 12:00 UTC. Its holder is gone. $ hudi-services unlock --table orders"
    ]
    long = (HeldLock("a.lock", "process 1 of b", AT_NINE, alive=True),)
    assert said(locks, locks=long)[0].endswith("$ hudi-services show locks --table orders")
    assert said(locks, locks=(HeldLock("a.lock", "process 1 of b", NOW, alive=True),)) == []
