"""A table that is paused or resumed from its page: as by `hudi-services pause` and `resume`, in the name of Airflow's user."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, HoodieError, StoreError, TablePausedError
from hoodie.table import HoodieTable
from hoodie_airflow.pages.snapshots import opened_store
from hudi_services.entry.table import Table
from hudi_services.registry.load import Registry
from hudi_services.runtime.pause import pause, resume

_log = logging.getLogger(__name__)


class WantedPause(BaseModel):
    """The body of a request. `until` without a zone is in UTC."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    until: datetime | None = None


def pause_table(registry: Registry, table: Table, request: WantedPause, user: str) -> dict[str, Any]:
    """The pause as JSON. Raises HTTPException."""
    until = request.until
    if until is not None and until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    with _http_errors(table):
        table_pause = pause(HoodieTable.open(table.base_path).storage, SystemClock(), user, request.reason, until)
    _log.info("table %s: paused %s", table.name, table_pause)
    _look_again(registry, table)
    return {"paused": table_pause.as_dict()}


def resume_table(registry: Registry, table: Table, user: str, shown: str | None) -> dict[str, Any]:
    """The pause that was there as JSON. Raises HTTPException, also if it is not the one that the page has `shown`."""
    with _http_errors(table):
        result = resume(HoodieTable.open(table.base_path).storage, shown)
    _log.info("table %s: resumed by %s; it was %s", table.name, user, f"paused {result}" if result else "not paused")
    _look_again(registry, table)
    return {"resumed": result.as_dict() if result is not None else None}


def _look_again(registry: Registry, table: Table) -> None:
    """Let the watcher look with its next round, though nothing happened on the timeline; without a store no page shows
    the pause."""
    with suppress(StoreError):
        opened_store(registry).look_again(table.name)


@contextmanager
def _http_errors(table: Table) -> Iterator[None]:
    try:
        yield
    except TablePausedError as error:
        raise HTTPException(409, str(error)) from error
    except ConfigError as error:
        raise HTTPException(422, str(error)) from error
    except (HoodieError, OSError, ValueError, ImportError) as error:
        _log.exception("table %s cannot be paused or resumed from here", table.name)
        raise HTTPException(
            502,
            f"Airflow's API server cannot reach the table: {type(error).__name__}: {error} "
            f"On a machine that can: hudi-services pause --table {table.name}",
        ) from error
