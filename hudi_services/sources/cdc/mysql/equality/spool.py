"""Rows in local files by the chunks of their keys, so that rows of two sides are compared a part at a time in bounded memory.

Few rows stay in memory: with a file for each part, their files would take longer than all else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from hoodie.cache import cached_property
from hudi_services.sources.cdc.mysql.equality.chunks import CHUNKS, Digests

PARTS = 128
_HELD = 1 << 20  # bytes of rows that stay in memory
_GATHERED = 64 << 20  # bytes of rows that are divided at a time: small pieces make files long
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Spool:
    """Rows of one side. `rows` is their number."""

    folder: Path
    schema: pa.Schema
    rows: int
    held: Mapping[int, pa.Table] | None = None  # all parts with rows, where there are no files

    def part(self, number: int) -> pa.Table:
        """The rows of a part of all chunks."""
        if self.held is not None:
            return self.held.get(number, self._no_rows)
        path = _path(self.folder, number)
        if not path.exists():
            return self._no_rows
        with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as stream:
            return stream.read_all()

    @cached_property
    def _no_rows(self) -> pa.Table:
        return self.schema.empty_table()


def spooled(
    digests: Digests, schema: pa.Schema, batches: Iterable[pa.RecordBatch], chunks: np.ndarray | None, folder: Path
) -> Spool:
    """Write the rows of these chunks (None: of all), whose columns are `schema`, to files in `folder`. Few rows stay in memory.

    Raises OSError where they do not fit there.
    """
    folder.mkdir(parents=True)
    selected = np.ones(CHUNKS, bool) if chunks is None else np.isin(np.arange(CHUNKS), chunks)
    count = 0
    with ExitStack() as stack:
        writers: dict[int, pa.ipc.RecordBatchStreamWriter] = {}
        for rows, is_last in _gathered(batches):
            numbers = digests.chunks(rows)
            places = np.flatnonzero(selected[numbers])
            parts = numbers[places] * PARTS // CHUNKS
            order = np.argsort(parts, kind="stable")
            kept = rows.take(pa.array(places[order]))
            count += kept.num_rows
            begins = np.searchsorted(parts[order], np.arange(PARTS + 1))
            pieces = {
                part: kept.slice(begins[part], begins[part + 1] - begins[part])
                for part in np.flatnonzero(np.diff(begins)).tolist()
            }
            if is_last and not writers and rows.nbytes <= _HELD:
                held = {part: pa.Table.from_batches([piece], schema) for part, piece in pieces.items()}
                return Spool(folder, schema, count, held)
            for part, piece in pieces.items():
                if part not in writers:
                    stream = pa.ipc.new_stream(str(_path(folder, part)), schema, options=_OPTIONS)
                    writers[part] = stack.enter_context(stream)
                writers[part].write(piece)
    return Spool(folder, schema, count)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, bool]]:
    """The rows in larger pieces. True for what is left over at the end."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(some.nbytes for some in held) >= _GATHERED:
            yield pa.concat_batches(held), False
            held = []
    if held:
        yield pa.concat_batches(held), True


def _path(folder: Path, part: int) -> Path:
    return folder / f"{part}.arrow"
