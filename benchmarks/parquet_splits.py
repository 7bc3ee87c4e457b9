"""Parquet files as an input of a write: the workers read them, nothing passes through the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.storage import Storage, closing_input, open_storage

_BATCH_ROWS = 1 << 16  # large enough for kernels, small enough to stay in memory that was used before
_MAX_BYTES = 1 << 30  # bytes of Arrow data per split at most: a lost task is then not too dear


@dataclass(frozen=True)
class RowGroup:
    """One row group of a file; bytes before compression."""

    storage: Storage
    path: str
    number: int
    size: int


@dataclass(frozen=True)
class ParquetSplit:
    """Row groups that one task reads, in order; of their columns all, or those named."""

    groups: tuple[RowGroup, ...]
    columns: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        return sum(group.size for group in self.groups)

    @property
    def files(self) -> int:
        return sum(group.number == 0 for group in self.groups)

    def batches(self) -> Iterator[pa.RecordBatch]:
        for group in self.groups:
            with closing_input(group.storage, group.path) as source:
                yield from pq.ParquetFile(source).iter_batches(
                    _BATCH_ROWS, row_groups=[group.number], columns=self.columns, use_threads=False
                )

    def narrowed(self, columns: Sequence[str]) -> ParquetSplit:
        return replace(self, columns=tuple(columns))


def parquet_splits(paths: Sequence[str], parallelism: int) -> tuple[list[ParquetSplit], pa.Schema]:
    """The row groups of the files, in order, as splits of about equal size (`parallelism` of them, or more when they would be
    too large), and the schema of the files.

    `paths` are plain paths or URLs of files with one schema. Raises ValueError when there is none.
    """
    groups: list[RowGroup] = []
    schema: pa.Schema | None = None
    for path in paths:
        folder, _, name = path.rpartition("/")
        storage = open_storage(folder or ".")
        with closing_input(storage, name) as source:
            file = pq.ParquetFile(source)
            schema = schema or file.schema_arrow.remove_metadata()
            sizes = [file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups)]
        groups.extend(RowGroup(storage, name, number, size) for number, size in enumerate(sizes))
    if schema is None:
        raise ValueError("no files were given")
    target = min(_MAX_BYTES, -(-sum(group.size for group in groups) // max(1, parallelism)))
    splits: list[list[RowGroup]] = [[]]
    filled = 0
    for group in groups:
        if splits[-1] and filled + group.size / 2 > target:
            splits.append([])
            filled = 0
        splits[-1].append(group)
        filled += group.size
    return [ParquetSplit(tuple(split)) for split in splits if split], schema
