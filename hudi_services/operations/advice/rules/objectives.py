"""Objectives that the table misses, and the service that restores each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from hudi_services.operations.advice.facts import IdleLoad, TableFacts
from hudi_services.operations.advice.model import Advice, Severity, clock, length
from hudi_services.operations.advice.rules.remedy import command, effect, parameters, why_not_started
from hudi_services.operations.objectives.verdict import Verdict


def objectives(facts: TableFacts) -> Iterator[Advice]:
    """Each objective that is missed."""
    for verdict in facts.objectives:
        if verdict.is_met:
            continue
        loader = facts.loader
        if verdict.service != "ingest":
            yield _missed(facts, verdict, verdict.service)
        elif facts.idle_load is not None and facts.idle_load.proves(verdict.since):
            yield _late_source(facts, verdict, facts.idle_load)
        elif loader is not None:
            yield _missed(facts, verdict, loader.service)
        else:
            yield _stale(facts, verdict)


def _advice(facts: TableFacts, verdict: Verdict) -> Advice:
    """A missed objective, without a remedy."""
    return Advice(
        facts.table,
        Severity.MISSED,
        "objective",
        verdict.objective,
        _TEXTS[verdict.objective](verdict),
        verdict.since,
        detail=facts.target.with_commands(_DETAILS.get(verdict.objective, "")).replace("`", ""),
        urgency=verdict.urgency,
    )


def _missed(facts: TableFacts, verdict: Verdict, service: str) -> Advice:
    return replace(
        _advice(facts, verdict),
        fix=command(facts, service),
        effect=effect(facts, service),
        waits=why_not_started(facts, service),
        service=service,
        parameters=parameters(facts, service),
    )


def _late_source(facts: TableFacts, verdict: Verdict, load: IdleLoad) -> Advice:
    """Another load would bring nothing: what fills the source is late."""
    loaded_text = f"The last load, at {clock(load.at, facts.now)}, found nothing new" if load.at is not None else ""
    looked_text = "A look at the source now found nothing new" if load.looked else ""
    reason = f" ({load.reason.removeprefix('nothing to do: ')})" if load.reason else ""
    return replace(
        _advice(facts, verdict),
        detail=f"{loaded_text or looked_text} in {load.source}{reason}.",
        fix=facts.target.command("ingest --explain"),
        remedy=f"The source is late: look at what fills {load.source}.",
        waits="It waits for new data in the source.",
    )


def _stale(facts: TableFacts, verdict: Verdict) -> Advice:
    """Other programs fill the table: no service of ours restores it."""
    return replace(
        _advice(facts, verdict),
        fix=facts.target.command("show commits"),
        remedy="No source in the registry fills it: look at the program that writes it.",
    )


def _freshness(verdict: Verdict) -> str:
    limit = length(verdict.limit)
    if verdict.value is None:
        return f"No commit has brought data yet (limit {limit})"
    return f"The last commit with data is {length(verdict.value)} old (limit {limit})"


def _log_ratio(verdict: Verdict) -> str:
    return f"Reads merge {round(verdict.value or 0, 2):g} bytes of logs per byte of data (limit {verdict.limit:g})"


def _small_files(verdict: Verdict) -> str:
    value, where = verdict.value or 0, "with another small one in the same partition"
    if verdict.unit == "of all":
        return f"{value:.0%} of the base files are small, {where} (limit {verdict.limit:.0%})"
    return f"{value:,.0f} base files are small, {where} (limit {verdict.limit:,.0f})"


def _clean_age(verdict: Verdict) -> str:
    return f"The oldest commit has waited {length(verdict.value)} for a clean (limit {length(verdict.limit)})"


def _timeline_length(verdict: Verdict) -> str:
    return f"The timeline has {verdict.value or 0:,.0f} instants (limit {verdict.limit:,.0f})"


_DETAILS = {
    "small_files": "Each has fewer bytes than hoodie.parquet.small.file.limit. Queries open one after the other, where a few "
    "large files would do. `hudi-services show partitions` has the files and bytes of each partition.",
}
_TEXTS: dict[str, Callable[[Verdict], str]] = {
    "freshness": _freshness,
    "log_ratio": _log_ratio,
    "small_files": _small_files,
    "clean_age": _clean_age,
    "timeline_length": _timeline_length,
}
