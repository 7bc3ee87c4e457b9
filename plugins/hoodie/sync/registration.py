"""Table that a catalog should have, as Hudi 1.2.0's HiveSyncTool would register it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys import sync as keys
from hoodie.config.properties.table import TableProperties
from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.schema.meta import with_meta_columns
from hoodie.sync.columns import hive_columns, partition_columns, spark_schema
from hoodie.sync.model import CatalogTable, Column

SNAPSHOT_FORMAT = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
REALTIME_FORMAT = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
_OUTPUT_FORMAT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"
_SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"


@dataclass(frozen=True)
class Entry:
    """One table of the catalog: its name, and whether it reads logs (realtime) or base files only (read-optimised)."""

    name: str
    realtime: bool = False
    read_optimized: bool = False


def database_of(properties: TableProperties, options: Options) -> str:
    """The option, or the table's own database, or `default`; lower case as in Hive."""
    return (options.get(keys.DATABASE) or properties.raw.get("hoodie.database.name") or "default").lower()


def entries(properties: TableProperties, options: Options) -> tuple[Entry, ...]:
    """The tables to register. Raises ConfigError when two of them would share a name."""
    name = (options.get(keys.TABLE) or properties.name).lower()
    if not properties.is_merge_on_read:
        return (Entry(name),)
    strategy = options[keys.STRATEGY]
    if strategy == "RO":
        return (Entry(name, read_optimized=True),)
    if strategy == "RT":
        return (Entry(name, realtime=True),)
    skip, plain = options[keys.SKIP_RO_SUFFIX], options[keys.SNAPSHOT_WITH_TABLE_NAME]
    if skip and plain and options.is_set(keys.SNAPSHOT_WITH_TABLE_NAME):
        raise ConfigError(
            f"Options {keys.SKIP_RO_SUFFIX.name} and {keys.SNAPSHOT_WITH_TABLE_NAME.name} give one name to two tables",
            found=f"{name!r} as read-optimised and as snapshot table",
            fix="keep one of them",
        )
    result = [Entry(name if skip else name + "_ro", read_optimized=True), Entry(name + "_rt", realtime=True)]
    return tuple(result) if skip or not plain else (*result, Entry(name, realtime=True))


def partition_fields(properties: TableProperties, options: Options) -> tuple[str, ...]:
    fields = options.get(keys.PARTITION_FIELDS)
    return properties.partition_fields if fields is None else fields


def desired_table(
    entry: Entry,
    properties: TableProperties,
    schema: pa.Schema,
    options: Options,
    base_path: str,
    *,
    as_datasource: bool,
) -> CatalogTable:
    """The entry in full, but for its partitions and the last commit.

    Raises SchemaConflictError for columns that Hive cannot hold, and when no column is left beside the partition columns.
    """
    fields = partition_fields(properties, options)
    all_columns = schema if options[keys.OMIT_META_FIELDS] else with_meta_columns(schema)
    columns = hive_columns(all_columns, timestamps=options[keys.SUPPORT_TIMESTAMP])
    partitioned = partition_columns(columns, fields)
    partition_names = {column.name for column in partitioned}
    plain = tuple(column for column in columns if column.name not in partition_names)
    if not plain:
        raise SchemaConflictError(
            f"Table {properties.name!r} has no column other than its partition columns",
            fix="sync it with its meta columns",
        )
    table_pairs: keys.Pairs = options[keys.TABLE_PROPERTIES]
    serde_pairs: keys.Pairs = options[keys.SERDE_PROPERTIES]
    own = dict(table_pairs)
    serde = dict(serde_pairs) | {"serialization.format": "1"}
    if as_datasource:
        own |= _spark_properties(all_columns, fields, options)
        serde |= {"path": base_path, "hoodie.query.as.ro.table": str(entry.read_optimized).lower()}
    return CatalogTable(
        database=database_of(properties, options),
        name=entry.name,
        columns=plain,
        partition_columns=partitioned,
        location=base_path,
        input_format=REALTIME_FORMAT if entry.realtime else SNAPSHOT_FORMAT,
        output_format=_OUTPUT_FORMAT,
        serde=_SERDE,
        serde_properties=serde,
        properties=own,
        managed=options[keys.MANAGED],
    )


def _spark_properties(schema: pa.Schema, fields: Sequence[str], options: Options) -> Mapping[str, str]:
    """Properties by which Spark reads the table with the data source `hudi` instead of as a Hive table."""
    text = spark_schema(schema, fields)
    size = options[keys.SCHEMA_PART_LENGTH]
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    properties = {"spark.sql.sources.provider": "hudi", "spark.sql.sources.schema.numParts": str(len(parts))}
    properties |= {f"spark.sql.sources.schema.part.{number}": part for number, part in enumerate(parts)}
    if fields:
        properties["spark.sql.sources.schema.numPartCols"] = str(len(fields))
        properties |= {f"spark.sql.sources.schema.partCol.{number}": field for number, field in enumerate(fields)}
    if options[keys.SPARK_VERSION]:
        properties["spark.sql.create.version"] = options[keys.SPARK_VERSION]
    return properties


def column_types(columns: Sequence[Column]) -> dict[str, str]:
    return {column.name: column.type.replace(" ", "") for column in columns}
