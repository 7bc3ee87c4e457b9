"""What became of a service that ran after a write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServiceOutcome:
    """One service after a commit, which stays whatever happens here.

    `instant` is what the service put on the timeline, None when there was nothing to do. `counts` says whether a failure is
    the caller's to repair (exit code 3), or only told.
    """

    service: str
    message: str
    instant: str | None = None
    failed: bool = False
    counts: bool = True
