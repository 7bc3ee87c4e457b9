"""Switching off a metadata table that we do not maintain (format notes, section 8.4)."""

from __future__ import annotations

from hoodie.config.properties.store import update_properties
from hoodie.config.properties.table import METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT
from hoodie.errors import UnsupportedTableError
from hoodie.model.names import METADATA_TABLE
from hoodie.storage.base import Storage
from hoodie.transaction.guard import delete_metadata_folder
from hoodie.transaction.locks import verify_held
from hoodie.view import TableState, partitions_above
from hoodie.view.missing_files import ExpectedFile, refuse_external


def switch_off_metadata_table(state: TableState) -> bool:
    """Mark the metadata table as unavailable to readers, then delete it; True when there was something to do.

    A reader lists files only from the metadata table while the properties name it: a commit that it misses would be invisible. So
    the properties change first. A crash after that leaves a folder that is not read and that the next call deletes. Call it under
    the lock, before the first own change. Hudi's next writer builds it again.

    Raises UnsupportedTableError for partitions that lie in each other, and for files that Hudi did not write: without it Hudi's
    readers do not find the lower ones, and not these files.
    """
    named = state.properties.has_metadata_table
    if named:
        _refuse_nested(state)
        _refuse_external(state)
        without = (METADATA_PARTITIONS, METADATA_PARTITIONS_INFLIGHT)
        verify_held()
        update_properties(state.storage, state.properties.with_values({}, without=without))
    if named or _exists(state.storage):
        delete_metadata_folder(state.storage, METADATA_TABLE)
        return True
    return False


def _exists(storage: Storage) -> bool:
    listing = storage.list(METADATA_TABLE)
    return bool(listing.files or listing.folders)


def _refuse_external(state: TableState) -> None:
    for instant in reversed(state.timeline.commits):
        stats = state.commit_metadata(instant).stats
        if stats:
            refuse_external(
                state, [ExpectedFile(stat.partition, stat.path.rpartition("/")[2], instant) for stat in stats]
            )
            return


def _refuse_nested(state: TableState) -> None:
    if not state.properties.partition_fields or state.properties.url_encode_partitioning:
        return
    partitions = frozenset(state.files.partitions())
    for lower in sorted(partitions):
        for upper in partitions.intersection(partitions_above(lower)):
            raise UnsupportedTableError(
                f"Table {state.storage.base_path} cannot be written by this library",
                found=f"partition {lower!r} in partition {upper!r}, which Hudi finds by its metadata table alone; we keep none",
                fix="write to this table with Hudi, or load it into one with "
                "hoodie.datasource.write.partitionpath.urlencode=true",
            )
