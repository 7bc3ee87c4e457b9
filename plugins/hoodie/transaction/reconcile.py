"""Reconciling markers with a result: files of task attempts that were lost and done again, and markers that have served."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from hoodie.config.keys.marker import DELETE_PARALLELISM
from hoodie.markers import marker_folder, read_markers
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.transaction.guard import check_of_instant, delete_data_files, delete_metadata_folder

_log = logging.getLogger(__name__)

_THREADS = DELETE_PARALLELISM.default or 1


def reconcile_markers(storage: Storage, time: Time, committed_paths: Collection[str]) -> None:
    """Delete the files that a marker of instant `time` notes and that its result, `committed_paths`, does not name."""
    leftovers = read_markers(storage, time) - set(committed_paths)
    check_of_instant(storage, leftovers, time)
    delete_data_files(storage, leftovers)


def delete_markers(storage: Storage, time: Time, threads: int = _THREADS) -> None:
    """Delete the markers of instant `time`, by up to `threads` threads."""
    delete_metadata_folder(storage, marker_folder(time), threads)


@contextmanager
def after_completion(storage: Storage, time: Time) -> Iterator[None]:
    """Around what is still to be deleted of an instant that is complete: a failure must not make the work look undone.

    As long as its markers are there, the next writer deletes the rest.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - any error of a storage
        _log.warning("The leftovers of instant %s of %s could not be deleted: %s", time, storage.base_path, error)
