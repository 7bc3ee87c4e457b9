"""Where the names of tables lead. Three real catalogs: a folder (`warehouse`), a list that somebody keeps (`listed`), and a Hive
metastore (`hive`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hoodie.errors import TableNotFoundError
from hoodie.sql.names import TableName

DEFAULT_DATABASE = "default"


@dataclass(frozen=True)
class Entry:
    """What a catalog knows of a table: its base path, the options of its writes, a comment. A managed one is deleted when it is
    dropped; of a `read_optimized` one queries read base files only. What the catalog itself asks of writes, such as a sync with
    it, is `asked`: the table's own options go before it, and no statement tells it."""

    name: TableName
    location: str
    managed: bool
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    read_optimized: bool = False
    asked: Mapping[str, str] = field(default_factory=dict)


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
        """Where a database keeps its tables."""
        ...

    def tables(self, database: str) -> list[TableName]:
        """The Hudi tables of a database, in order."""
        ...

    def find(self, name: TableName) -> Entry | None:
        """What is known of a table; None when there is no Hudi table of this name."""
        ...

    def other(self, name: TableName) -> str | None:
        """What else than a Hudi table goes by this name, and where it is; None for nothing."""
        ...

    def location_of(self, name: TableName, wanted: str | None) -> str:
        """Where a new table is to be made: at `wanted`, or where the catalog would have it. Asked before anything is made: a
        catalog that takes no table says so in time."""
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


def known(catalog: Catalog, name: TableName) -> Entry:
    """The entry of a table. Raises TableNotFoundError, naming the tables that there are, or what else goes by the name."""
    entry = catalog.find(name)
    if entry is None:
        other = catalog.other(name)
        if other is not None:
            raise TableNotFoundError(
                f"Table {name} in {catalog.path} is none of Hudi's", found=other, fix="read it by what made it"
            )
        there = ", ".join(_few(catalog, name.database)) or "no table"
        raise TableNotFoundError(
            f"There is no table {name} in {catalog.path}", found=there, fix="correct the name, or create the table"
        )
    return entry


def _few(catalog: Catalog, database: str) -> Iterator[str]:
    yield from (str(table) for table in catalog.tables(database)[:10])
