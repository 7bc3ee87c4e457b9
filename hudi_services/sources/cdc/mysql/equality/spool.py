"""Rows in local files by the chunks of their keys, so that rows of two sides are compared a part at a time in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from hudi_services.sources.cdc.mysql.equality.chunks import CHUNKS, Digests

PARTS = 128
_GATHERED = 64 << 20  # bytes of rows that are divided at a time: small pieces make files long
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Spool:
    """Rows of one side. `rows` is their number."""

    folder: Path
    schema: pa.Schema
    rows: int

    def part(self, number: int) -> pa.Table:
        """The rows of a part of all chunks."""
        path = _path(self.folder, number)
        if not path.exists():
            return self.schema.empty_table()
        with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as stream:
            return stream.read_all()


def spooled(
    digests: Digests, schema: pa.Schema, batches: Iterable[pa.RecordBatch], chunks: np.ndarray | None, folder: Path
) -> Spool:
    """Write the rows of these chunks (None: of all), whose columns are `schema`, to files in `folder`.

    Raises OSError where they do not fit there.
    """
    folder.mkdir(parents=True)
    selected = np.ones(CHUNKS, bool) if chunks is None else np.isin(np.arange(CHUNKS), chunks)
    count = 0
    with ExitStack() as stack:
        writers: dict[int, pa.ipc.RecordBatchStreamWriter] = {}
        for rows in _gathered(batches):
            numbers = digests.chunks(rows)
            places = np.flatnonzero(selected[numbers])
            parts = numbers[places] * PARTS // CHUNKS
            order = np.argsort(parts, kind="stable")
            kept = rows.take(pa.array(places[order]))
            count += kept.num_rows
            begins = np.searchsorted(parts[order], np.arange(PARTS + 1))
            for part in np.flatnonzero(np.diff(begins)).tolist():
                if part not in writers:
                    stream = pa.ipc.new_stream(str(_path(folder, part)), schema, options=_OPTIONS)
                    writers[part] = stack.enter_context(stream)
                writers[part].write(kept.slice(begins[part], begins[part + 1] - begins[part]))
    return Spool(folder, schema, count)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in larger pieces."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(some.nbytes for some in held) >= _GATHERED:
            yield pa.concat_batches(held)
            held = []
    if held:
        yield pa.concat_batches(held)


def _path(folder: Path, part: int) -> Path:
    return folder / f"{part}.arrow"
