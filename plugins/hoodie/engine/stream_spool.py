"""Rows of an Arrow stream, which can be read once: handed out as they come, or spooled to local files."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

_FILE_BYTES = 64 * 1024 * 1024  # bytes of rows in one local file: a task reads at least that much
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class OnceSplit:
    """The rows of a stream, each of them to whichever of the tasks that share the split asks first. Not picklable."""

    size = 0  # unknown
    files = 0

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._turn = threading.Lock()

    def batches(self) -> Iterator[pa.RecordBatch]:
        while True:
            with self._turn:
                batch = next(self._batches, None)
            if batch is None:
                return
            yield batch

    def narrowed(self, columns: Sequence[str]) -> None:
        """A stream is read once."""
        return


@dataclass(frozen=True)
class SpooledSplit:
    """Rows in a local file, an Arrow stream."""

    path: Path
    size: int
    columns: tuple[str, ...] | None = None  # None: all
    files: int = 0  # the user's files that the rows are from

    def batches(self) -> Iterator[pa.RecordBatch]:
        options = pa.ipc.IpcReadOptions(included_fields=self._places())
        with pa.OSFile(str(self.path)) as source, pa.ipc.open_stream(source, options=options) as stream:
            yield from stream

    def narrowed(self, columns: Sequence[str]) -> SpooledSplit:
        return replace(self, columns=tuple(columns))

    def _places(self) -> list[int] | None:
        if self.columns is None:
            return None
        with pa.OSFile(str(self.path)) as source, pa.ipc.open_stream(source) as stream:
            return [stream.schema.get_field_index(name) for name in self.columns]


def spooled(batches: Iterable[pa.RecordBatch], schema: pa.Schema, folder: Path) -> list[SpooledSplit]:
    """All rows, in order, in files in `folder`. Raises OSError when they do not fit there."""
    splits: list[SpooledSplit] = []
    size = 0
    with ExitStack() as stack:
        writer = None
        path = folder
        for batch in batches:
            if writer is None:
                path, size = folder / f"{len(splits)}.arrow", 0
                writer = stack.enter_context(pa.ipc.new_stream(str(path), schema, options=_OPTIONS))
            writer.write_batch(batch)
            size += batch.nbytes
            if size >= _FILE_BYTES:
                writer.close()
                writer = None
                splits.append(SpooledSplit(path, size))
        if writer is not None:
            splits.append(SpooledSplit(path, size))
    return splits
