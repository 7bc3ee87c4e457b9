"""A catalog of the tables in a file such as a registry: SQL reads and writes the tables, never the file."""

from __future__ import annotations

from collections.abc import Iterable

from hoodie.errors import SqlError
from hoodie.sql.catalog import DEFAULT_DATABASE, Entry
from hoodie.sql.names import TableName


class ListedTables:
    """The tables of the file `path`, in the database `default`. Large and small letters are the same."""

    def __init__(self, path: str, entries: Iterable[Entry]) -> None:
        self._path = path
        self._entries: dict[str, list[Entry]] = {}
        for entry in entries:
            self._entries.setdefault(entry.name.name.lower(), []).append(entry)

    @property
    def path(self) -> str:
        return self._path

    def databases(self) -> list[str]:
        """Only `default`."""
        return [DEFAULT_DATABASE]

    def create_database(self, name: str) -> None:
        """Raises SqlError."""
        raise self._read_only(f"Database {name} is not made")

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Raises SqlError."""
        raise self._read_only(f"Database {name} is not dropped")

    def place_of(self, database: str) -> str:
        """The file."""
        return self._path

    def tables(self, database: str) -> list[TableName]:
        """All tables, in order."""
        return [TableName(database, name) for name in sorted(self._entries)] if database == DEFAULT_DATABASE else []

    def find(self, name: TableName) -> Entry | None:
        """Raises SqlError for a name that two tables have, but for their large and small letters."""
        entries = self._entries.get(name.name, []) if name.database == DEFAULT_DATABASE else []
        if len(entries) > 1:
            raise SqlError(
                f"{self._path} has several tables that SQL takes for {name}",
                found=", ".join(f"{entry.name.name} at {entry.location}" for entry in entries),
                fix="give them names that differ in more than large and small letters",
            )
        return entries[0] if entries else None

    def other(self, name: TableName) -> None:
        """Nothing: all tables of the file are Hudi's."""

    def location_of(self, name: TableName, requested: str | None) -> str:
        """Raises SqlError."""
        raise SqlError(
            f"Table {name} is not made",
            found=f"the tables are those of {self._path}, which SQL does not change",
            fix="edit that file, or give CREATE TABLE a folder: `hudi-services sql --warehouse DIR`; nothing was changed",
        )

    def remember(self, entry: Entry) -> None:
        """Raises SqlError."""
        raise self._read_only(f"Table {entry.name} is not entered")

    def change(self, entry: Entry) -> None:
        """Raises SqlError."""
        raise self._read_only(f"The options of table {entry.name} are not changed")

    def rename(self, entry: Entry, name: TableName) -> None:
        """Raises SqlError."""
        raise self._read_only(f"Table {entry.name} is not renamed")

    def drop(self, entry: Entry) -> None:
        """Raises SqlError."""
        raise self._read_only(f"Table {entry.name} is not dropped")

    def close(self) -> None:
        """It holds nothing."""

    def _read_only(self, title: str) -> SqlError:
        return SqlError(
            title,
            found=f"the tables are those of {self._path}, which SQL does not change",
            fix="edit that file; nothing was changed",
        )
