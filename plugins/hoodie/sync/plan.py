"""The difference between what a catalog holds and what it should hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hoodie.errors import SchemaConflictError, TableExistsError
from hoodie.sync.changes import PartitionChanges
from hoodie.sync.model import (
    Action,
    AddColumns,
    AddPartitions,
    CatalogPartition,
    CatalogTable,
    CreateTable,
    DropPartitions,
    MovePartitions,
    ReplaceColumns,
    SetProperties,
    SetSerdeProperties,
)
from hoodie.sync.registration import REALTIME_FORMAT, column_types

_WIDER = frozenset({("int", "bigint"), ("float", "double")})
_REMEDY = "drop the table in the catalog (its files stay: it is external) and sync again"


@dataclass(frozen=True)
class TableDifference:
    """One table: how it should be, how it is (None: not there), and its partitions as the catalog has them."""

    desired: CatalogTable
    current: CatalogTable | None
    changes: PartitionChanges
    values: Mapping[str, tuple[str, ...]]  # partition path -> values
    # All partitions when the changes are full, otherwise those that changed.
    catalog_partitions: Sequence[CatalogPartition]


def table_actions(difference: TableDifference) -> Iterator[Action]:
    """Actions that make the table of the catalog equal to the wanted one, in order.

    Raises TableExistsError for a table that is not this one, and SchemaConflictError for a change of columns that Hive
    cannot take.
    """
    desired, current = difference.desired, difference.current
    if current is None:
        yield CreateTable(desired)
    else:
        check_same_table(desired, current)
        yield from _column_actions(desired, current)
        if news := _news(desired.serde_properties, current.serde_properties):
            yield SetSerdeProperties(desired, news)
        if changed := _news(desired.properties, current.properties):
            yield SetProperties(desired, changed)
    if desired.partition_columns:
        yield from _partition_actions(difference)


def check_same_table(desired: CatalogTable, current: CatalogTable) -> None:
    """Raises TableExistsError when the table of that name has other files, another kind or other partition columns."""
    name = desired.full_name
    if same_place(current.location) != same_place(desired.location):
        raise TableExistsError(
            f"The catalog has another table {name}",
            found=f"its files are in {current.location or '(nowhere)'}, not in {desired.location}",
            fix="choose another name with hoodie.datasource.hive_sync.table, or drop that table if it is not needed; a base "
            "path that the catalog's servers see elsewhere is hoodie.datasource.meta.sync.base.path",
        )
    if (
        "hudi" not in current.input_format
        and current.properties.get("spark.sql.sources.provider", "").lower() != "hudi"
    ):
        raise TableExistsError(
            f"The catalog's table {name} is not a Hudi table",
            found=f"input format {current.input_format or '(none)'}",
            fix="drop it if it is not needed, or choose another name with hoodie.datasource.hive_sync.table",
        )
    formats = {desired.input_format, current.input_format}
    if len(formats) > 1 and REALTIME_FORMAT in formats:
        raise TableExistsError(
            f"The catalog's table {name} is of another kind",
            found=f"input format {current.input_format} instead of {desired.input_format}: one reads logs, the other does not",
            fix=_REMEDY,
        )
    current_columns, desired_columns = [
        [column.name for column in table.partition_columns] for table in (current, desired)
    ]
    if current_columns != desired_columns:
        raise TableExistsError(
            f"The catalog's table {name} has other partition columns",
            found=f"{', '.join(current_columns) or '(none)'} instead of {', '.join(desired_columns) or '(none)'}",
            fix=_REMEDY,
        )


def same_place(location: str) -> str:
    """A location in a form in which the spellings of one place are equal: `file:/x`, `file:///x` and `/x`; s3a and s3; and, as
    Hadoop writes paths without a host, `local:/x` and `local:///x`."""
    plain = re.sub(r"^file:/*", "/", location)
    plain = re.sub(r"^s3[an]://", "s3://", plain)
    plain = re.sub(r"^(\w+):///+", r"\1:/", plain)
    return plain.rstrip("/")


def _column_actions(desired: CatalogTable, current: CatalogTable) -> Iterator[Action]:
    is_partition = column_types(desired.partition_columns)
    _check_types(desired, column_types(current.partition_columns), is_partition, frozenset())
    have, want = column_types(current.columns), column_types(desired.columns)
    _check_types(desired, have, want, _WIDER)
    added = tuple(column for column in desired.columns if column.name not in have)
    dropped = [column.name for column in current.columns if column.name not in want]
    changed = [name for name, kind in have.items() if want.get(name, kind) != kind]
    if not dropped and not changed:
        if added:
            yield AddColumns(desired, added)
        return
    # Hive compares types position by position: columns stay where they are, new ones come behind.
    types = {column.name: column for column in desired.columns}
    kept_columns = tuple(types[column.name] for column in current.columns if column.name in types)
    why = "; ".join(
        [f"{name} {have[name]} -> {want[name]}" for name in changed]
        + [f"drop {name}" for name in dropped]
        + [f"add {column.name} {column.type}" for column in added]
    )
    first_dropped = next((at for at, column in enumerate(current.columns) if column.name not in types), 0)
    if first_dropped:
        # Columns behind a dropped one move up, to a position at which Hive may not take their type: shortened first, the table
        # has no types there to compare with.
        yield ReplaceColumns(desired, kept_columns[:first_dropped], why)
    yield ReplaceColumns(desired, (*kept_columns, *added), why)


def _check_types(
    table: CatalogTable, have: Mapping[str, str], want: Mapping[str, str], allowed: frozenset[tuple[str, str]]
) -> None:
    for name, kind in have.items():
        desired_type = want.get(name, kind)
        structs = bool(allowed) and "struct<" in kind and "struct<" in desired_type
        if desired_type != kind and (kind, desired_type) not in allowed and not structs:
            raise SchemaConflictError(
                f"Column {name!r} of the catalog's table {table.full_name} cannot change its type",
                found=f"{kind} in the catalog, {desired_type} in the table; Hive takes "
                + (", ".join(f"{old} -> {new}" for old, new in sorted(allowed)) or "no change of a partition column"),
                fix=_REMEDY,
            )


def _partition_actions(difference: TableDifference) -> Iterator[Action]:
    desired, changes = difference.desired, difference.changes
    by_values = {partition.values: partition for partition in difference.catalog_partitions}
    present = {
        difference.values[path]: CatalogPartition(difference.values[path], f"{desired.location}/{path}")
        for path in changes.present
    }
    new = tuple(partition for values, partition in present.items() if values not in by_values)
    moved = tuple(
        partition
        for values, partition in present.items()
        if values in by_values and same_place(by_values[values].location) != same_place(partition.location)
    )
    inside = same_place(desired.location) + "/"
    if changes.full:
        # Partitions that others added from other places are left alone.
        to_drop = [
            part
            for part in by_values.values()
            if part.values not in present and same_place(part.location).startswith(inside)
        ]
    else:
        removed = (difference.values[path] for path in changes.dropped)
        to_drop = [by_values[values] for values in removed if values in by_values and values not in present]
    if new:
        yield AddPartitions(desired, new)
    if moved:
        yield MovePartitions(desired, moved)
    if to_drop:
        yield DropPartitions(desired, tuple(to_drop))


def _news(desired: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in desired.items() if current.get(key) != value}
