"""Plans as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

import click

from hoodie.services.clean_plan import CleanDecision
from hudi_services.ingest.prepare import Prepared

_SHOWN = 200  # lines of files: a plan of millions must not flood a terminal; JSON has all


def ingest_as_dict(prepared: Prepared) -> dict[str, Any]:
    """The files of an ingestion plan, in order."""
    plan = prepared.plan
    return {
        "service": "ingest",
        "table": prepared.properties.name,
        "creates_table": prepared.table is None,
        "reason": plan.reason,
        "services_after": [step.name for step in prepared.after.steps],
        "bytes": plan.bytes,
        "files": [{"path": file.path, "bytes": file.size} for file in plan.files],
        "changed_after_load": [file.path for file in plan.changed],
    }


def clean_as_dict(decision: CleanDecision) -> dict[str, Any]:
    """The files that a clean would remove, with the reason of each."""
    plan = decision.plan
    return {
        "service": "clean",
        "reason": decision.reason,
        "partitions_listed": decision.partitions_listed,
        "files_seen": decision.files_seen,
        "bytes_seen": decision.bytes_seen,
        "policy": plan.policy if plan else None,
        "earliest_to_retain": plan.earliest_to_retain if plan else None,
        "bytes": plan.bytes if plan else 0,
        "files": [
            {"path": file.path, "file_group": file.file_id, "bytes": file.size, "reason": file.reason}
            for file in ((*plan.files, *plan.sources) if plan else ())
        ],
    }


def print_plan(plan: dict[str, Any], as_json: bool) -> None:
    """For people, or for programs."""
    click.echo(json.dumps(plan, indent=2) if as_json else as_text(plan))


def as_text(plan: dict[str, Any]) -> str:
    """A plan for a person: the reason first, then a line a file, then the sum."""
    lines = [f"{plan['service']}: {plan['reason']}"]
    if plan.get("creates_table"):
        lines.append(f"would create table {plan['table']}")
    if plan.get("earliest_to_retain"):
        lines.append(f"policy {plan['policy']}, earliest commit to retain {plan['earliest_to_retain']}")
    if plan.get("services_after"):
        lines.append(f"after the commit: {', '.join(plan['services_after'])}")
    if "problems" in plan:
        lines += _bootstrap_lines(plan)
    for file in plan["files"][:_SHOWN]:
        reason = f"  {file['reason']}" if "reason" in file else ""
        lines.append(f"  {file['bytes']:>14,} bytes  {file['path']}{reason}")
    if len(plan["files"]) > _SHOWN:
        lines.append(f"  … and {len(plan['files']) - _SHOWN} more (--json shows all)")
    if "backlog" in plan:
        waits = plan["backlog"]
        lines.append(
            f"backlog: {waits['log_files']} logs of {waits['log_bytes']:,} bytes in {waits['file_groups']} file groups, "
            f"the oldest of {waits['oldest_log'] or 'none'}; {len(waits['pending_plans'])} plans wait to be executed"
        )
    verb = {"clean": "remove", "ingest": "load", "compact": "compact", "bootstrap": "take over"}[plan["service"]]
    what = "file groups" if plan["service"] == "compact" else "files"
    lines.append(f"would {verb} {len(plan['files'])} {what}, {plan['bytes']:,} bytes; nothing was changed")
    return "\n".join(lines)


def _bootstrap_lines(plan: dict[str, Any]) -> list[str]:
    """What a preflight found out."""
    told = ", ".join(plan["partition_columns_outside"]) or "none"
    return [
        *(f"problem: {problem}" for problem in plan["problems"]),
        *(f"note: {note}" for note in plan["notes"]),
        f"{plan['rows']:,} rows in {plan['partitions']} partitions, layout {plan['layout']}; columns told by folders: {told}",
        *(
            f"{mode} of all files would read {plan['bytes_read'][mode]:,} bytes and write about {size:,}"
            for mode, size in plan["bytes_written"].items()
        ),
    ]
