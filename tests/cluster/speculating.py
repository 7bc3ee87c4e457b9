"""A driver whose tasks fail and stall: `python -m tests.cluster.speculating URL MARKERS NOTES KEY=VALUE …`, in its own session.

One task in three fails when it has written its file; another one stalls before it writes until Spark has started a second
attempt beside it, and goes on some seconds later. Each attempt leaves its number in the folder NOTES.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from hoodie import HoodieTable
from hoodie.spark import SparkEngine, session_options

TASKS, ROWS, STALLED = 6, 60, 1
STALL_SECONDS, LONGEST_SECONDS = 8, 90  # from the start of the second attempt on, and until it starts
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.efficiency.enabled": "false",
    "spark.task.maxFailures": "4",
}


def rows(step):
    numbers = range(TASKS * ROWS)
    return pa.table(
        {
            "id": [f"{step}-{n:06}" for n in numbers],
            "part": [f"p{n // ROWS}" for n in numbers],
            "ts": pa.array([step] * len(numbers), pa.int64()),
            "value": pa.array(numbers, pa.int64()),
        }
    )


class Troubled(SparkEngine):
    """Its tasks fail and stall at their first attempt."""

    def __init__(self, spark, notes):
        super().__init__(spark)
        self._notes = notes

    def map_input(self, function, rows):
        notes = self._notes

        def troubled(number, batches):  # defined here, so that it is shipped by value
            from pyspark import TaskContext

            attempt = TaskContext.get().attemptNumber()
            Path(notes, f"{number}-{attempt}").touch()
            if attempt == 0 and number == STALLED:
                deadline = time.monotonic() + LONGEST_SECONDS
                while not Path(notes, f"{number}-1").exists() and time.monotonic() < deadline:
                    time.sleep(0.1)
                time.sleep(STALL_SECONDS)
            result = function(number, batches)
            if attempt == 0 and number % 3 == 2:
                raise OSError(f"task {number} fails when its file is written")
            return result

        return super().map_input(troubled, rows)


def main(url, markers, notes, *settings):
    builder = SparkSession.builder.appName("speculation")
    for key, value in {**session_options(), **dict(each.split("=", 1) for each in settings), **SPECULATION}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    options = {"hoodie.write.markers.type": markers, "hoodie.bulkinsert.shuffle.parallelism": TASKS}
    table = HoodieTable.open(url, engine=Troubled(spark, notes))
    splits = [Split(rows(1).slice(n * ROWS, ROWS)) for n in range(TASKS)]
    table.write(splits, "bulk_insert", options, schema=rows(1).schema)
    time.sleep(STALL_SECONDS)  # attempts that were given up may go on
    spark.stop()


class Split:
    """Rows of one task."""

    files = 0

    def __init__(self, rows):
        self._rows = rows

    @property
    def size(self):
        return self._rows.nbytes

    def batches(self):
        return iter(self._rows.to_batches())

    def narrowed(self, columns):
        return None


if __name__ == "__main__":
    main(*sys.argv[1:])
