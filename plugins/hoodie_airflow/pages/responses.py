"""Shared parts of the routes: the registry, answers as JSON with the headers of all pages, tables that a user may see."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Response

from hoodie_airflow.pages.access import Rights
from hoodie_airflow.paths import registry_file
from hudi_services.entry.table import Table
from hudi_services.registry.load import Reading, read_registry

HEADERS = {
    # Nothing is loaded from elsewhere, and no foreign page frames these.
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
NO_TABLE = "The registry has no table {!r}, or you may read none of its DAGs."


def as_json(body: Any, status: int = 200) -> Response:
    """Kept by no browser: who signs in on it next may have other rights."""
    headers = {**HEADERS, "Cache-Control": "no-store"}
    return Response(json.dumps(body, allow_nan=False), status, media_type="application/json", headers=headers)


def current_registry() -> Reading:
    """Read again when the file has changed."""
    file = registry_file()
    try:
        status = file.stat()
        stamp = status.st_mtime_ns, status.st_size, status.st_ino
    except OSError:
        stamp = 0, 0, 0  # the reader reports what is wrong
    return _read(file, stamp)


def table_seen(name: str, rights: Rights) -> Table:
    """Raises HTTPException. A table that the user may not see is as one that is not there."""
    table = current_registry().registry.table(name)
    if table is None or not rights.sees(table):
        raise HTTPException(404, NO_TABLE.format(name))
    return table


@lru_cache(maxsize=1)
def _read(file: Path, _stamp: tuple[int, int, int]) -> Reading:
    return read_registry(file)
