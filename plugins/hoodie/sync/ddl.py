"""The actions as HiveQL, and what HiveServer2 answers to DESCRIBE as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.sync.catalog import batches
from hoodie.sync.extractors import NULL_PARTITION
from hoodie.sync.model import (
    Action,
    AddColumns,
    AddPartitions,
    CatalogPartition,
    CatalogTable,
    Column,
    CreateDatabase,
    CreateTable,
    DropPartitions,
    MovePartitions,
    ReplaceColumns,
    SetProperties,
    SetSerdeProperties,
)

Row = Sequence[str | None]


def statements(action: Action, batch: int, *, spark: bool) -> Iterator[str]:
    """The statements of an action; `spark`: in the dialect of Spark's Thrift Server, which lacks some of Hive's.

    Raises SchemaConflictError for a change of columns that Spark cannot make, ConfigError for a partition that Hive cannot name.
    """
    if isinstance(action, AddPartitions | MovePartitions | DropPartitions) and not spark:
        _check_names(action)
    match action:
        case CreateDatabase(database):
            yield f"CREATE DATABASE IF NOT EXISTS {identifier(database)}"
        case CreateTable(table):
            yield _create(table)
        case AddColumns(table, columns):
            yield f"ALTER TABLE {name(table)} ADD COLUMNS ({_columns(columns)}){_cascade(table, spark)}"
        case ReplaceColumns(table, columns, why):
            if spark:
                raise SchemaConflictError(
                    f"Spark's Thrift Server cannot change the columns of {table.full_name}",
                    found=why,
                    fix="sync with hoodie.datasource.hive_sync.mode=hms, or drop the table there (its files stay) and sync again",
                )
            yield f"ALTER TABLE {name(table)} REPLACE COLUMNS ({_columns(columns)}){_cascade(table, spark)}"
        case SetProperties(table, properties):
            yield f"ALTER TABLE {name(table)} SET TBLPROPERTIES ({_pairs(properties)})"
        case SetSerdeProperties(table, properties):
            yield f"ALTER TABLE {name(table)} SET SERDEPROPERTIES ({_pairs(properties)})"
        case AddPartitions(table, partitions):
            for some in batches(partitions, batch):
                added = " ".join(
                    f"{_partition(table, partition)} LOCATION {literal(partition.location)}" for partition in some
                )
                yield f"ALTER TABLE {name(table)} ADD IF NOT EXISTS {added}"
        case MovePartitions(table, partitions):
            for partition in partitions:
                yield f"ALTER TABLE {name(table)} {_partition(table, partition)} SET LOCATION {literal(partition.location)}"
        case DropPartitions(table, partitions):
            for some in batches(partitions, batch):
                dropped = ", ".join(_partition(table, partition) for partition in some)
                yield f"ALTER TABLE {name(table)} DROP IF EXISTS {dropped}"


def _check_names(action: AddPartitions | MovePartitions | DropPartitions) -> None:
    """Hive's SQL does not take the value that stands for null (its error 10111); its metastore does."""
    null = [partition for partition in action.partitions if NULL_PARTITION in partition.values]
    if null:
        raise ConfigError(
            f"HiveServer2 cannot add or change the partition of nulls of {action.table.full_name}",
            found="/".join(null[0].values),
            fix="sync with hoodie.datasource.hive_sync.mode=hms",
        )


def identifier(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def name(table: CatalogTable) -> str:
    return f"{identifier(table.database)}.{identifier(table.name)}"


def describe_partition(table: CatalogTable, values: tuple[str, ...]) -> str:
    """The statement that shows a partition's folder."""
    return f"DESCRIBE FORMATTED {name(table)} {_partition(table, CatalogPartition(values, ''))}"


def parse_partition_name(text: str) -> tuple[str, ...]:
    """The values of `part=a/kind=b`, as SHOW PARTITIONS names it; Spark with Hudi's catalog names plain folders `a/b`."""
    return tuple(unquote(step.partition("=")[2] if "=" in step else step) for step in text.split("/"))


def parse_table(database: str, table: str, rows: Sequence[Row], properties: Mapping[str, str]) -> CatalogTable:
    """A table from the rows of DESCRIBE FORMATTED, as Hive and as Spark write them, and its properties."""
    cells = [tuple((cell or "").strip() for cell in (*row, None, None)[:3]) for row in rows]
    columns: list[Column] = []
    partitioned: list[Column] = []
    details: dict[str, str] = {}
    serde: dict[str, str] = {}
    section = "columns"
    for first, second, third in cells:
        if first.startswith("#"):
            section = _section(first, section)
        elif section == "details" and not first and second:
            serde[second] = third  # Hive: a row each below "Storage Desc Params:"
        elif not first:
            continue
        elif section == "columns":
            columns.append(Column(first.lower(), second))
        elif section == "partitions":
            partitioned.append(Column(first.lower(), second))
        else:
            details.setdefault(first.rstrip(":"), second)
    if "Storage Properties" in details:  # Spark: [a=b, c=d]
        entries = details["Storage Properties"].strip("[]").split(", ")
        serde = {key: value for key, _, value in (entry.partition("=") for entry in entries)}
    partition_names = {column.name for column in partitioned}  # Spark names them among the columns too
    return CatalogTable(
        database=database,
        name=table,
        columns=tuple(column for column in columns if column.name not in partition_names),
        partition_columns=tuple(partitioned),
        location=details.get("Location", ""),
        input_format=details.get("InputFormat", ""),
        output_format=details.get("OutputFormat", ""),
        serde=details.get("SerDe Library", details.get("Serde Library", "")),
        serde_properties=serde,
        properties=dict(properties),
        managed=details.get("Table Type", details.get("Type", "")).startswith("MANAGED"),
    )


def parse_location(rows: Sequence[Row]) -> str:
    """The folder in the rows of `describe_partition`: the first one named, which is the partition's."""
    result = [str(row[1] or "").strip() for row in rows if str(row[0] or "").strip().rstrip(":") == "Location"]
    return result[0] if result else ""


def _section(heading: str, current: str) -> str:
    if heading.startswith("# Partition Information"):
        return "partitions"
    if heading.startswith("# col_name"):
        return current
    return "details"


def _create(table: CatalogTable) -> str:
    external = "" if table.managed else "EXTERNAL "
    partitioning = f" PARTITIONED BY ({_columns(table.partition_columns)})" if table.partition_columns else ""
    properties = f" TBLPROPERTIES ({_pairs(table.properties)})" if table.properties else ""
    return (
        f"CREATE {external}TABLE IF NOT EXISTS {name(table)} ({_columns(table.columns)}){partitioning} "
        f"ROW FORMAT SERDE {literal(table.serde)} WITH SERDEPROPERTIES ({_pairs(table.serde_properties)}) "
        f"STORED AS INPUTFORMAT {literal(table.input_format)} OUTPUTFORMAT {literal(table.output_format)} "
        f"LOCATION {literal(table.location)}{properties}"
    )


def _cascade(table: CatalogTable, spark: bool) -> str:
    """Spark keeps one schema for all partitions and does not know the word."""
    return " CASCADE" if table.partition_columns and not spark else ""


def _columns(columns: Sequence[Column]) -> str:
    return ", ".join(f"{identifier(column.name)} {column.type}" for column in columns)


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(key)}={literal(value)}" for key, value in sorted(properties.items()))


def _partition(table: CatalogTable, partition: CatalogPartition) -> str:
    pairs = zip(table.partition_columns, partition.values, strict=True)
    return "PARTITION (" + ", ".join(f"{identifier(column.name)}={literal(value)}" for column, value in pairs) + ")"
