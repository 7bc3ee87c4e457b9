"""Costs and gains of services."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from hudi_services.operations.watch.gains import Gain

DAYS = 30
"""The days in the sum on the page of all tables; the page of a table shows all days that are kept."""


@dataclass(frozen=True)
class Savings:
    """The gains in the last `days`, of all tables that the user sees: bytes that cleans freed and bytes of logs that
    were merged, and how many seconds of processors all services took, as far as that was measured."""

    days: int
    runs: int
    failed: int
    bytes_freed: int
    log_bytes_merged: int
    cpu_seconds: float


def gained(gains: Iterable[Gain], tables: Collection[str]) -> Savings | None:
    """The sum of the gains; None without a run."""
    own_gains = [gain for gain in gains if gain.table in tables]
    if not own_gains:
        return None
    return Savings(
        DAYS,
        sum(gain.runs for gain in own_gains),
        sum(gain.failed for gain in own_gains),
        sum(gain.bytes_freed or 0 for gain in own_gains),
        sum(gain.log_bytes_merged or 0 for gain in own_gains),
        sum(gain.cpu_seconds or 0 for gain in own_gains),
    )
