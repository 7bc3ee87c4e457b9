"""Streams into a table: each batch of a query is one commit, written once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from hoodie.config import given_options
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, StreamBatchError, check_argument
from hoodie.spark.columns import arrow_schema
from hoodie.spark.engine import SparkEngine
from hoodie.spark.error_boundary import check_session, spark_call
from hoodie.spark.stream.batch_writer import BatchWriter, SinkWrites
from hoodie.spark.stream.batches import StreamBatch
from hoodie.storage import BasePath, storage_of
from hoodie.table import HoodieTable
from hoodie.write.change_rows import ChangeColumns
from hoodie.write.execute import WriteResult

_QUERY_ID, _RUN_ID = "sql.streaming.queryId", "spark.jobGroup.id"  # Spark's run of a query is the group of its jobs
_LOCAL_ROWS = 200_000  # up to these rows the driver writes a batch sooner than tasks of Spark
_MAX_RESULT = "spark.driver.maxResultSize"

_last_batches: dict[tuple[str, str], tuple[str, int]] = {}
"""Table and query -> the run of Spark and the batch that were written last in this process."""


def stream_sink(
    base_path: BasePath,
    options: Mapping[str, object] | None = None,
    *,
    operation: str = "upsert",
    deletions: str | None = None,
    op_column: str | None = None,
    order_columns: Sequence[str] = (),
    query: str | None = None,
    local_rows: int = _LOCAL_ROWS,
    after_restore: bool = False,
    services_beside: bool = False,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that writes each batch in one commit, and a batch that is there not again.

    The commit names the query (`query`, by default Spark's identifier, which the checkpoint keeps) and the batch. `operation`,
    `options` and `deletions` are those of `HoodieTable.write`. A batch of up to `local_rows` rows is written by threads in the
    driver, a larger one by Spark. The table exists already.

    With `op_column` the rows are changes (`i`, `u`, `d`), of which the last one of each key is applied: those of a change feed,
    with `before` and `after`, or flat rows. `order_columns` say which change is the last one; for a feed its completion time
    does. `after_restore` writes on although a restore may have rolled back batches. With `services_beside` the services that the
    options ask for after a commit run in a thread, one run at a time, while batches go on.

    Called, it raises what `HoodieTable.write` raises, DataError for changes that cannot be applied, and StreamBatchError when
    another run of the query has written since, when the table has a later batch, when batches before this one were rolled back,
    or at the second call for one batch: nothing of the batch is written then.
    """
    check_argument("local_rows", local_rows, "a number of rows", int)
    HoodieTable.open(base_path)  # a wrong path is an error before the query starts
    changes = ChangeColumns(op_column, tuple(order_columns)) if op_column is not None else None
    writes = SinkWrites(base_path, operation, given_options(options), deletions, changes, services_beside)
    writes.check()
    return StreamSink(writes, query, local_rows, after_restore)


@dataclass
class StreamSink:
    """The function that `stream_sink` gives."""

    writes: SinkWrites
    query: str | None
    local_rows: int
    after_restore: bool = False
    result: WriteResult | None = None
    """The result of the last batch. None before the first one, and after one without rows or one that was there already."""
    _run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _was_large: bool = False

    def __post_init__(self) -> None:
        self._writer = BatchWriter(self.writes)

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Write a batch."""
        with spark_call("writing a batch of a stream", changes=True):
            check_argument("rows", rows, "a DataFrame of foreachBatch", DataFrame)
            check_session(rows.sparkSession)
            run = rows.sparkSession.sparkContext.getLocalProperty(_RUN_ID) or ""
            self.result = self._write(rows, self._batch(rows, batch), run)

    def _write(self, rows: DataFrame, batch: StreamBatch, run: str = "") -> WriteResult | None:
        place = storage_of(self.writes.base_path).base_path, batch.query
        # A run that has written looks under the lock alone: a batch that is there then is rare.
        if not self._writer.has_written(batch.query) and self._writer.is_there(batch):
            _check_once(place, batch, run)
            _consume(rows)
            return None
        was_large = self._was_large
        persisted = rows.persist() if was_large else rows  # it is likely to be read twice
        try:
            few = _collected(persisted, self.local_rows)
            self._was_large = few is None
            if few is not None and not few.num_rows:
                return None
            result = self._written(persisted, few, batch)
        finally:
            if was_large:
                persisted.unpersist()
        if result is None:
            _check_once(place, batch, run)
        elif run:
            _last_batches[place] = run, batch.batch
        return result

    def _written(self, rows: DataFrame, few: pa.Table | None, batch: StreamBatch) -> WriteResult | None:
        """Write `few`, or all rows by Spark. None: the table has the batch."""
        if few is not None:
            return self._writer.write(batch, few, few.schema, LocalEngine())
        result = self._writer.write(batch, rows, arrow_schema(rows), SparkEngine(rows.sparkSession))
        if result is None:
            _consume(rows)
        return result

    def _batch(self, rows: DataFrame, batch: int) -> StreamBatch:
        checkpoint = rows.sparkSession.sparkContext.getLocalProperty(_QUERY_ID) or ""
        query = self.query or checkpoint
        if not query:
            raise ConfigError(
                "A batch of a stream has no query",
                found="no streaming query of Spark calls the sink",
                fix="use it with foreachBatch, or name the query: stream_sink(path, query=...)",
            )
        return StreamBatch(query, batch, self._run, checkpoint, self.after_restore)


def _collected(rows: DataFrame, most: int) -> pa.Table | None:
    """Return the rows of a batch if there are `most` at most, by one job. None for more, and for those that are too large for the
    driver by `spark.driver.maxResultSize`. Spark's guess of their size does not help: a join is the product of its sides."""
    try:
        collected = rows.limit(most + 1).toArrow()
    except (PySparkException, Py4JError) as error:
        if _MAX_RESULT not in str(error):
            raise
        return None
    return collected if collected.num_rows <= most else None


def _check_once(place: tuple[str, str], batch: StreamBatch, run: str) -> None:
    """Raise StreamBatchError when a function of `foreachBatch` writes twice: the rows of the second call would be left out.

    A batch that Spark sends again is of another run.
    """
    if run and _last_batches.get(place) == (run, batch.batch):
        raise StreamBatchError(
            f"Batch {batch.batch} of query {batch.query} is written twice to table {place[0]}",
            found="two calls of a sink in one batch of foreachBatch",
            fix="write all rows of the batch in one call, or give each of the sinks a name: stream_sink(path, query=...)",
        )


def _consume(rows: DataFrame) -> None:
    """Compute all rows of a batch that is not written. A query with state, such as a join, gets the state of the batch that way:
    Spark ends the query otherwise."""
    rows.write.format("noop").mode("overwrite").save()
