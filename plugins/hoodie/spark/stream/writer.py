"""`writeStream.format("hoodie")`: tasks stage the rows of a batch, and the process of the session writes them in one commit.

Spark makes a writer for each batch where it is planned, and another one in the process that ends the batch. It says neither to
the tasks nor to that process which query this is (see `SinkRequest.query`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from hoodie.clock import SystemClock
from hoodie.engine.splits import ArrowSplit
from hoodie.error_boundary import call
from hoodie.schema import data_columns
from hoodie.spark.staging import StagedSplit, new_folder, remove, remove_old, stage
from hoodie.spark.stream.session_batch import StagedBatch
from hoodie.spark.stream.sink_options import SinkRequest
from hoodie.spark.write_server import ask
from hoodie.storage import storage_of

_MESSAGE_BYTES = 1 << 20  # rows of a task up to this size travel with its message: that needs no file


@dataclass
class StagedRows(WriterCommitMessage):  # type: ignore[misc]
    """The rows that an attempt of a task has staged."""

    rows: int
    splits: list[StagedSplit | ArrowSplit]


class StreamWriter(DataSourceStreamArrowWriter):  # type: ignore[misc]
    """See the module."""

    def __init__(self, request: SinkRequest, schema: StructType, address: str, run: str) -> None:
        """`run` is the same for all batches of a run of the query."""
        self._request = request
        columns = to_arrow_schema(schema, timezone="UTC")
        # The meta columns of a table that is the source come along. Changes are ordered by some of them.
        self._schema = data_columns(columns) if request.writes.changes is None else columns
        self._address = address
        self._run = run
        with call("planning a write"):
            self._storage = storage_of(request.writes.base_path)
        self._folder = new_folder(SystemClock().now())

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedRows:
        """Stage the rows of a task."""
        batches = (batch.select(self._schema.names).cast(self._schema) for batch in iterator)
        buffered: list[pa.RecordBatch] = []
        count = 0

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal count
            for batch in batches:
                count += batch.num_rows
                yield batch

        counted_batches = counted()
        with call("staging rows of a stream"):
            for batch in counted_batches:
                buffered.append(batch)
                if sum(batch.nbytes for batch in buffered) > _MESSAGE_BYTES:
                    splits = stage(self._storage, self._folder, chain(buffered, counted_batches), self._schema)
                    return StagedRows(count, list(splits))
        return StagedRows(count, [ArrowSplit(pa.Table.from_batches(buffered, self._schema))] if count else [])

    def commit(self, messages: Sequence[StagedRows | None], batchId: int) -> None:  # noqa: N803, Spark names it so
        """All tasks are done, and `messages` are those of the attempts that count, one each."""
        staged = [message for message in messages if message is not None]
        splits = tuple(split for message in staged for split in message.splits)
        rows = sum(message.rows for message in staged)
        ask(self._address, StagedBatch(self._request, self._schema, batchId, self._run, rows, splits))
        self._clean_up(messages)

    def abort(self, messages: Sequence[StagedRows | None], batchId: int) -> None:  # noqa: N803
        """A task failed for good, or the commit did."""
        self._clean_up(messages)

    def _clean_up(self, messages: Sequence[StagedRows | None]) -> None:
        """Remove the staged files. The writer that planned the batch chose their folder."""
        splits = [split for message in messages if message is not None for split in message.splits]
        folders = {split.path.rpartition("/")[0] for split in splits if isinstance(split, StagedSplit)}
        with call("removing staged rows"):
            for folder in sorted(folders):
                remove(self._storage, folder)
            if folders:
                remove_old(self._storage, SystemClock().now())
