"""From a caller's batches to keyed rows of the table's schema. Runs in the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine.base import Block
from hoodie.errors import RecordKeyError
from hoodie.formats.murmur import murmur2
from hoodie.keygen import generated_keys
from hoodie.model.internal_columns import DELETE, SEQUENCE
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import conform, values_of
from hoodie.write.worker.context import WriteContext

_CHUNK_BYTES = 64 * 1024 * 1024  # enough rows for the kernels to be worth their call
_SPLIT_BITS = 40  # bits of a sequence number for the rows of one split; the split's number is above them


def chunks(batches: Iterable[pa.RecordBatch], max_bytes: int = _CHUNK_BYTES) -> Iterator[pa.Table]:
    """Batches joined to tables of about `max_bytes`."""
    buffered: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        buffered.append(batch)
        size += batch.nbytes
        if size >= max_bytes:
            yield pa.Table.from_batches(buffered)
            buffered, size = [], 0
    if buffered:
        yield pa.Table.from_batches(buffered)


def keyed_rows(
    context: WriteContext, number: int, batches: Iterable[pa.RecordBatch], max_bytes: int = _CHUNK_BYTES
) -> Iterator[pa.Table]:
    """Rows in the table's schema with `_hoodie_record_key`, `_hoodie_partition_path`, `@sequence` and `@delete` after them.

    Raises SchemaConflictError, or RecordKeyError for rows whose key or ordering value is null.
    """
    start = number << _SPLIT_BITS
    for chunk in chunks(batches, max_bytes):
        if not chunk.num_rows:
            continue
        rows = conform(chunk, context.schema, rounds=False)
        _check_ordering(context, rows)
        sequence = pa.array(np.arange(start, start + rows.num_rows, dtype=np.int64))
        keys = _keys(context, rows, number, start - (number << _SPLIT_BITS))
        start += rows.num_rows
        yield (
            rows.append_column(RECORD_KEY, keys)
            .append_column(PARTITION_PATH, context.paths.of(rows))
            .append_column(SEQUENCE, sequence)
            .append_column(DELETE, _deletes(context, rows, chunk))
        )


def _keys(context: WriteContext, rows: pa.Table, number: int, first: int) -> pa.ChunkedArray | pa.Array:
    """Keys of the table's columns, or generated ones for a table without key columns."""
    if context.keys.fields:
        return context.keys.of(rows)
    return generated_keys(context.writing.instant, number, first, rows.num_rows)


def _check_ordering(context: WriteContext, rows: pa.Table) -> None:
    """Hudi's writers refuse null ordering values, as such a row is neither newer nor older."""
    for name in context.rules.ordering:
        nulls = values_of(rows, name).null_count  # a struct that is null has no value either: Hudi refuses it
        if nulls:
            raise RecordKeyError(
                f"Ordering column {name!r} is null",
                found=f"{nulls} of {rows.num_rows} rows",
                fix="fill it or drop these rows; ingestion can quarantine them",
            )


def _deletes(context: WriteContext, rows: pa.Table, incoming: pa.Table) -> pa.ChunkedArray | pa.Array:
    if context.deletes_by_key:
        return pa.repeat(True, rows.num_rows)
    deletes = context.rules.deletes(rows)
    if context.deletions not in incoming.column_names:  # no row is marked, or only keys are surveyed
        return deletes
    return pc.or_(deletes, pc.fill_null(incoming[context.deletions], False))


def by_key_hash(rows: pa.Table, buckets: int) -> Iterator[Block]:
    """Spread rows over `buckets` by their record key: equal keys meet in one bucket, from any stage."""
    if buckets == 1:
        yield 0, rows
        return
    yield from split_by(rows, murmur2(rows[RECORD_KEY], 0) % np.uint32(buckets), buckets)


def split_by(rows: pa.Table, bucket_of_row: np.ndarray, buckets: int) -> Iterator[Block]:
    """The rows of each bucket that has some."""
    order = np.argsort(bucket_of_row, kind="stable")
    ordered = rows.take(pa.array(order))
    bounds = np.searchsorted(bucket_of_row[order], np.arange(buckets + 1))
    for bucket in range(buckets):
        low, high = int(bounds[bucket]), int(bounds[bucket + 1])
        if high > low:
            yield bucket, ordered.slice(low, high - low)
