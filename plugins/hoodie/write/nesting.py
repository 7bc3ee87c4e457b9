"""Partitions that would lie in each other. Hudi finds the lower one by its metadata table alone; by listing it loses it."""

from __future__ import annotations

from collections.abc import Collection

from hoodie.errors import RecordKeyError
from hoodie.model.names import PARTITION_METAFILE
from hoodie.storage.base import Storage, join
from hoodie.view import StorageFiles, partitions_above


def refuse_nested(storage: Storage, instant: str, partitions: Collection[str]) -> None:
    """Raises RecordKeyError when the write `instant` made one of its partitions in another; such as were there stay as they are.

    Tasks that make both at the same time see neither of them, so this is asked once more before the commit.
    """
    paths = frozenset(partitions)
    for lower in sorted(paths):
        for upper in partitions_above(lower):
            if upper in paths and instant in (made_by(storage, upper), made_by(storage, lower)):
                _refuse(storage, instant, upper, lower)


def refuse_new_nested(storage: Storage, instant: str, partition: str) -> None:
    """Raises RecordKeyError when a partition that is not there yet would lie below one of the table, or above one.

    One listing, and one look for each folder above it.
    """
    for upper in partitions_above(partition):
        if storage.info(join(upper, PARTITION_METAFILE)) is not None:
            _refuse(storage, instant, upper, partition)
    for lower in StorageFiles(storage).partitions_below(partition):
        _refuse(storage, instant, partition, lower)


def _refuse(storage: Storage, instant: str, upper: str, lower: str) -> None:
    for partition in (upper, lower):
        if made_by(storage, partition) == instant:  # else the folder of a failed write would stay a partition
            storage.delete(join(partition, PARTITION_METAFILE))
    raise RecordKeyError(
        f"Partition {lower!r} of table {storage.base_path} would lie in partition {upper!r}",
        found="values with a slash, which makes folders of several depths: readers that list them do not find all rows",
        fix="correct the values, or load into a table with hoodie.datasource.write.partitionpath.urlencode=true; "
        "nothing was written",
    )


def made_by(storage: Storage, partition: str) -> str | None:
    """The instant that a partition's metafile names."""
    try:
        lines = storage.read(join(partition, PARTITION_METAFILE)).decode().splitlines()
    except FileNotFoundError:
        return None
    return next((line.partition("=")[2] for line in lines if line.startswith("commitTime=")), None)
