"""Shared parts of run_compaction and run_clustering: plans that are scheduled, executed, or both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hoodie.errors import SqlError
from hoodie.model.time import Time
from hoodie.services.service import Scheduled, pending_plans
from hoodie.sql.procedures.procedure import Call

SCHEDULE, EXECUTE, BOTH = "schedule", "execute", "scheduleandexecute"


def operation_of(call: Call, text: str, *more: str) -> str:
    """The word of `op`, in small letters; `more` are others that mean both. Raises SqlError."""
    operation = BOTH if text.lower() in more else text.lower()
    if operation not in (SCHEDULE, EXECUTE, BOTH):
        operations = ", ".join((*more, SCHEDULE, EXECUTE))
        raise SqlError(f"{call.procedure.name} has no op {text:.100}", fix=f"use {operations} or {BOTH}")
    return operation


def named_in(instants: str | None) -> list[str]:
    """The instants of a parameter, between commas."""
    return [instant.strip() for instant in (instants or "").split(",") if instant.strip()]


def run_plans(
    call: Call,
    service: Scheduled[Any, Any],
    operation: str,
    named: Sequence[str],
    options: Mapping[str, object],
    *,
    force: bool = False,
) -> Collection[Time]:
    """Schedule a plan, carry out those that wait (only the `named` ones where there are), or both. Gives the instants.

    Raises SqlError for a named one that does not wait, and what the service raises.
    """
    table = call.table
    scheduled = table.schedule(service, options, force=force) if operation != EXECUTE else None
    chosen = [i.time for i in pending_plans(table.state(), service) if not named or i.time in named]
    service_name = call.procedure.name.removeprefix("run_")
    lacking = [name for name in named if name not in chosen]
    if lacking:
        raise SqlError(
            f"No {service_name} {lacking[0]:.100} waits", fix=f"CALL show_{service_name} lists those that do"
        )
    if operation == SCHEDULE:
        return [time for time in chosen if time == scheduled]
    chosen = chosen[: call["limit"]]
    for time in chosen:
        table.run(service, options, time=time)
    return chosen
