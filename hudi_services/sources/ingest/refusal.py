"""The refusal of the last load, beside its bad rows, for tables whose registry keeps no history."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.errors import HoodieError
from hoodie.storage import open_storage
from hudi_services.sources.ingest.quarantine import REFUSED, mark_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refusal:
    """A load that ended with an error, and when: what is wrong and what to do, without values of rows."""

    at: datetime
    error: str


def keep_refusal(folder: str, base_path: str, error: HoodieError, at: datetime) -> None:
    """Keep it in the folder of the bad rows, in place of an earlier one. If that fails it is logged: the load's error counts."""
    text = ". To do: ".join(filter(None, [error.what.rstrip("."), error.fix]))
    try:
        storage, path = open_storage(folder), _path(base_path)
        storage.delete(path)
        storage.create(path, json.dumps({"at": at.isoformat(), "error": text}).encode())
    except (HoodieError, OSError) as failure:
        _log.warning("The reason of the refused load was not kept in %s: %s", folder, failure)


def forget_refusal(folder: str, base_path: str) -> None:
    """Remove the refusal of an earlier load after one that was not refused. A failure is logged."""
    try:
        open_storage(folder).delete(_path(base_path))
    except (HoodieError, OSError) as failure:
        _log.warning("The reason of an earlier refused load is still in %s: %s", folder, failure)


def last_refusal(folder: str, base_path: str) -> Refusal | None:
    """Return the refusal of the last load of the table, None if it was not refused, or the file is no such text.

    Raises OSError if the folder cannot be read.
    """
    try:
        values = json.loads(open_storage(folder).read(_path(base_path)))
        return Refusal(datetime.fromisoformat(values["at"]).astimezone(UTC), str(values["error"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _path(base_path: str) -> str:
    return f"{mark_of(REFUSED, base_path)}.json"
