"""The obstacle that keeps a table from being read, by its error."""

from __future__ import annotations

from hoodie.errors import (
    AccessDeniedError,
    ConfigError,
    HoodieError,
    OccupiedPathError,
    StorageError,
    TableNotFoundError,
    UnsupportedTableError,
)
from hoodie.storage.outage import storage_error
from hudi_services.operations.advice.facts import Obstacle, Unreadable


def unreadable_by(error: Exception, base_path: str) -> Unreadable:
    """The facts of an error that keeps the table at `base_path` from being read."""
    error = storage_error(error, "a look at the table", base_path) or error
    if not isinstance(error, HoodieError):
        return Unreadable(f"{type(error).__name__}: {error}")
    return Unreadable(
        error.what,
        error.fix or "",
        error.found or "",
        absent=isinstance(error, TableNotFoundError) and not isinstance(error, OccupiedPathError),
        obstacle=_kind(error),
        command=error.command if isinstance(error, AccessDeniedError) else "",
    )


def _kind(error: HoodieError) -> Obstacle:
    if isinstance(error, AccessDeniedError):
        return "right"
    if isinstance(error, StorageError):
        return "storage"
    return "settings" if isinstance(error, ConfigError | UnsupportedTableError) else "damage"
