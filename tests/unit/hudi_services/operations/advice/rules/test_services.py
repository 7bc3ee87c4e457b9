"""Services that have work, and services whose last run failed."""

from __future__ import annotations

from hudi_services.operations.advice.facts import LastRun, Work
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rules.services import due, last_runs
from hudi_services.operations.objectives.verdict import Verdict
from tests.support.advice import AT_NINE, facts, said, start, work


def test_each_service_says_how_much_it_would_do():
    never = start("clean", "Nothing starts it: clean.schedule is not set.", by_itself=False)
    assert said(due, work=work("clean", 11, 2048, frees=True, seconds=75.0), starts=never) == [
        "No reader needs 11 files of older versions, 2.0 KiB. Cleaning 11 files frees 2.0 KiB and takes about 1 min 15 s. "
        "Nothing starts it: clean.schedule is not set. $ hudi-services clean --table orders"
    ]
    told = {name: next(due(facts(work=work(name)))).text for name in ("compact", "archive", "ttl", "cluster")}
    assert told == {
        "compact": "Reads merge the logs of 3 file groups; 5 delta commits",
        "archive": "3 instants of the timeline can be archived",
        "ttl": "3 partitions of 2.0 KiB outlived the table's time to live",
        "cluster": "3 file groups, 2.0 KiB, can be packed together; 5 delta commits",
    }


def test_a_plan_past_the_limits_waits_for_an_approval():
    over = ("60.0% of the table's 9,000 bytes, where hoodie.delete.max.share is 50.0%",)
    asks = work("clean", 11, 2048, over=over, digest="abc123", asked_since=AT_NINE)
    [advice] = due(facts(work=asks))
    assert (advice.severity, advice.fix) == (Severity.WAITING, "hudi-services clean --yes abc123 --table orders")
    assert advice.waits == f"It needs an approval since 09:00 UTC: it would delete {over[0]}."


def test_work_that_is_not_due_or_that_an_objective_names_is_silent():
    assert said(due, work={"clean": Work("clean", False, "nothing to remove")}) == []
    missed = Verdict("clean_age", False, 9.0, 1.0, "seconds", None, 9.0, "clean")
    assert said(due, work=work("clean"), objectives=(missed,)) == []
    assert said(due) == []


def test_last_runs_that_failed_were_killed_or_ask():
    runs = (
        LastRun("compact", "failed", AT_NINE, "LockHeldError", "the lock is held.\n  More"),
        LastRun("sync", "killed", AT_NINE),
        LastRun("ttl", "asks", AT_NINE, "DeleteCapError", "it would delete 9 files"),
    )
    assert said(last_runs, runs=runs) == [
        "The last run of compact failed, since 09:00 UTC. LockHeldError: the lock is held. More. Nothing starts it: the registry "
        "has no such service of the table. $ hudi-services compact --table orders",
        "The last run of sync was killed, since 09:00 UTC. Nothing starts it: the registry has no such service of the table. "
        "$ hudi-services sync --table orders",
        "The last run of ttl waits for an approval, since 09:00 UTC. it would delete 9 files. It waits for a user. "
        "$ hudi-services ttl --explain --table orders",
    ]


def test_an_approval_is_not_said_twice_and_no_run_says_nothing():
    asks = LastRun("ttl", "asks", AT_NINE)
    assert said(last_runs, runs=(asks,), work=work("ttl")) == []
    assert said(last_runs) == []
