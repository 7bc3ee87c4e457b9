"""Apache Hudi's bundle on the benchmark's steps, in one warm JVM, configured as its documentation advises. METADATA is `false`
for a table without its metadata table.

Runs in the peer's environment: python -m benchmarks.hudi_runner PHASE INPUT TABLE CORES MEMORY KIND JAR METADATA
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pyspark.sql.types import StructType

from benchmarks.hudi_session import hudi_session
from benchmarks.shapes import shape_of
from benchmarks.steps import (
    BOOTSTRAP_MODES,
    CDC,
    CHANGES,
    LOGGED_UPSERT,
    PLAIN,
    READ_WARM_UPS,
    UPSERT,
    by_partition,
    clustering_options,
    measured,
    merge_statement,
    newest_completion,
    second_newest_completion,
    writes,
)
from benchmarks.usage import run


def main(phase: str, source: str, table: str, cores: str, memory: str, kind: str, jar: str, metadata: str) -> None:
    shape = shape_of(source)
    spark = hudi_session(jar, cores, memory)
    read_options = {"hoodie.metadata.enable": metadata}
    spark.conf.set(*next(iter(read_options.items())))  # the procedures take it from the session
    options = {
        "hoodie.table.name": shape.name,
        "hoodie.datasource.write.recordkey.field": ",".join(shape.key),
        "hoodie.datasource.write.partitionpath.field": shape.partition,
        "hoodie.datasource.write.precombine.field": shape.ordering,
        **read_options,
        "hoodie.parquet.compression.codec": "zstd",
        "hoodie.datasource.write.table.type": kind,
        "hoodie.compact.inline": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.bulkinsert.shuffle.parallelism": cores,
        "hoodie.upsert.shuffle.parallelism": cores,
    }

    def write(paths: list[str], operation: str, mode: str, target: str = table, **more: str) -> None:
        frame = spark.read.parquet(*paths)
        chosen = {**options, "hoodie.datasource.write.operation": operation, **more}
        frame.write.format("hudi").options(**chosen).mode(mode).save(target)

    def aggregate() -> list[list[object]]:
        return by_partition(spark.read.format("hudi").options(**read_options).load(table), shape)

    def changes(since: str) -> list[list[object]]:
        query = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": since}
        return by_partition(spark.read.format("hudi").options(**read_options, **query).load(table), shape)

    def changes_by_kind(target: str, since: str) -> list[list[object]]:
        query = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.query.incremental.format": "cdc",
            "hoodie.datasource.read.begin.instanttime": since,
        }
        changes = spark.read.format("hudi").options(**read_options, **query).load(target)
        # As ours: every image is made, and no row is collected.
        counts = changes.groupBy("op").agg({"before": "max", "after": "max", "*": "count"}).orderBy("op").collect()
        return [[row["op"], row["count(1)"]] for row in counts]

    def clean() -> None:
        spark.sql(f"create table if not exists measured using hudi location '{table}'")
        spark.sql(
            "call run_clean(table => 'measured', clean_policy => 'KEEP_LATEST_COMMITS', retain_commits => 1)"
        ).collect()

    def compact() -> None:
        spark.sql(f"create table if not exists measured using hudi location '{table}'")
        due = "hoodie.compact.inline.max.delta.commits=1,hoodie.parquet.compression.codec=zstd"
        spark.sql(f"call run_compaction(op => 'scheduleAndExecute', table => 'measured', options => '{due}')").collect()

    def cluster(target: str) -> None:
        options = ",".join(f"{name}={value}" for name, value in clustering_options(shape).items())
        result = spark.sql(
            f"call run_clustering(path => '{target}', op => 'scheduleAndExecute', options => '{options}')"
        )
        assert [row["state"] for row in result.collect()] == ["COMPLETED"]

    def merge(paths: list[str], target: str) -> None:
        spark.sql("drop table if exists measured")
        spark.sql(f"create table measured using hudi location '{target}'")
        spark.read.parquet(*paths).createOrReplaceTempView("changes")
        spark.sql(merge_statement("measured", "changes", shape))

    def drop_first_partition() -> None:
        first = by_partition(spark.read.parquet(*base), shape)[0][0]
        chosen = {**options, "hoodie.datasource.write.operation": "delete_partition"}
        chosen["hoodie.datasource.write.partitions.to.delete"] = str(first)
        empty = spark.read.parquet(*base).limit(0)
        empty.write.format("hudi").options(**chosen).mode("append").save(table)

    def bootstrap(mode: str, plain: str, target: str) -> None:
        selector = "MetadataOnly" if mode == "METADATA_ONLY" else "FullRecord"
        chosen = {
            **options,
            "hoodie.datasource.write.operation": "bootstrap",
            "hoodie.datasource.write.hive_style_partitioning": "true",
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator",
            "hoodie.bootstrap.base.path": plain,
            "hoodie.bootstrap.mode.selector": f"org.apache.hudi.client.bootstrap.selector.{selector}BootstrapModeSelector",
            "hoodie.bootstrap.full.input.provider": "org.apache.hudi.bootstrap.SparkParquetBootstrapDataProvider",
            "hoodie.bootstrap.parallelism": cores,
            "hoodie.metadata.index.column.stats.enable": "false",  # else: "not supported with bootstrap operation"
        }
        spark.createDataFrame([], StructType([])).write.format("hudi").options(**chosen).mode("overwrite").save(target)

    (base, _), *upserts = writes(source, shape)
    # A first use pays for loading classes and compiling (here) or for starting Python workers (there): no step should.
    if phase == "write":
        small, other = f"{source}/warm-up.parquet", f"{table}-warm-up"
        write([small], "bulk_insert", "overwrite", other)
        write([small], "upsert", "append", other)
        with measured(Path(table)) as steps:
            steps.run("bulk_insert", lambda: write(base, "bulk_insert", "overwrite"))
            for number, (paths, operation) in enumerate(upserts):
                steps.run(f"upsert {number + 1}", partial(write, paths, operation, "append"))
            if kind == "COPY_ON_WRITE":
                steps.run("clean", clean)
    elif phase == "changes":
        warm, logged = f"{table}-warm-up", f"{table}-logged"
        write([f"{source}/warm-up.parquet"], "bulk_insert", "overwrite", warm, **CDC)
        write([f"{source}/warm-up.parquet"], "upsert", "append", warm, **CDC)
        write(base, "bulk_insert", "overwrite")
        write(base, "bulk_insert", "overwrite", logged, **CDC)
        (changed, _), since = upserts[0], newest_completion(Path(logged))
        with measured(Path(logged)) as steps:
            steps.run(UPSERT, lambda: write(changed, "upsert", "append"))
            steps.run(LOGGED_UPSERT, lambda: write(changed, "upsert", "append", logged, **CDC))
            steps.query(CHANGES, lambda: changes_by_kind(logged, since))
    elif phase == "compact":
        with measured(Path(table)) as steps:
            steps.run("compaction", compact)
    elif phase == "cluster":
        write([f"{source}/warm-up.parquet"], "bulk_insert", "overwrite", f"{table}-warm-up")
        cluster(f"{table}-warm-up")
        write(base, "bulk_insert", "overwrite")
        with measured(Path(table)) as steps:
            steps.run("clustering", partial(cluster, table))
    elif phase == "sql":
        small, other = f"{source}/warm-up.parquet", f"{table}-warm-up"
        write([small], "bulk_insert", "overwrite", other)
        merge([small], other)
        write(base, "bulk_insert", "overwrite")
        with measured(Path(table)) as steps:
            for number, (paths, _) in enumerate(upserts):
                steps.run(f"MERGE INTO {number + 1}", partial(merge, paths, table))
            steps.run("delete_partition", drop_first_partition)
    elif phase == "bootstrap":
        for mode in BOOTSTRAP_MODES:
            bootstrap(mode, f"{source}/plain-warm-up", f"{table}-warm-up/{mode}")
        with measured(Path(table)) as steps:
            for mode, suffix in BOOTSTRAP_MODES.items():
                steps.run(f"bootstrap {mode}", partial(bootstrap, mode, f"{source}/plain", table + suffix))
    else:
        for _ in range(READ_WARM_UPS):
            by_partition(spark.read.parquet(*base), shape)
        with measured(Path(table)) as steps:
            steps.query("snapshot aggregate", aggregate)
            if phase == "read":
                since = second_newest_completion(Path(table))
                steps.repeat("incremental aggregate", lambda: changes(since))
            steps.repeat(PLAIN, lambda: by_partition(spark.read.parquet(*base), shape))
    if (Path(table) / ".hoodie" / "metadata").exists() != (metadata == "true"):
        raise SystemExit(f"{table}: hoodie.metadata.enable={metadata} was not heeded")
    spark.stop()


if __name__ == "__main__":
    run(main, __doc__)
