"""CREATE TABLE: what it declares, in Hudi's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from hoodie.config import CREATE_KEYS
from hoodie.errors import SqlError
from hoodie.sql.parse import DIALECT, shortened
from hoodie.sql.types import arrow_field

_FORMATS = ("hudi", "org.apache.hudi", "hoodie")
_SHORT = {  # as Hudi's table options call them
    "type": "hoodie.table.type",
    "primarykey": "hoodie.table.recordkey.fields",
    "precombinefield": "hoodie.table.ordering.fields",
    "orderingfields": "hoodie.table.ordering.fields",
    "payloadclass": "hoodie.datasource.write.payload.class",
    "recordmergemode": "hoodie.record.merge.mode",
}
_TYPES = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


@dataclass(frozen=True)
class Declared:
    """A table as it was declared: its columns (None: a query gives them), where it is (None: the catalog says), what it is called
    in a comment, and options: those that make the table, and those of its writes."""

    schema: pa.Schema | None
    location: str | None
    comment: str | None
    create_options: dict[str, str]
    write_options: dict[str, str]


def is_of_hudi(tree: exp.Create) -> bool:
    """True for a CREATE TABLE of a Hudi table: it says so, or names no format and is not temporary."""
    file_format = _properties(tree).find(exp.FileFormatProperty)
    return not is_temporary(tree) if file_format is None else file_format.this.name.lower() in _FORMATS


def is_temporary(tree: exp.Create) -> bool:
    """True for a CREATE of what is for the connection only."""
    return _properties(tree).find(exp.TemporaryProperty) is not None


def declared(tree: exp.Create, name: str) -> Declared:
    """Raises SqlError for what no table of Hudi has."""
    location = comment = None
    partition_columns: list[exp.Expression] = []
    options: dict[str, str] = {}
    _refuse_doubled(tree)
    for expression in _properties(tree).expressions:
        if isinstance(expression, exp.FileFormatProperty):
            continue
        if isinstance(expression, exp.LocationProperty):
            location = expression.this.name
        elif isinstance(expression, exp.SchemaCommentProperty):
            comment = expression.this.name
        elif isinstance(expression, exp.PartitionedByProperty):
            clause = expression.this
            partition_columns = list(clause.expressions) if isinstance(clause, exp.Schema) else [clause]
        elif isinstance(expression, exp.OptionsProperty):
            options |= dict(_pairs(expression.expressions))
        elif type(expression) is exp.Property:
            options |= dict(_pairs([expression]))
        else:
            raise SqlError(
                f"A Hudi table cannot be declared with {expression.sql(dialect=DIALECT)}",
                fix="use columns, USING hudi, TBLPROPERTIES or OPTIONS, PARTITIONED BY, LOCATION, COMMENT",
            )
    fields = [arrow_field(column) for column in tree.this.expressions] if isinstance(tree.this, exp.Schema) else []
    _refuse_computed(partition_columns)
    partition_fields = [arrow_field(column) for column in partition_columns if isinstance(column, exp.ColumnDef)]
    if partition_fields and not fields:
        raise SqlError(
            f"The partition column {partition_fields[0].name} is declared with a type, and the other columns are not",
            fix="leave the type out; CAST the column in the query",
        )
    partitions = [column.name for column in partition_columns]
    lacking = [column for column in partitions if fields and not _has([*fields, *partition_fields], column)]
    if lacking:
        raise SqlError(f"The partition column {lacking[0]} is not among the columns", fix="declare it")
    spellings = {field.name.lower(): field.name for field in [*fields, *partition_fields]}
    partitions = [spellings.get(column.lower(), column) for column in partitions]
    create, write = sorted_out({"hoodie.table.name": name, **options}, partitions)
    return Declared(_ordered(fields, partition_fields, partitions), location, comment, create, write)


def _refuse_computed(partitions: list[exp.Expression]) -> None:
    """Raises SqlError for a partition that is not named by a column alone: its rows would lie in folders of other values."""
    computed = next((column for column in partitions if not isinstance(column, exp.ColumnDef | exp.Identifier)), None)
    if computed is not None:
        raise SqlError(
            f"Partitions of a Hudi table are values of a column, not of {computed.sql(dialect=DIALECT)}",
            fix="name a column alone; for the days of a time add a column of them, or create the table in Python with "
            "hoodie.table.keygenerator.type = TIMESTAMP",
        )


def _refuse_doubled(tree: exp.Create) -> None:
    """Raises SqlError for a clause that is there twice: one of them would not count."""
    kinds = [type(expression) for expression in _properties(tree).expressions if type(expression) is not exp.Property]
    doubled = next((kind for kind in kinds if kinds.count(kind) > 1), None)
    if doubled is not None:
        raise SqlError(
            f"A table is declared with two clauses of one kind: {shortened(tree.sql(dialect=DIALECT))}",
            found=doubled.__name__.removesuffix("Property"),
            fix="leave one of them out",
        )


def _properties(tree: exp.Create) -> exp.Properties:
    return tree.args.get("properties") or exp.Properties(expressions=[])


def _pairs(properties: list[exp.Expression]) -> Iterator[tuple[str, str]]:
    for option in properties:
        name = (
            option.this.name
            if not isinstance(option.this, exp.Dot | exp.Column)
            else option.this.sql().replace('"', "")
        )
        yield name, option.args["value"].name


def _has(fields: list[pa.Field], name: str) -> bool:
    return any(field.name.lower() == name.lower() for field in fields)


def _ordered(fields: list[pa.Field], more: list[pa.Field], partitions: list[str]) -> pa.Schema | None:
    """Partition columns come last, as Spark has them."""
    names = {name.lower() for name in partitions}
    last = sorted(
        (field for field in [*fields, *more] if field.name.lower() in names),
        key=lambda field: [name.lower() for name in partitions].index(field.name.lower()),
    )
    columns = [*(field for field in fields if field.name.lower() not in names), *last]
    doubled = {field.name.lower() for field in columns}
    if len(doubled) < len(columns):
        raise SqlError("A column is declared twice", found=", ".join(field.name for field in columns), fix="once")
    return pa.schema(columns) if fields else None


def sorted_out(options: dict[str, str], partitions: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Options by Hudi's names: those that make a table, and those of its writes."""
    named = {_SHORT.get(name.lower(), name): value for name, value in options.items()}
    if "hoodie.table.type" in named:
        named["hoodie.table.type"] = _TYPES.get(named["hoodie.table.type"].lower(), named["hoodie.table.type"])
    create_names = {name for key in CREATE_KEYS for name in key.names}
    create = {name: value for name, value in named.items() if name in create_names}
    if partitions:
        create["hoodie.table.partition.fields"] = ",".join(partitions)
        create.setdefault("hoodie.datasource.write.hive_style_partitioning", "true")
    return create, {name: value for name, value in named.items() if name not in create}
