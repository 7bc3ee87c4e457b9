"""Which columns of a table a query needs: Spark's own optimizer is asked, on an empty table of the same columns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

Build = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Required:
    """What a query reads and gives."""

    columns: list[str]  # columns of the table, in its order, that Spark reads for it
    result: list[str]  # names of its own columns


def required_columns(spark: SparkSession, schema: pa.Schema, build: Build) -> Required:
    """What the query which `build` makes of a DataFrame with the columns `schema` reads of it; all columns where Spark's plan
    does not tell: it has sub queries or cached parts. Nothing is run."""
    with tempfile.TemporaryDirectory(prefix="hoodie-columns-") as folder:
        built = build(spark.read.schema(from_arrow_schema(schema)).parquet(f"file://{folder}"))
        execution: Any = built._jdf.queryExecution()
        scans: list[frozenset[str]] = []
        told = not execution.optimizedPlan().subqueriesAll().size()
        leaves = execution.sparkPlan().collectLeaves()
        for leaf in map(leaves.apply, range(leaves.size())):
            told &= leaf.getClass().getSimpleName() != "InMemoryTableScanExec"
            names = _read_of(leaf, folder)
            if names is not None:
                scans.append(names)
    needed = frozenset[str]().union(*scans) if told and scans else frozenset(schema.names)
    return Required([name for name in schema.names if name in needed], built.columns)


def _read_of(leaf: Any, folder: str) -> frozenset[str] | None:
    """The columns that a leaf of a plan reads of the files in `folder`; None for any other leaf."""
    if leaf.getClass().getSimpleName() != "FileSourceScanExec":
        return None
    paths = leaf.relation().location().rootPaths()
    if not any(paths.apply(number).toUri().getPath() == folder for number in range(paths.size())):
        return None
    return frozenset(leaf.requiredSchema().fieldNames())
