"""Rows that wait in files of the table's storage between the tasks that computed them and the write: Arrow's file format.

They lie in a folder a write, below `.hoodie/.staged`, where no reader of Hudi tables looks. The write removes its folder
whichever way it ends. That of a killed application is removed by a later write of the same kind, once it is old.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa

from hoodie.config.properties.store import STAGED
from hoodie.storage import Storage
from hoodie.storage.base import closing_input
from hoodie.transaction.guard import delete_metadata_folder

KEPT_FOR = timedelta(days=7)
"""Longer than a query runs before it is written: whose folder is older is gone."""

_FILE_BYTES = 64 * 1024 * 1024  # bytes of rows in one file: what a task of the write reads
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class StagedSplit:
    """Rows in one file. Any process with the storage can read them."""

    storage: Storage
    path: str
    size: int
    columns: tuple[str, ...] | None = None  # None: all
    files: int = 0  # the user's files that the rows are from

    def batches(self) -> Iterator[pa.RecordBatch]:
        with (
            closing_input(self.storage, self.path) as source,
            pa.ipc.open_file(source, options=self._options(source)) as file,
        ):
            for number in range(file.num_record_batches):
                yield file.get_batch(number)

    def narrowed(self, columns: Sequence[str]) -> StagedSplit:
        return replace(self, columns=tuple(columns))

    def _options(self, source: pa.NativeFile) -> pa.ipc.IpcReadOptions:
        if self.columns is None:
            return pa.ipc.IpcReadOptions()
        with pa.ipc.open_file(source) as file:
            return pa.ipc.IpcReadOptions(included_fields=[file.schema.get_field_index(name) for name in self.columns])


def new_folder(now: datetime) -> str:
    """A folder for the rows of a write that begins `now`."""
    return f"{STAGED}/{_millis(now)}-{uuid.uuid4().hex}"


def stage(storage: Storage, folder: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> list[StagedSplit]:
    """The rows in files of names that no other attempt of the task has. Without rows there is no file.

    Raises OSError; the file at which that happens is not there then, those before it are.
    """
    splits: list[StagedSplit] = []
    with ExitStack() as open_file:
        writer, path, size = None, "", 0
        for batch in batches:
            if writer is None:
                path, size = f"{folder}/{uuid.uuid4().hex}.arrow", 0
                sink = open_file.enter_context(storage.open_output(path))
                writer = open_file.enter_context(pa.ipc.new_file(sink, schema, options=_OPTIONS))
            writer.write_batch(batch)
            size += batch.nbytes
            if size >= _FILE_BYTES:
                open_file.close()
                writer = None
                splits.append(StagedSplit(storage, path, size))
        if writer is not None:
            open_file.close()
            splits.append(StagedSplit(storage, path, size))
    return splits


def remove(storage: Storage, folder: str) -> None:
    """Delete the rows of a write that ended."""
    delete_metadata_folder(storage, folder)


def remove_old(storage: Storage, now: datetime) -> None:
    """Delete what applications that were killed before `now - KEPT_FOR` have left. One listing when there is nothing."""
    for folder in storage.list(STAGED).folders:
        start = folder.rpartition("/")[2].partition("-")[0]
        if start.isascii() and start.isdigit() and int(start) < _millis(now - KEPT_FOR):
            delete_metadata_folder(storage, folder)


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
