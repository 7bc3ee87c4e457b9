"""The last change of each key of a large batch: tasks exchange the changes by key, and put what is left into files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hoodie.engine import Engine
from hoodie.engine.base import Block
from hoodie.spark.staging import StagedSplit, stage
from hoodie.storage import Storage
from hoodie.write.change_rows import ChangeRows
from hoodie.write.worker.rows import by_key_hash, chunks

_TASK_BYTES = 128 * 1024 * 1024  # bytes of changes that a task holds


def staged_changes(engine: Engine, rows: Any, change: ChangeRows, storage: Storage, folder: str) -> list[StagedSplit]:
    """Return splits with the rows to upsert. `rows` is what the engine takes as input. Raises what `change` raises."""
    buckets = max(engine.parallelism, -(-engine.input_size(rows) // _TASK_BYTES))
    exchanged = engine.exchange_inputs([(_KeyChanges(change, buckets), rows)], buckets)
    return [split for splits in exchanged.map(_StageLast(change, storage, folder)) for split in splits]


@dataclass(frozen=True)
class _KeyChanges:
    """Input split -> changes by the hash of their key."""

    change: ChangeRows
    buckets: int

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterable[Block]:
        for some in chunks(batches):
            if some.num_rows:
                yield from by_key_hash(self.change.keyed(some), self.buckets)


@dataclass(frozen=True)
class _StageLast:
    """Bucket of changes -> the last one of each key, in files."""

    change: ChangeRows
    storage: Storage
    folder: str

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> list[StagedSplit]:
        parts = list(tables)
        if not parts:
            return []
        last = self.change.last(pa.concat_tables(parts))
        return stage(self.storage, self.folder, last.to_batches(), last.schema)
