"""The most memory that this process has held, by Linux's /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Count the peak from now on, if the kernel lets a process reset it."""
    with suppress(OSError):
        _RESET.write_text("5")


def peak_memory() -> int | None:
    """Bytes that were resident at once. None without /proc: other figures also count what another program took before this one
    began."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
