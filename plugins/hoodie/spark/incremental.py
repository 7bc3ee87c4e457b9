"""Incremental reads as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col

from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.read.incremental import IncrementalRange, incremental_range
from hoodie.read.plan import plan_read
from hoodie.schema import with_meta_columns
from hoodie.spark.scan import plan_scan
from hoodie.table import HoodieTable
from hoodie.view.table_schema import table_schema

_MOST = 0.5  # handing all rows of a file to the JVM takes longer than decoding them there


def read_incremental(
    spark: SparkSession,
    base_path: str,
    start: str | datetime | None,
    end: str | datetime | None = None,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,
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
    state = HoodieTable.open(base_path).state()
    wanted = incremental_range(state, start, end, full_scan=full_scan)
    state = state.before(wanted.later)
    known = with_meta_columns(table_schema(state, wanted.as_of) or pa.schema([]))
    names = list(known.names if columns is None else columns)
    written = wanted.rows() if filter is None else wanted.rows() & filter
    plan = plan_read(state, names, written, wanted.as_of, wanted.partitions, options=options)
    rows = _rows(wanted) if filter is None and wanted.share > _MOST else None
    return plan_scan(spark, state.storage, plan, rows).frame(spark)


def _rows(wanted: IncrementalRange) -> Column:
    """`IncrementalRange.rows` for Spark."""
    time = col(COMMIT_TIME)
    if wanted.commits is not None:
        return time.isin(list(wanted.commits))
    return time > wanted.after if wanted.until is None else (time > wanted.after) & (time <= wanted.until)
