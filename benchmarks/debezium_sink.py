"""Hudi's streaming sink on the files of Debezium's engine.

Runs in the peer's environment: python -m benchmarks.debezium_sink TABLE KIND CORES MEMORY JAR METADATA
Each line of standard input is a folder of files and an operation: a stream of that folder begins. The next line ends it after
all files that are there. A folder and `rows` write the table's rows as Parquet, by Hudi's own reader.

With `apart` before the operation the files of each table are in a folder of the table's name, and so are the tables. One stream
after the other is begun and ended on each core.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.hudi_session import hudi_session
from benchmarks.memory import PeakMemory, processor_seconds
from benchmarks.program import reply
from benchmarks.usage import run

EVENT = {
    "id": "bigint",
    "customer": "int",
    "status": "string",
    "amount": "string",
    "price": "double",
    "note": "string",
    "created": "bigint",
    "changed": "string",
    "day": "int",
    "flag": "int",
    "__source_file": "string",
    "__source_pos": "bigint",
    "__deleted": "string",
}
"""Debezium's fields, as JSON has them."""
COLUMNS = (
    "id",
    "customer",
    "status",
    "cast(amount as decimal(12, 2)) as amount",
    "price",
    "note",
    "timestamp_micros(created) as created",
    "cast(changed as timestamp) as changed",
    "date_from_unix_date(day) as day",
    "flag",
    "cast(substring_index(__source_file, '.', -1) as bigint) * 1099511627776 + __source_pos as position",
    "__deleted = 'true' as _hoodie_is_deleted",
)
"""The rows of the Hudi table. The change of a row that is further in the binlog wins."""
WARM = 1000  # rows of the streams before the clock starts


def sink_options(kind: str, cores: str, metadata: str) -> dict[str, str]:
    """By Hudi's documentation. Services are off, as on our side."""
    return {
        "hoodie.table.name": "bench",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.precombine.field": "position",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.metadata.enable": metadata,
        "hoodie.parquet.compression.codec": "zstd",
        "hoodie.datasource.compaction.async.enable": "false",
        "hoodie.compact.inline": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.bulkinsert.shuffle.parallelism": cores,
        "hoodie.upsert.shuffle.parallelism": cores,
    }


def warm_event(number: int) -> dict[str, object]:
    """An event as Debezium's engine writes it."""
    return {
        "id": number,
        "customer": number,
        "status": "open",
        "amount": f"{number}.50",
        "price": number / 3,
        "note": "of a row",
        "created": number,
        "changed": "2021-01-01T00:00:00Z",
        "day": number,
        "flag": 1,
        "__source_file": "bin.000001",
        "__source_pos": number,
        "__deleted": "false",
    }


class Sink:
    """Streams of folders into one table."""

    def __init__(self, spark: Any, table: str, options: Mapping[str, str]) -> None:
        self._spark, self._table, self._options = spark, table, options

    def begin(self, folder: str, operation: str, name: str = "") -> Any:
        """Start a stream of the files of a folder, those that come later included, into the table of this name."""
        schema = ", ".join(f"{name} {kind}" for name, kind in EVENT.items())
        rows = self._spark.readStream.schema(schema).option("mode", "FAILFAST").json(folder).selectExpr(*COLUMNS)
        writer = rows.writeStream.format("hudi").options(**self._options).outputMode("append")
        path = f"{self._table}/{name}" if name else self._table
        writer = writer.option("hoodie.datasource.write.operation", operation).option("path", path)
        # Without a name of its own a second stream's batches count as those of the first, and the sink skips them in silence.
        writer = writer.option(
            "hoodie.datasource.write.streaming.checkpoint.identifier", "-".join(Path(folder).parts[-2:])
        )
        return writer.option("checkpointLocation", f"{folder}-checkpoint").start()

    def land(self, folder: str, operation: str, cores: int) -> None:
        """Write the files of each folder in `folder` into the table of its name."""

        def write(name: str) -> None:
            query = self.begin(f"{folder}/{name}", operation, name)
            query.processAllAvailable()
            query.stop()

        names = sorted(path.name for path in Path(folder).iterdir() if not path.name.endswith("-checkpoint"))
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(write, names))

    def read(self, name: str) -> Any:
        """The rows of a table, with the columns that the server has."""
        names = [column.split(" as ")[-1] for column in COLUMNS[:10]]
        return self._spark.read.format("hudi").load(f"{self._table}/{name}" if name else self._table).select(*names)


def _warm_up(spark: Any, table: str, options: Mapping[str, str]) -> None:
    sink = Sink(spark, f"{table}-warm-up", options)
    for operation in ("bulk_insert", "upsert", "upsert"):
        folder = Path(f"{table}-warm-{operation}")
        folder.mkdir(exist_ok=True)
        lines = (json.dumps(warm_event(number)) for number in range(WARM))
        (folder / f"{len(list(folder.iterdir()))}.json").write_text("\n".join(lines))
        query = sink.begin(str(folder), operation)
        query.processAllAvailable()
        query.stop()


def main(table: str, kind: str, cores: str, memory: str, jar: str, metadata: str) -> None:
    spark = hudi_session(jar, cores, memory)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("hoodie.metadata.enable", metadata)
    options = sink_options(kind, cores, metadata)
    _warm_up(spark, table, options)
    sink = Sink(spark, table, options)
    reply(pid=os.getpid())
    for line in sys.stdin:
        argument, *apart, operation = line.split()
        if operation == "rows":
            for name in [path.name for path in Path(table).iterdir()] if apart else [""]:
                sink.read(name).write.parquet(f"{argument}/{name}")
            reply()
            continue
        before = processor_seconds()
        if apart:
            with PeakMemory() as peak:
                sink.land(argument, operation, int(cores))
            reply(processor=processor_seconds() - before, peak_memory=peak.bytes)
            continue
        query = sink.begin(argument, operation)
        with PeakMemory() as peak:
            reply()
            sys.stdin.readline()
            query.processAllAvailable()
            reply(processor=processor_seconds() - before, peak_memory=peak.bytes)
        query.stop()
    spark.stop()


if __name__ == "__main__":
    run(main, __doc__)
