"""The Spark application of the demo: the three queries, until SIGTERM ends them."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from hudi_services.demo.stream.layers import BY_COUNTRY
from hudi_services.demo.stream.queries import Folders, start_queries
from hudi_services.runtime.spark.session import open_session
from hudi_services.runtime.terminal import echo

READY = "The queries run"
"""The first line of the application."""

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",  # streams with state cannot have it, and warn
    "spark.log.level": "ERROR",
}
_AGAIN = 3  # starts after failures, such as a Python process that Spark awaits for 10 s on a busy machine
_QUERY_EVERY = 15  # seconds between Spark's own looks at the last layer


def run_application(home: Path, cores: int) -> None:
    """Run the queries. One that fails starts again, up to `_AGAIN` times. Raises StreamingQueryException after that."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: ended.set())
    spark = open_session(f"local[{cores}]", "streaming-etl", SETTINGS)
    folders = Folders(home)
    start_queries(spark, folders)
    echo(READY)
    seconds = failures = 0
    while not ended.is_set():
        try:
            spark.streams.awaitAnyTermination(1)
        except StreamingQueryException:
            failures += 1
            if failures > _AGAIN:
                raise
            spark.streams.resetTerminated()
            start_queries(spark, folders)
        seconds += 1
        if seconds % _QUERY_EVERY == 0:
            _query(spark, str(folders.lake / BY_COUNTRY.name))
    for query in spark.streams.active:
        query.stop()
    spark.stop()


def line_of(engine: str, orders: int | None, revenue: int | None, seconds: float) -> str:
    """Return a line on what an engine reads of the last layer."""
    return f"{engine} reads {orders or 0:,} paid orders, {(revenue or 0) / 100:,.2f} in all ({seconds:.2f} s)"


def _query(spark: SparkSession, path: str) -> None:
    start = time.monotonic()
    sums = spark.read.format("hoodie").load(path).selectExpr("sum(orders)", "sum(revenue)").first()
    assert sums is not None
    echo(line_of("Spark", sums[0], sums[1], time.monotonic() - start))
