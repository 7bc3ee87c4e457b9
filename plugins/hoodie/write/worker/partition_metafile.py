"""MarkerOptions a folder as a partition (format notes, section 4.3). Runs in the workers."""

from __future__ import annotations

from contextlib import suppress

from hoodie.model.names import PARTITION_METAFILE
from hoodie.model.time import Time
from hoodie.storage.base import Storage, join
from hoodie.write.nesting import refuse_new_nested
from hoodie.write.worker.context import WriteContext


def write_partition_metafile(context: WriteContext, partition: str) -> None:
    """Mark a folder as a partition, before its first data file (format notes, section 4.3).

    Raises RecordKeyError when it would lie in another partition of the table, or one in it.
    """
    path = join(partition, PARTITION_METAFILE)
    if context.writing.storage.info(path) is not None:
        return
    if context.paths.may_nest:
        refuse_new_nested(context.writing.storage, context.writing.instant, partition)
    write_partition_mark(context.writing.storage, partition, context.writing.instant)


def write_partition_mark(storage: Storage, partition: str, instant: Time) -> None:
    """Make the file that marks a folder as a partition; one that is there stays."""
    depth = partition.count("/") + 1 if partition else 0
    body = f"#partition metadata\ncommitTime={instant}\npartitionDepth={depth}\n"
    storage.sweep([partition])  # no rollback knows of a folder in which nothing but this mark was begun
    with suppress(FileExistsError):  # another task was faster
        storage.create(join(partition, PARTITION_METAFILE), body.encode())
