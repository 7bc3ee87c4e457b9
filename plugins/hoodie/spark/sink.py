"""`df.write.format("hoodie")`: the rows of a query, staged by its tasks, and written once all of them are there.

Tasks of a source of Python cannot hand rows to each other, as the rows of one key must be. So they only put them into files of
the table's storage (`hoodie.spark.staging`); Spark reports which attempts of tasks count, and with their files alone the process
of the session makes a write as any other (`hoodie.spark.write_server`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from hoodie.clock import SystemClock
from hoodie.error_boundary import call
from hoodie.schema import data_columns
from hoodie.spark.sink_options import WriteRequest
from hoodie.spark.staging import StagedSplit, new_folder, remove, remove_old, stage
from hoodie.spark.write_server import StagedWrite, ask
from hoodie.storage import storage_of


@dataclass
class Staged(WriterCommitMessage):  # type: ignore[misc]
    """Files that an attempt of a task has staged."""

    splits: list[StagedSplit]


class Sink(DataSourceArrowWriter):  # type: ignore[misc]
    """See the module. Spark makes it where the query is planned, and sends it to the tasks and to the end of the write."""

    def __init__(self, request: WriteRequest, schema: StructType, address: str) -> None:
        """Raises what `WriteRequest.check` raises: then no task runs."""
        self._request = request
        self._schema = data_columns(to_arrow_schema(schema, timezone="UTC"))  # a table's own meta columns come along
        self._address = address
        with call("planning a write"):
            request.check(self._schema)
            self._storage = storage_of(request.base_path)
        self._folder = new_folder(SystemClock().now())

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """In a task."""
        rows = (batch.select(self._schema.names).cast(self._schema) for batch in iterator)
        with call("staging rows of a DataFrame"):
            return Staged(stage(self._storage, self._folder, rows, self._schema))

    def commit(self, messages: Sequence[Staged | None]) -> None:
        """All tasks are done, and `messages` are those of the attempts that count, one each."""
        splits = [split for message in messages if message is not None for split in message.splits]
        ask(self._address, StagedWrite(self._request, self._schema, tuple(splits)))
        self._clean_up()
        with call("removing old staged rows"):
            remove_old(self._storage, SystemClock().now())

    def abort(self, messages: Sequence[Staged | None]) -> None:
        """A task failed for good, or the commit did."""
        self._clean_up()

    def _clean_up(self) -> None:
        with call("removing staged rows"):
            remove(self._storage, self._folder)
