"""State of a table in a catalog, and the changes that a sync may make to it. Plain values: planned, shown, then applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hoodie.display import Shown, Shows, counted

LAST_COMMIT = "last_commit_time_sync"
LAST_COMPLETION = "last_commit_completion_time_sync"
EXTRACTOR_PROPERTY = "hoodie.table.partition_extractor_class"


@dataclass(frozen=True)
class Column:
    """A column with its Hive type, both in lower case as the metastore keeps them."""

    name: str
    type: str


@dataclass(frozen=True)
class CatalogTable:
    """A table of the catalog. `columns` are without the partition columns, as in Hive."""

    database: str
    name: str
    columns: tuple[Column, ...]
    partition_columns: tuple[Column, ...]
    location: str
    input_format: str
    output_format: str
    serde: str
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    managed: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}"


@dataclass(frozen=True)
class CatalogPartition:
    """One partition: its values, one for each partition column, and the folder that it names."""

    values: tuple[str, ...]
    location: str


@dataclass(frozen=True)
class CreateDatabase:
    database: str

    def __str__(self) -> str:
        return f"create database {self.database}"


@dataclass(frozen=True)
class CreateTable:
    table: CatalogTable

    def __str__(self) -> str:
        keys = ", ".join(f"{column.name} {column.type}" for column in self.table.partition_columns)
        kind = "managed" if self.table.managed else "external"
        partitioning = f" partitioned by {keys}" if keys else ""
        columns = counted(len(self.table.columns), "column")
        return f"create {kind} table {self.table.full_name}: {columns}{partitioning} at {self.table.location}"


@dataclass(frozen=True)
class AddColumns:
    """`columns` come after the existing ones."""

    table: CatalogTable
    columns: tuple[Column, ...]

    def __str__(self) -> str:
        return f"add columns to {self.table.full_name}: " + _columns(self.columns)


@dataclass(frozen=True)
class ReplaceColumns:
    """The table's columns become `columns`, and so do those of its partitions; `why` says what changes."""

    table: CatalogTable
    columns: tuple[Column, ...]
    why: str

    def __str__(self) -> str:
        return f"change columns of {self.table.full_name}: {self.why}"


@dataclass(frozen=True)
class SetProperties:
    table: CatalogTable
    properties: Mapping[str, str]

    def __str__(self) -> str:
        return f"set properties of {self.table.full_name}: {_pairs(self.properties)}"


@dataclass(frozen=True)
class SetSerdeProperties:
    """Serde properties are added or changed."""

    table: CatalogTable
    properties: Mapping[str, str]

    def __str__(self) -> str:
        return f"set serde properties of {self.table.full_name}: {_pairs(self.properties)}"


@dataclass(frozen=True)
class AddPartitions:
    table: CatalogTable
    partitions: tuple[CatalogPartition, ...]

    def __str__(self) -> str:
        return f"add {counted(len(self.partitions), 'partition')} to {self.table.full_name}: {_partitions(self.partitions)}"


@dataclass(frozen=True)
class MovePartitions:
    """The partitions are there but name other folders."""

    table: CatalogTable
    partitions: tuple[CatalogPartition, ...]

    def __str__(self) -> str:
        return f"move {counted(len(self.partitions), 'partition')} of {self.table.full_name}: {_partitions(self.partitions)}"


@dataclass(frozen=True)
class DropPartitions:
    """Only the catalog's entries go: no file is deleted."""

    table: CatalogTable
    partitions: tuple[CatalogPartition, ...]

    def __str__(self) -> str:
        return f"drop {counted(len(self.partitions), 'partition')} of {self.table.full_name}: {_partitions(self.partitions)}"


Action = (
    CreateDatabase
    | CreateTable
    | AddColumns
    | ReplaceColumns
    | SetProperties
    | SetSerdeProperties
    | AddPartitions
    | MovePartitions
    | DropPartitions
)

_MOST_SHOWN = 20


@dataclass(frozen=True, repr=False)
class SyncPlan(Shows):
    """Actions of a sync, in order. `instant` is the last commit that the catalog would then know."""

    reason: str
    instant: str | None = None
    actions: tuple[Action, ...] = ()
    extractor: str | None = None

    def shown(self) -> Shown:
        """Changes of the catalog."""
        line = f"SyncPlan({counted(len(self.actions), 'change')} of the catalog; {self.reason})"
        return Shown(line, columns=("change",), rows=[(str(action),) for action in self.actions])


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in columns)


def _pairs(properties: Mapping[str, str]) -> str:
    short = {key: value if len(value) <= 60 else f"{value[:57]}…" for key, value in sorted(properties.items())}
    return ", ".join(f"{key}={value}" for key, value in short.items())


def _partitions(partitions: tuple[CatalogPartition, ...]) -> str:
    names = ["/".join(partition.values) for partition in partitions[:_MOST_SHOWN]]
    more = len(partitions) - len(names)
    return ", ".join(names) + (f" … and {more} more" if more else "")
