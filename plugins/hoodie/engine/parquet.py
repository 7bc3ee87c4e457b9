"""Parquet files as an input of a write: the workers read them, nothing passes through the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from hoodie.storage import Storage, closing_input, open_storage

_BATCH_BYTES = 32 * 1024 * 1024  # of the file: row groups that are read together


@dataclass(frozen=True)
class ParquetSplit:
    """Some row groups of one file."""

    storage: Storage
    path: str
    row_groups: tuple[int, ...]
    size: int

    def same_file(self, other: ParquetSplit) -> bool:
        """Whether both are of one file."""
        return (self.storage.base_path, self.path) == (other.storage.base_path, other.path)

    def batches(self) -> Iterator[pa.RecordBatch]:
        with closing_input(self.storage, self.path) as source:
            file = pq.ParquetFile(source)
            for group in self.row_groups:
                yield from file.read_row_group(group, use_threads=False).to_batches()


def parquet_splits(paths: Sequence[str], parallelism: int) -> tuple[list[ParquetSplit], pa.Schema]:
    """Row groups of the files dealt out to at least `parallelism` splits where there are enough, and the files' schema.

    `paths` are plain paths or URLs of files with one schema; the order of rows is that of the paths.
    """
    groups: list[ParquetSplit] = []
    schema: pa.Schema | None = None
    for path in paths:
        folder, _, name = path.rpartition("/")
        storage = open_storage(folder or ".")
        with closing_input(storage, name) as source:
            file = pq.ParquetFile(source)
            schema = schema or file.schema_arrow.remove_metadata()
            sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
        groups.extend(ParquetSplit(storage, name, (group,), size) for group, size in enumerate(sizes))
    if schema is None:
        raise ValueError("no files were given")
    target = max(_BATCH_BYTES, -(-sum(split.size for split in groups) // max(1, parallelism)))
    merged: list[ParquetSplit] = []
    for split in groups:
        last = merged[-1] if merged else None
        if last is not None and last.same_file(split) and last.size + split.size <= target:
            size = last.size + split.size
            merged[-1] = ParquetSplit(last.storage, last.path, last.row_groups + split.row_groups, size)
        else:
            merged.append(split)
    return merged, schema
