"""Columns and conditions that a query needs of tables: Spark's own optimizer is asked, on empty tables of the same columns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from hoodie.spark.conditions import Condition, translated

Build = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Required:
    """Columns and conditions that a query reads of one table."""

    columns: list[str]
    """Columns of the table, in its order, that Spark reads for it."""
    conditions: tuple[Condition, ...] = field(default=())
    """Each row that the query needs passes all of them."""


def required_columns(spark: SparkSession, schema: pa.Schema, build: Build) -> tuple[list[str], list[str]]:
    """The columns that the query that `build` makes of a DataFrame with the columns `schema` reads of it, and the names of its
    own columns; all columns if Spark's plan does not show it: it has sub queries or cached parts. Nothing is run."""
    names = list[str]()

    def built(frames: Sequence[DataFrame]) -> DataFrame:
        frame = build(frames[0])
        names.extend(frame.columns)
        return frame

    (required,) = required_of_each(spark, [schema], built)
    return required.columns, names


def required_of_each(
    spark: SparkSession, schemas: Sequence[pa.Schema], build: Callable[[Sequence[DataFrame]], DataFrame]
) -> list[Required]:
    """The columns that the query that `build` makes of DataFrames with the columns `schemas` reads of each of them."""
    with tempfile.TemporaryDirectory(prefix="hoodie-columns-") as folder:
        places = [Path(folder) / str(number) for number in range(len(schemas))]
        for place in places:
            place.mkdir()
        readers = [spark.read.schema(from_arrow_schema(schema)) for schema in schemas]
        built = build([r.parquet(f"file://{place}") for r, place in zip(readers, places, strict=True)])
        execution: Any = built._jdf.queryExecution()
        scans: dict[str, list[Any]] = {str(place): [] for place in places}
        certain = not execution.optimizedPlan().subqueriesAll().size()
        leaves = execution.sparkPlan().collectLeaves()
        for leaf in map(leaves.apply, range(leaves.size())):
            certain &= leaf.getClass().getSimpleName() != "InMemoryTableScanExec"
            scans.get(_read_by(leaf), []).append(leaf)
        return [
            _required(spark, schema, scans[str(place)]) if certain else Required(list(schema.names))
            for schema, place in zip(schemas, places, strict=True)
        ]


def _required(spark: SparkSession, schema: pa.Schema, leaves: Sequence[Any]) -> Required:
    """A plan that does not show the table may have been folded into another: then everything is needed."""
    needed = frozenset[str]().union(*(leaf.requiredSchema().fieldNames() for leaf in leaves))
    columns = [name for name in schema.names if name in needed] if leaves else list(schema.names)
    once = len(leaves) == 1  # one that is read twice needs the rows of either
    return Required(columns, translated(spark, leaves[0].dataFilters()) if once else ())


def _read_by(leaf: Any) -> str:
    """The folder that a leaf of a plan reads; empty for any leaf that does not read one folder."""
    if leaf.getClass().getSimpleName() != "FileSourceScanExec":
        return ""
    paths = leaf.relation().location().rootPaths()
    return str(paths.apply(0).toUri().getPath()) if paths.size() == 1 else ""
