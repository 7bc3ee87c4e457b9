"""List checks: one test of many items, which reports every fault at once."""

from __future__ import annotations

from collections.abc import Iterable


def assert_no_faults(faults: Iterable[str]) -> None:
    """Fail with all faults, a line each. pytest would show only the first of a list that should be empty."""
    lines = list(faults)
    assert not lines, "\n".join([f"{len(lines)} found:", *lines])
