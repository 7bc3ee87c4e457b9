"""Logs of tasks in the home of an embedded Airflow: kept for some days, as Airflow itself removes none."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_DAY = 24 * 3600  # seconds


def remove_old_logs(folder: Path, days: int) -> int:
    """Remove the files below `folder` that have not changed for `days` days, and folders that are empty then. Returns
    the number of files.

    Links are not followed, nor removed. Files that cannot be removed stay.
    """
    before, removed = time.time() - days * _DAY, 0
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            file = Path(place, name)
            with suppress(OSError):
                if not file.is_symlink() and file.stat().st_mtime < before:
                    file.unlink()
                    removed += 1
        if Path(place) != folder:
            with suppress(OSError):  # it is not empty
                Path(place).rmdir()
    return removed
