"""A table as it is now: what the commands that show it print, as the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hoodie.errors import HoodieError
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.advice.evaluation import advise
from hudi_services.operations.advice.findings import as_values as as_findings
from hudi_services.operations.advice.gather import damages_now
from hudi_services.operations.advice.quarantine import as_values, bad_rows, of_values
from hudi_services.operations.advice.snapshot_facts import snapshot_facts
from hudi_services.operations.inspect.contents import partitions
from hudi_services.operations.inspect.history import timeline
from hudi_services.operations.inspect.objectives import in_words
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.watch.facts import kept_facts
from hudi_services.operations.watch.groups import groups
from hudi_services.operations.watch.model import Health, Snapshot, Summary
from hudi_services.operations.watch.skew import skew
from hudi_services.operations.watch.successes import successes

_PARTITIONS = 1000  # those that lack files, and the largest
_INSTANTS = 1000  # the newest
_SMALL = 32 * 1024 * 1024  # bytes; an edge of the sizes that `show table` counts by


_STUCK = 24 * 3600  # seconds; plans wait and writers write, but not for a day


def snapshot(name: str, base_path: str, look: Look) -> Snapshot:
    """The snapshot of a table. Lists each partition once and opens no data file whose commit is on the timeline.
    Problems of the table are in the snapshot; raises HoodieError for a table that cannot be read at all."""
    table_values = dict(overview(look).values)
    if table_values["problems"]:  # the doctor knows the commands that bring rows back
        grave = [damage for damage in damages_now(ChosenTable(base_path, look.entry)) if damage.grave]
        table_values["findings"] = [*as_findings(grave), *table_values["findings"]]
    parts = partitions(look).values["partitions"]
    largest = sorted(parts, key=lambda part: (bool(part["missing"]), part["bytes"]), reverse=True)[:_PARTITIONS]
    instants = timeline(look, _INSTANTS).values
    wanting, left_out = groups(look)
    body = {
        "table": table_values,
        "partitions": sorted(largest, key=lambda partition: str(partition["partition"])),
        "partitions_left_out": len(parts) - len(largest),
        "timeline": instants["timeline"],
        "older": instants["older"],
        "facts": kept_facts(look),
        "groups": wanting,
        "skew": skew(look, parts),
        "groups_left_out": left_out,
        "quarantine": _quarantine(look),
    }
    summary = _summary(name, base_path, look.now, table_values, instants["instants"])
    advice, severity, command = _advice(look, table_values, body["quarantine"])
    measured = replace(
        summary, measured_at=look.now, older_files=table_values["older_files"], successes=successes(look, table_values)
    )
    return Snapshot(replace(measured, advice=advice, severity=severity, fix=command), body)


def _quarantine(look: Look) -> dict[str, Any] | None:
    """The rows that loads of the table left out; None without any, or if its folder cannot be read, as the next load says."""
    try:
        bad = bad_rows(look.entry, look) if look.entry is not None else None
    except (HoodieError, OSError):
        return None
    return as_values(bad) if bad is not None and bad.loads else None


def _advice(look: Look, table_values: Mapping[str, Any], quarantine: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """The sentence of the most urgent advice, its severity and its command; empty without any, or of a table that no registry
    names."""
    if look.entry is None:
        return "", "", ""
    facts = snapshot_facts(look.entry, table_values, look.now, look.now)
    bad = of_values(quarantine, with_reason=False) if quarantine is not None else None
    advice = advise(replace(facts, bad_rows=bad))
    return (advice[0].summary(look.now), str(advice[0].severity), advice[0].fix) if advice else ("", "", "")


def _summary(name: str, base_path: str, now: datetime, table_values: Mapping[str, Any], instants: int) -> Summary:
    missed = [objective for objective in table_values["objectives"] if not objective["met"]]
    health, reason = _health(table_values, missed)
    last = table_values["last_commit"]
    return Summary(
        name,
        base_path,
        health,
        now,
        datetime.fromisoformat(last) if last is not None else None,
        table_values["rows_in_base_files"],
        table_values["base_bytes"] + table_values["log_bytes"],
        table_values["base_files"] + table_values["log_files"],
        table_values["log_bytes"],
        table_values["log_files"],
        table_values["partitions"],
        sum(
            bar["files"]
            for bar in table_values["base_file_sizes"]
            if bar["to_bytes"] is not None and bar["to_bytes"] <= _SMALL
        ),
        instants,
        len(table_values["pending"]),
        tuple(objective["objective"] for objective in missed),
        max((objective["urgency"] for objective in table_values["objectives"]), default=0.0),
        reason,
        paused=str(table_values["paused"]["told"]) if table_values["paused"] is not None else "",
        passed=tuple(consumer["consumer"] for consumer in table_values["consumers"] if consumer["passed"]),
    )


def _health(table_values: Mapping[str, Any], missed: list[Any]) -> tuple[Health, str]:
    """The gravest, and why."""
    if table_values["problems"]:
        return "damaged", str(table_values["problems"][0])
    stuck = [
        blocker for blocker in table_values["blockers"] if blocker["state"] != "COMPLETED" and blocker["age"] > _STUCK
    ]
    if stuck:
        first = stuck[0]
        holder = f"{first['action']} {first['instant']}, {first['reason']}"
        return "blocked", f"{first['service']}: {first['held']} held back by {holder}"
    if missed:
        return "missed", ", ".join(
            f"{objective['objective']} (at most {in_words(objective)['at_most']})" for objective in missed
        )
    if table_values["paused"] is not None:
        return "paused", str(table_values["paused"]["told"])
    return "ok", ""
