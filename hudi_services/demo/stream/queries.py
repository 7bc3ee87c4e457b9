"""The three streaming queries of the demo: a join with state, and two roll-ups of changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812, Spark's documentation calls it so
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming import StreamingQuery

import hoodie.spark
from hoodie import HoodieTable
from hudi_services.demo.stream.events import ALLOWED, ORDERS, PAYMENTS
from hudi_services.demo.stream.layers import LAYERS, PAID_ORDERS, ROLLUPS, Rollup
from hudi_services.demo.stream.retraction import EMPTY, Retraction

WATERMARK = "30 seconds"
"""Longer than `ALLOWED`, so that the join drops no event that the filter lets through."""

APART = "2 minutes"
"""The longest time between an order and its payment. The join keeps events for this time."""

_EVERY = "1 second"
_INFERENCE = "spark.sql.constraintPropagation.enabled"
_SUMS = "orders long, revenue long"


@dataclass(frozen=True)
class Folders:
    """The places of the demo's files."""

    home: Path

    @property
    def landing(self) -> Path:
        return self.home / "landing"

    @property
    def lake(self) -> Path:
        return self.home / "lake"

    def checkpoint(self, name: str) -> Path:
        """Spark's checkpoint of the query that writes a layer."""
        return self.home / "checkpoints" / name


def start_queries(spark: SparkSession, folders: Folders) -> None:
    """Start the queries that do not run, with a batch each second. They go on where they were."""
    hoodie.spark.register(spark)
    create_layers(folders)
    every = {"processingTime": _EVERY}
    running = {query.name for query in spark.streams.active}
    for rollup in reversed(ROLLUPS):
        if rollup.target.name not in running:
            _wait_until_it_reads(start_rollup(spark, folders, every, rollup))
    if PAID_ORDERS.name not in running:
        start_join(spark, folders, every)


def create_layers(folders: Folders) -> None:
    """Create the tables that are not there."""
    for layer in LAYERS:
        layer.table(folders.lake)


def paid_orders(spark: SparkSession, landing: Path) -> DataFrame:
    """Orders joined with their payments. An order has a row for each pair of versions: the highest `version` is right."""
    orders = _events(spark, landing / "orders", ORDERS).alias("o")
    payments = _events(spark, landing / "payments", PAYMENTS).alias("p")
    near = f"p.made_at BETWEEN o.made_at - INTERVAL {APART} AND o.made_at + INTERVAL {APART}"
    return orders.join(payments, F.expr(f"o.order_id = p.order_id AND {near}")).select(
        "o.order_id",
        (F.col("o.version") * 1000 + F.col("p.version")).alias("version"),
        "o.country",
        "o.amount",
        "p.paid",
        "p.paid_at",
        F.expr("date_format(to_utc_timestamp(p.paid_at, current_timezone()), 'yyyy-MM-dd HH:mm')").alias("minute"),
        F.greatest("o.landed_at", "p.landed_at").alias("landed_at"),
        "o.cancelled",
    )


def _events(spark: SparkSession, folder: Path, schema: pa.Schema) -> DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    events = spark.readStream.schema(from_arrow_schema(schema)).parquet(str(folder))
    on_time = F.expr(f"landed_at - made_at <= INTERVAL {ALLOWED} SECONDS")
    return events.where(on_time).withWatermark("made_at", WATERMARK)


def start_join(spark: SparkSession, folders: Folders, trigger: Mapping[str, object]) -> StreamingQuery:
    """Start the query that writes the first layer. `trigger` is Spark's."""
    table = PAID_ORDERS.table(folders.lake)
    sink = hoodie.spark.stream_sink(table.base_path, PAID_ORDERS.write, deletions="cancelled")
    with _same_state_columns(spark):
        return _started(paid_orders(spark, folders.landing), sink, folders, PAID_ORDERS.name, trigger)


@contextmanager
def _same_state_columns(spark: SparkSession) -> Iterator[None]:
    """Queries that start inside keep the columns of their state. If one side of a join is empty in the first batch, Spark infers
    that a column is never null, and refuses the state at the next start, which infers nothing."""
    spark.conf.set(_INFERENCE, "false")
    try:
        yield
    finally:
        spark.conf.unset(_INFERENCE)


def start_rollup(
    spark: SparkSession, folders: Folders, trigger: Mapping[str, object], rollup: Rollup
) -> StreamingQuery:
    """Start a query that writes the sums of a layer."""
    source, target = rollup.source.table(folders.lake), rollup.target.table(folders.lake)
    changes = (
        spark.readStream.format("hoodie")
        .option("hoodie.datasource.query.incremental.format", "cdc")
        .load(source.base_path)
    )
    sink = RollupSink(
        Retraction(rollup.target.keys, rollup.count, rollup.revenue),
        target,
        hoodie.spark.stream_sink(target.base_path, rollup.target.write, deletions=EMPTY),
    )
    return _started(changes, sink, folders, rollup.target.name, trigger)


def _wait_until_it_reads(query: StreamingQuery) -> None:
    """Spark gives up on the Python process of a source after 10 s: not all of them start at once on a busy machine."""
    while query.isActive and query.status["message"].startswith("Initializing"):
        time.sleep(0.1)


def _started(
    rows: DataFrame, sink: Callable[[DataFrame, int], None], folders: Folders, name: str, trigger: Mapping[str, object]
) -> StreamingQuery:
    stream = rows.writeStream.queryName(name).option("checkpointLocation", str(folders.checkpoint(name)))
    return stream.foreachBatch(sink).trigger(**trigger).start()


@dataclass(frozen=True)
class RollupSink:
    """The function of `foreachBatch` that adds a batch of changes to the sums in `target`.

    The table itself is the state: its rows are read, and written with what the batch adds. `sink` knows the batches that are in
    the table, so a batch that comes again after a kill adds nothing.
    """

    retraction: Retraction
    target: HoodieTable
    sink: Callable[[DataFrame, int], None]

    def __call__(self, changes: DataFrame, batch: int) -> None:
        groups = "".join(f"{name} string, " for name in self.retraction.groups)
        images = changes.select("before", "after")
        deltas = images.mapInArrow(_Deltas(self.retraction), f"{groups}{_SUMS}").toArrow()
        deltas = self.retraction.summed(deltas)
        group = self.retraction.groups[0]
        stored = self.target.read(filter=pc.field(group).isin(deltas[group].unique()))
        self.sink(changes.sparkSession.createDataFrame(self.retraction.totals(stored, deltas)), batch)


@dataclass(frozen=True)
class _Deltas:
    """Function of `mapInArrow`: changes -> what they add to their groups."""

    retraction: Retraction

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from self.retraction.deltas(pa.Table.from_batches([batch])).to_batches()
