"""Objectives that are missed: the numbers, the fix, its cost, and what it waits for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hudi_services.entry.objectives import RESTORED_BY
from hudi_services.entry.target import Target
from hudi_services.operations.advice.facts import IdleLoad, PendingInstant, Start, Work
from hudi_services.operations.advice.rules.objectives import objectives
from hudi_services.operations.objectives.verdict import Verdict
from tests.support.advice import AT_NINE, facts, said, start, work


def missed(objective, value, limit, unit, met=False):
    return (Verdict(objective, met, value, limit, unit, AT_NINE, 7.0, RESTORED_BY[objective]),)


RATIO = missed("log_ratio", 3.5, 0.5, "bytes per byte")


def test_the_sentence_of_a_log_ratio_with_its_cost_and_why_it_waits():
    due = work("compact", 8, 686 << 10, seconds=1.6)
    assert said(objectives, objectives=RATIO, work=due, starts=start("compact")) == [
        "Reads merge 3.5 bytes of logs per byte of data (limit 0.5), since 09:00 UTC. Compacting 8 file groups, 686 KiB, takes "
        "about 2 s. It waits for an ingestion in Airflow. $ hudi-services compact --table orders"
    ]
    [advice] = objectives(facts(objectives=RATIO, work=due))
    assert (advice.service, advice.parameters, advice.urgency) == ("compact", {}, 7.0)


def test_a_compaction_that_its_options_do_not_make_due_yet_is_forced():
    idle = {"compact": Work("compact", False, "1 delta commit, 5 start one")}
    [advice] = objectives(facts(objectives=RATIO, work=idle))
    assert (advice.fix, advice.parameters) == ("hudi-services compact --force --table orders", {"force": True})
    assert advice.effect is None
    plan = PendingInstant("7", "compaction", "REQUESTED", AT_NINE)
    [advice] = objectives(facts(objectives=RATIO, work=idle, pending=(plan,)))
    assert advice.fix == "hudi-services compact --table orders"


def test_the_sentences_of_the_other_objectives():
    cases = {
        ("freshness", 10_800.0, 3600.0, "seconds"): "The last commit with data is 3 h old (limit 1 h)",
        ("freshness", None, 30.0, "seconds"): "No commit has brought data yet (limit 30 s)",
        ("small_files", 12.0, 5.0, "files"): "12 base files are small, with another small one in the same partition "
        "(limit 5)",
        ("small_files", 0.4, 0.2, "of all"): "40% of the base files are small, with another small one in the same "
        "partition (limit 20%)",
        ("clean_age", 259_200.0, 86_400.0, "seconds"): "The oldest commit has waited 3 d for a clean (limit 1 d)",
        ("timeline_length", 1200.0, 60.0, "instants"): "The timeline has 1,200 instants (limit 60)",
    }
    told = {case: next(objectives(facts(objectives=missed(*case)))).text for case in cases}
    assert told == cases


def test_a_table_that_no_source_fills_wants_its_writer():
    stale = missed("freshness", 10_800.0, 3600.0, "seconds")
    assert said(objectives, objectives=stale) == [
        "The last commit with data is 3 h old (limit 1 h), since 09:00 UTC. No source in the registry fills it: look at the "
        "program that writes it. $ hudi-services show commits --table orders"
    ]
    for loader in ("ingest", "stream"):
        [text] = said(objectives, objectives=stale, starts=start(loader))
        assert text.endswith(f"$ hudi-services {loader} --table orders")
    synced = {"cdc sync": Start("cdc sync", "Its runs do.", True, "hudi-services cdc sync shop")}
    assert said(objectives, objectives=stale, starts=synced)[0].endswith("Its runs do. $ hudi-services cdc sync shop")
    elsewhere = replace(facts(objectives=stale, starts=synced), target=Target.of("/lake/orders", "orders", "t.yaml"))
    [advice] = objectives(elsewhere)
    assert advice.fix == "hudi-services cdc sync shop --registry t.yaml"


def test_objectives_that_are_met_are_silent():
    assert said(objectives, objectives=missed("log_ratio", 0.1, 0.5, "bytes per byte", met=True)) == []
    assert said(objectives) == []


def test_a_source_that_is_late_is_what_has_to_be_looked_at():
    """Another load would find nothing either."""
    stale = {"objectives": missed("freshness", 10_800.0, 3600.0, "seconds"), "starts": start("ingest")}
    later = AT_NINE + timedelta(hours=1)
    load = IdleLoad("/landing/orders", "nothing to do: 0 files to load; 3 loaded before", later)
    assert said(objectives, idle_load=load, **stale) == [
        "The last commit with data is 3 h old (limit 1 h), since 09:00 UTC. The last load, at 10:00 UTC, found nothing new in "
        "/landing/orders (0 files to load; 3 loaded before). The source is late: look at what fills /landing/orders. It waits "
        "for new data in the source. $ hudi-services ingest --explain --table orders"
    ]
    looked = replace(load, at=None, looked=True)
    assert (
        "A look at the source now found nothing new in /landing/orders"
        in said(objectives, idle_load=looked, **stale)[0]
    )
    early = replace(load, at=AT_NINE - timedelta(minutes=1))  # the table was not stale yet
    assert said(objectives, idle_load=early, **stale)[0].endswith("$ hudi-services ingest --table orders")
