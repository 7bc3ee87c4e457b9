"""The way of a service's result from Spark's driver back to the task that submitted it."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hoodie.storage import open_storage
from hudi_services.entry.table import Table
from hudi_services.runtime.report_files import drop

_DAY_MS = 86_400_000
_KEPT_DAYS = 7


@contextmanager
def local_result() -> Iterator[str]:
    """A path for a driver on this machine (deploy mode client)."""
    with tempfile.TemporaryDirectory(prefix="hudi-") as folder:
        yield str(Path(folder) / "result.json")


@contextmanager
def shared_result(table: Table, service: str) -> Iterator[tuple[str, str]]:
    """Paths for a driver anywhere (deploy mode cluster), in the table's folder of results: of its result, and of how
    far it is.

    No two tries share one: the driver of a task that was killed may live on and write its own. Files that such drivers
    leave go after a week.
    """
    folder = f"{(table.results or '').rstrip('/')}/{table.name}"
    storage = open_storage(folder)
    oldest = time.time() * 1000 - _KEPT_DAYS * _DAY_MS
    for file in storage.list("").files:
        if file.name.endswith(".json") and file.modified_ms < oldest:
            storage.delete(file.path)
    path = f"{folder}/{service}-{uuid.uuid4()}"
    paths = f"{path}.json", f"{path}.progress.json"
    try:
        yield paths
    finally:
        for name in paths:
            drop(name)
