"""DataFrames in and out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from hoodie.config import given_options
from hoodie.errors import check_argument
from hoodie.read.filters import Filter
from hoodie.read.plan import plan_read, snapshot_columns
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.spark.columns import arrow_schema
from hoodie.spark.engine import SparkEngine
from hoodie.spark.error_boundary import check_session, spark_call
from hoodie.spark.required import required_columns
from hoodie.spark.scan import Scan, plan_scan
from hoodie.storage import BasePath
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.execute import WriteResult

_log = logging.getLogger(__name__)

_LARGE = 128 << 20  # bytes of files that workers read whole: a second and more
_ADVICE = "Spark does not show the workers which columns a query needs: name them (columns=), or use hoodie.spark.query"


@spark_call("writing a DataFrame", changes=True)
def write(
    df: DataFrame, base_path: BasePath, operation: str | None = None, options: Mapping[str, object] | None = None
) -> WriteResult:
    """Write a DataFrame to the table at `base_path`, as HoodieTable.write does.

    Raises what that raises, and EngineError when Spark itself fails, at the DataFrame's own query too. After any error nothing of
    the write is visible.
    """
    check_argument("df", df, "a DataFrame of Spark; HoodieTable.write takes others", DataFrame)
    check_session(df.sparkSession)
    table = HoodieTable.open(base_path, engine=SparkEngine(df.sparkSession))
    return table.write(df, operation, options, schema=arrow_schema(df))


@spark_call("reading")
def read(
    spark: SparkSession,
    base_path: BasePath,
    columns: Sequence[str] | None = None,
    as_of: str | datetime | None = None,
    partitions: Sequence[str] | None = None,
    read_optimized: bool = False,
    options: Mapping[str, object] | None = None,
    filter: Filter | None = None,
) -> DataFrame:
    """A snapshot as a DataFrame, with the meta columns first, if keys are not virtual, unless `columns` names others.

    Slices without logs are scanned by Spark's own vectorised reader: filters and columns of the query reach them. Slices with
    logs, skeletons of a bootstrap, and tables at a URL for which Spark's Hadoop has no file system are read by Python workers on
    Arrow columns: `columns` and those that merging needs. `partitions` are partition paths. A `filter` (an expression of
    `pyarrow.compute` or text, as for `HoodieTable.read`) on partition columns leaves other partitions unlisted; what it asks of
    other columns is asked by the workers, so leave that to the DataFrame's `where`.

    Raises what `HoodieTable.plan_read` raises, and EngineError when Spark itself fails; what fails when the DataFrame is run is
    raised there, by Spark.
    """
    kind = Snapshot(as_of, read_optimized)
    scan = _scan(spark, base_path, Query(columns, filter, kind, partitions, given_options(options), meta_columns=True))
    if columns is None and sum(worker.size for worker in scan.by_workers) > _LARGE:
        _log.warning("%s: %s", base_path, _ADVICE)
    return scan.frame(spark)


@spark_call("planning a query")
def query(
    spark: SparkSession,
    base_path: BasePath,
    build: Callable[[DataFrame], DataFrame],
    as_of: str | datetime | None = None,
    partitions: Sequence[str] | None = None,
    read_optimized: bool = False,
    options: Mapping[str, object] | None = None,
    filter: Filter | None = None,
) -> DataFrame:
    """`build` of the DataFrame that `read` makes of the columns which it needs, without naming them.

    `build` makes a query of a DataFrame and runs nothing: it is called twice, the first time with an empty table of all columns,
    whose plan shows which of them Spark reads. It must name its columns, not count them. Raises as `read` does; errors of `build`
    that are not Spark's stay as they are.
    """
    check_session(spark)
    check_argument("build", build, "a function of a DataFrame", having="__call__")
    state = HoodieTable.open(base_path).state()
    kind = Snapshot(as_of, read_optimized)
    request = Query(None, filter, kind, partitions, given_options(options), meta_columns=True)
    columns_of_table = snapshot_columns(state, request, kind)
    required, result = required_columns(spark, columns_of_table, build)

    def built(columns: Sequence[str]) -> DataFrame:
        return build(_planned(spark, state, replace(request, columns=columns)).frame(spark))

    frame = built(required or columns_of_table.names[:1])  # something has to count the rows
    return frame if frame.columns == result else built(columns_of_table.names)


@spark_call("explaining a read")
def explain(
    spark: SparkSession,
    base_path: BasePath,
    columns: Sequence[str] | None = None,
    as_of: str | datetime | None = None,
    partitions: Sequence[str] | None = None,
    read_optimized: bool = False,
    options: Mapping[str, object] | None = None,
    filter: Filter | None = None,
) -> str:
    """The plan of `read` in words: its files, their readers, and what the filter leaves out."""
    kind = Snapshot(as_of, read_optimized)
    scan = _scan(spark, base_path, Query(columns, filter, kind, partitions, given_options(options), meta_columns=True))
    return scan.explain() + (f"\n{_ADVICE}" if columns is None and scan.by_workers else "")


@spark_call("reading")
def read_incremental(
    spark: SparkSession,
    base_path: BasePath,
    start: str | datetime | None,
    end: str | datetime | None = None,
    columns: Sequence[str] | None = None,
    filter: Filter | None = None,
    *,
    full_scan: bool = False,
    options: Mapping[str, object] | None = None,
) -> DataFrame:
    """The rows that commits completed after `start`, and not after `end`, wrote, as they are at the end of the range.

    As `HoodieTable.read_incremental`, and with its errors, but as a DataFrame with the meta columns first unless `columns`
    names others; name those that you use. Python workers read the slices on Arrow columns and yield the rows of the range
    only. A `filter` is asked there, and of partitions before they are listed (see `hoodie.spark.read`). Without one, and where
    the commits wrote most of the rows of their files, as a bulk insert does, slices without logs are scanned by Spark's own
    vectorised reader, which passes filters of the DataFrame and the range on to the Parquet files.
    """
    kind = Incremental(start, end, full_scan)
    request = Query(columns, filter, kind, options=given_options(options), meta_columns=True)
    return _scan(spark, base_path, request).frame(spark)


def _scan(spark: SparkSession, base_path: BasePath, request: Query) -> Scan:
    check_session(spark)
    return _planned(spark, HoodieTable.open(base_path).state(), request)


def _planned(spark: SparkSession, state: TableState, request: Query) -> Scan:
    return plan_scan(spark, state.storage, plan_read(state, request))


def session_options() -> dict[str, Any]:
    """Spark settings that the library wants: Arrow batches large enough for its kernels, no UTC shift of timestamps, workers that
    are kept and reached without the delays of TCP, and rows of Spark's own scan that go on into the query's generated code,
    though a union with those of the workers follows (off by default in Spark 4.2: it is new there)."""
    return {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.sql.session.timeZone": "UTC",
        "spark.python.worker.reuse": "true",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.codegen.wholeStage.union.enabled": "true",
    }
