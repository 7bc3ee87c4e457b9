"""Catalogs: tables by name. Three real ones: a folder (`warehouse`), a registry file (`registry_catalog`), and a Hive
metastore (`hive`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Protocol

from hoodie.errors import TableNotFoundError
from hoodie.sql.names import TableName

DEFAULT_DATABASE = "default"
_MOST_NAMED = 10  # tables in an error


@dataclass(frozen=True)
class Entry:
    """Entry of a table in a catalog: its base path, the options of its writes, a comment. A managed table is deleted when it
    is dropped; queries of a `read_optimized` one read base files only. Options that the catalog itself adds to writes, such as
    a sync with it, are `defaults`: the table's own options override them, and no statement shows them."""

    name: TableName
    location: str
    managed: bool
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    read_optimized: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)


class Catalog(Protocol):
    """Databases, and the tables in them. Every method raises SqlError for what this catalog cannot do, and a HoodieError when it
    cannot be asked."""

    @property
    def path(self) -> str:
        """As messages call it."""
        ...

    def databases(self) -> list[str]:
        """All databases, in order."""
        ...

    def create_database(self, name: str) -> None:
        """Nothing happens when it is there."""
        ...

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Forget one that is empty; `cascade`: also drop its tables."""
        ...

    def place_of(self, database: str) -> str:
        """The place of a database's tables."""
        ...

    def tables(self, database: str) -> list[TableName]:
        """The Hudi tables of a database, in order."""
        ...

    def find(self, name: TableName) -> Entry | None:
        """The entry of a table; None when there is no Hudi table of this name."""
        ...

    def other(self, name: TableName) -> str | None:
        """The format and place of a table of this name that is not a Hudi table; None without one."""
        ...

    def location_of(self, name: TableName, requested: str | None) -> str:
        """The place of a new table: `requested`, or a place of the catalog. Called before any file is made, so that a catalog
        without new tables refuses in time."""
        ...

    def remember(self, entry: Entry) -> None:
        """Enter a table that is there."""
        ...

    def change(self, entry: Entry) -> None:
        """Know other options and another comment of a table."""
        ...

    def rename(self, entry: Entry, name: TableName) -> None:
        """Know a table, which is not managed, by another name."""
        ...

    def drop(self, entry: Entry) -> None:
        """Forget a table, and delete its files if it is managed."""
        ...

    def close(self) -> None:
        """Give back what it holds, until it is asked again."""
        ...


def entry_of(catalog: Catalog, name: TableName) -> Entry:
    """The entry of a table. Raises TableNotFoundError, naming the existing tables, or the other thing of this name."""
    entry = catalog.find(name)
    if entry is None:
        other = catalog.other(name)
        if other is not None:
            raise TableNotFoundError(
                f"Table {name} in {catalog.path} is not a Hudi table",
                found=other,
                fix="read it with the engine that created it",
            )
        tables = ", ".join(_nearest(catalog, name)) or "no table"
        raise TableNotFoundError(
            f"There is no table {name} in {catalog.path}", found=tables, fix="correct the name, or create the table"
        )
    return entry


def _nearest(catalog: Catalog, missing: TableName) -> list[str]:
    """Up to ten tables of the database, those with similar names first."""
    tables = sorted(
        catalog.tables(missing.database), key=lambda name: -SequenceMatcher(None, missing.name, name.name).ratio()
    )
    return [str(name) for name in tables[:_MOST_NAMED]]
