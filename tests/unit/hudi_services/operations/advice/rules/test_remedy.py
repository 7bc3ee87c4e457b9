"""The reason why nothing starts a service: the first that holds."""

from __future__ import annotations

from dataclasses import replace

from hudi_services.operations.advice.facts import Held
from hudi_services.operations.advice.rules.remedy import command, why_not_started
from hudi_services.runtime.pause import Pause
from tests.support.advice import AT_NINE, facts, start, work


def test_the_reasons_in_their_order():
    held = Held("clean", "2 files", "7", "compaction", False, AT_NINE, None, "which needs them", "wait")
    reasons = {
        "pause": Pause("ann", "a test", AT_NINE),
        "work": work("clean", over=("9 files, where the limit is 5",), digest="abc"),
        "held": (held,),
        "starts": start("clean"),
    }
    told = []
    while reasons:
        told.append(why_not_started(facts(**reasons), "clean"))
        reasons.pop(next(iter(reasons)))
    assert told == [
        "Nothing starts it: the table is paused by ann since 2026-03-05 09:00 UTC: a test.",
        "It needs an approval: it would delete 9 files, where the limit is 5.",
        "It is held back by compaction 7, which needs them, since 09:00 UTC.",
        "It waits for an ingestion in Airflow.",
    ]


def test_the_command_of_a_paused_table_only_explains():
    """The service itself would be refused."""
    assert command(facts(work=work("clean")), "clean") == "hudi-services clean --table orders"
    paused = facts(work=work("clean"), pause=Pause("ann", "a test", AT_NINE))
    assert command(paused, "clean") == "hudi-services clean --explain --table orders"


def test_services_that_no_entry_names():
    assert why_not_started(facts(), "clean") == "Nothing starts it: the registry has no such service of the table."
    alone = replace(facts(), registered=False)
    assert why_not_started(alone, "clean") == "Nothing starts it: no registry names the table here."
