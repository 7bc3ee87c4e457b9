"""The loads that left rows in a quarantine, with their outcomes: rows that a commit left out, or rows of a refused load."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hoodie.storage import Storage
from hoodie.storage.base import FileInfo
from hudi_services.sources.ingest.quarantine import LOADED, REFUSED, mark_of, run_at_work

Outcome = Literal["loaded", "refused", "at work"]


@dataclass(frozen=True)
class QuarantinedLoad:
    """A load and the files of its bad rows. `loaded`: its good rows are in the table. `refused`: nothing of it is, and its files
    are still to be loaded. `at work`: it goes on, or was killed, and the next run removes its rows."""

    name: str
    files: tuple[FileInfo, ...]
    outcome: Outcome


def quarantined_loads(storage: Storage, base_path: str, most: int) -> tuple[list[QuarantinedLoad], int]:
    """The loads of the table at `base_path` that left rows, the newest first, of the newest `most` in the folder. Also the number
    of older ones, which are not looked at.

    One listing, and one for each load. Loads of other tables may have the same folder.
    """
    folders = storage.list("").folders
    working = {run for folder in folders if (run := run_at_work(folder)) is not None}
    names = sorted((folder for folder in folders if not folder.startswith(".")), reverse=True)
    loads = [_load(name, storage.list(name).files, base_path, name in working) for name in names[:most]]
    return [load for load in loads if load is not None and load.files], max(0, len(names) - most)


def _load(name: str, listed: Iterable[FileInfo], base_path: str, at_work: bool) -> QuarantinedLoad | None:
    """None for a load of another table. One without a mark is of an earlier release, or at work."""
    files = tuple(sorted((file for file in listed if not file.name.startswith(".")), key=lambda file: file.path))
    marks = {file.name for file in listed if file.name.startswith(".")}
    if mark_of(REFUSED, base_path) in marks:
        return QuarantinedLoad(name, files, "refused")
    if mark_of(LOADED, base_path) in marks:
        return QuarantinedLoad(name, files, "loaded")
    if marks:
        return None
    return QuarantinedLoad(name, files, "at work" if at_work else "loaded")
