"""Outcome of a service that ran after a write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceOutcome:
    """One service after a commit, which stays in any case.

    `instant` is the service's instant on the timeline, None when there was nothing to do. `counts` says whether the caller has to
    repair a failure (exit code 3), or it is only reported.
    """

    service: str
    message: str
    instant: str | None = None
    failed: bool = False
    counts: bool = True
