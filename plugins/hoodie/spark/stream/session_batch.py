"""A batch of `writeStream.format("hoodie")`, written by the process of the session."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from hoodie.engine import Engine, LocalEngine
from hoodie.engine.local import DEFAULT_MEMORY
from hoodie.engine.splits import ArrowSplit
from hoodie.errors import TableNotFoundError
from hoodie.spark.engine import SparkEngine
from hoodie.spark.error_boundary import spark_call
from hoodie.spark.staging import StagedSplit
from hoodie.spark.stream.batch_writer import BatchWriter
from hoodie.spark.stream.batches import StreamBatch
from hoodie.spark.stream.sink_options import SinkRequest
from hoodie.table import HoodieTable

_turn = threading.Lock()
_runs: dict[tuple[str, str], _Run] = {}


@dataclass(frozen=True)
class StagedBatch:
    """A batch whose rows are staged, or in memory if they are few."""

    request: SinkRequest
    schema: pa.Schema
    batch: int
    run_token: str
    rows: int
    splits: tuple[StagedSplit | ArrowSplit, ...]

    @property
    def base_path(self) -> str:
        """The table."""
        return str(self.request.writes.base_path)

    @property
    def is_small(self) -> bool:
        """True if the driver writes the batch: its rows are few, and not too large for the driver's memory."""
        return self.rows <= self.request.local_rows and sum(split.size for split in self.splits) <= DEFAULT_MEMORY

    def run(self, spark: SparkSession) -> None:
        """Write the batch, unless the table has it. Raises what `BatchWriter.write` raises, and HoodieTable.create."""
        with spark_call("writing a batch of a stream", changes=True):
            self.write(LocalEngine() if self.is_small else SparkEngine(spark))

    def write(self, engine: Engine) -> None:
        """The same with an engine."""
        if not self.rows and not self.request.replaces:
            return
        run = _run_of(self)
        batch = StreamBatch(run.query, self.batch, self.run_token, run.checkpoint, self.request.after_restore)
        if run.writer.has_written(run.query) or not self._is_there(run, batch):
            rows = _table(self.splits, self.schema) if engine.in_process else self.splits
            run.writer.write(batch, rows, self.schema, engine)

    def _is_there(self, run: _Run, batch: StreamBatch) -> bool:
        """The first batch of all makes the table."""
        try:
            return run.writer.is_there(batch)
        except TableNotFoundError:
            HoodieTable.create(self.request.writes.base_path, self.request.writes.options)
            return False


@dataclass(frozen=True)
class _Run:
    """A run of a query, as the process of the session knows it."""

    writer: BatchWriter
    query: str
    checkpoint: str


def _run_of(staged: StagedBatch) -> _Run:
    """The run as it is known since its first batch. Raises ConfigError for a query without a name."""
    with _turn:
        key = staged.base_path, staged.run_token
        run = _runs.get(key)
        if run is None:
            run = _runs[key] = _Run(BatchWriter(staged.request.writes), *staged.request.query())
        return run


def _table(splits: Sequence[StagedSplit | ArrowSplit], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches([batch for split in splits for batch in split.batches()], schema)
