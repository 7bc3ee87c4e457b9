"""Streams into a table: each batch of a query is one commit, written once."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from hoodie.config import given_options
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, check_argument
from hoodie.spark.calls import check_session, spark_call
from hoodie.spark.columns import arrow_schema
from hoodie.spark.engine import SparkEngine
from hoodie.spark.stream.batches import WrittenBatch, batch_metadata, check_batch
from hoodie.storage import BasePath
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.execute import WriteHooks, WriteResult

_log = logging.getLogger(__name__)
_QUERY_ID = "sql.streaming.queryId"
_LOCAL_ROWS = 200_000  # up to these rows the driver writes a batch sooner than tasks of Spark


class _WrittenMeanwhileError(Exception):
    """The batch is in the table: the write that found it leaves nothing."""


def stream_sink(
    base_path: BasePath,
    options: Mapping[str, object] | None = None,
    *,
    operation: str = "upsert",
    deletions: str | None = None,
    query: str | None = None,
    local_rows: int = _LOCAL_ROWS,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that writes each batch in one commit, and a batch that is there not again.

    The commit names the query (`query`, by default Spark's identifier, which the checkpoint keeps) and the batch. `operation`,
    `options` and `deletions` are those of `HoodieTable.write`. A batch of up to `local_rows` rows is written by threads in the
    driver, a larger one by Spark. The table exists already.

    Called, it raises what `HoodieTable.write` raises, and StreamBatchError when another run of the query has written since,
    when the table has a later batch, or when a restore or rollback took back batches: nothing of the batch is written then.
    """
    check_argument("local_rows", local_rows, "a number of rows", int)
    HoodieTable.open(base_path)  # a wrong path is an error before the query starts
    return StreamSink(base_path, operation, given_options(options), deletions, query, local_rows)


@dataclass
class StreamSink:
    """The function that `stream_sink` gives."""

    base_path: BasePath
    operation: str
    options: Mapping[str, object]
    deletions: str | None
    query: str | None
    local_rows: int
    result: WriteResult | None = None
    """The result of the last batch. None before the first one, and after one without rows or one that was there already."""
    _run: str = field(default_factory=lambda: uuid.uuid4().hex)
    _known: dict[str, WrittenBatch] = field(default_factory=dict)
    """The last batch of each query that the function has written."""

    def __call__(self, rows: DataFrame, batch: int) -> None:
        """Write a batch."""
        with spark_call("writing a batch of a stream", changes=True):
            check_argument("rows", rows, "a DataFrame of foreachBatch", DataFrame)
            check_session(rows.sparkSession)
            self.result = self._write(rows, batch, self._query_of(rows))

    def _write(self, rows: DataFrame, batch: int, query: str) -> WriteResult | None:
        if self._is_there(HoodieTable.open(self.base_path).state(), query, batch):
            _log.info("Batch %d of query %s is in table %s already", batch, query, self.base_path)
            return None

        def check(state: TableState) -> None:
            if self._is_there(state, query, batch):
                raise _WrittenMeanwhileError

        extra, hooks = batch_metadata(query, batch, self._run), WriteHooks(on_begin=check, on_others=check)
        cached = rows.persist()  # its rows are counted, then read
        try:
            some = cached.limit(self.local_rows + 1).toArrow()
            if not some.num_rows:
                return None
            if some.num_rows <= self.local_rows:
                table = HoodieTable.open(self.base_path, engine=LocalEngine())
                done = table.write(
                    some, self.operation, self.options, deletions=self.deletions, extra_metadata=extra, hooks=hooks
                )
            else:
                table = HoodieTable.open(self.base_path, engine=SparkEngine(rows.sparkSession))
                done = table.write(
                    cached,
                    self.operation,
                    self.options,
                    schema=arrow_schema(rows),
                    deletions=self.deletions,
                    extra_metadata=extra,
                    hooks=hooks,
                )
        except _WrittenMeanwhileError:
            return None
        finally:
            cached.unpersist()
        self._known[query] = WrittenBatch(batch, self._run, done.instant.time)
        return done

    def _is_there(self, state: TableState, query: str, batch: int) -> bool:
        return check_batch(state, query, batch, self._run, self._known.get(query)) is not None

    def _query_of(self, rows: DataFrame) -> str:
        query = self.query or rows.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
        if not query:
            raise ConfigError(
                "A batch of a stream has no query",
                found="no streaming query of Spark calls the sink",
                fix="use it with foreachBatch, or name the query: stream_sink(path, query=...)",
            )
        return query
