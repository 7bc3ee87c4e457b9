"""The stream of both sides: a file for each micro-batch, until there is none left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def first_batch(source: str) -> str:
    """The file of the first batch."""
    return str(min(Path(source, "batches").iterdir()))


def run_stream(spark: Any, source: str, table: str, write: Callable[[Any], Any]) -> dict[str, list[float]]:
    """Run a query whose `write` makes a writer of a stream; returns the seconds of the sink in each batch."""
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "5000")
    columns = spark.read.parquet(first_batch(source)).schema
    rows = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).parquet(f"{source}/batches")
    query = write(rows.writeStream).option("checkpointLocation", f"{table}-checkpoint")
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()
    progress = [entry["durationMs"] for entry in query.recentProgress]
    return {"sink": [entry["addBatch"] / 1000 for entry in progress if "addBatch" in entry]}
