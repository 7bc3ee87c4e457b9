"""Rows put aside in local files, so that a merge holds a part of them at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pyarrow as pa

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class Spill:
    """Numbered piles of rows with one schema. Use it in a `with` block: its files go away with it."""

    def __init__(self, schema: pa.Schema, folder: str) -> None:
        """`folder` is a local path, empty for the system's folder for temporary files."""
        self._schema = schema
        self._folder = tempfile.TemporaryDirectory(prefix="hoodie-merge-", dir=folder or None)
        self._writers: dict[int, pa.RecordBatchStreamWriter] = {}

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._writers.values():
            writer.close()
        self._folder.cleanup()

    def write(self, pile: int, rows: pa.Table) -> None:
        """Add rows to a pile, before any pile is read."""
        if pile not in self._writers:
            self._writers[pile] = pa.ipc.new_stream(str(self._path(pile)), self._schema, options=_OPTIONS)
        self._writers[pile].write_table(rows)

    def read(self, pile: int) -> pa.Table:
        """All rows of a pile."""
        return pa.concat_tables([self._schema.empty_table(), *self.batches(pile)])

    def batches(self, pile: int) -> Iterator[pa.Table]:
        """The same, as they were written."""
        if pile not in self._writers:
            return
        self._writers[pile].close()
        with pa.OSFile(str(self._path(pile))) as source, pa.ipc.open_stream(source) as stream:
            for batch in stream:
                yield pa.Table.from_batches([batch])

    def _path(self, pile: int) -> Path:
        return Path(self._folder.name) / f"{pile}.arrow"
