"""A catalog in a folder: databases and tables by name, as Spark lays out its warehouse.

A table without a location is at `<warehouse>/<table>`, or `<warehouse>/<database>.db/<table>`, and is found there with any
creator. The rest of a table's entry is in `.catalog/<database>/<table>.json`: its place, and the options of its writes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace

from hoodie.errors import SqlError
from hoodie.sql.catalog import DEFAULT_DATABASE, Entry
from hoodie.sql.leftovers import is_unfilled
from hoodie.sql.names import TableName
from hoodie.storage import BasePath, storage_of
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.idempotent import create_own, replace_own

_CATALOG = ".catalog"
_DATABASE = ".database"
_JSON = ".json"
_TABLE = ".hoodie"  # the folder that makes one of a folder


class Warehouse:
    """The catalog in the folder `path`, which is made with its first table."""

    def __init__(self, path: BasePath) -> None:
        self._storage = storage_of(path)

    @property
    def path(self) -> str:
        return self._storage.base_path

    def databases(self) -> list[str]:
        """All databases, in order; there always is `default`."""
        databases = {folder.rpartition("/")[2] for folder in self._storage.list(_CATALOG).folders}
        folders = {folder for folder in self._storage.list("").folders if folder.endswith(".db")}
        return sorted(databases | {folder.removesuffix(".db") for folder in folders} | {DEFAULT_DATABASE})

    def create_database(self, name: str) -> None:
        """Nothing happens when it is there."""
        path = f"{_CATALOG}/{name}/{_DATABASE}"
        if self._storage.info(path) is None:
            create_own(self._storage, path, b"{}")

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Forget one that is empty; `cascade`: also drop its tables. Raises SqlError when it has tables, or its folder holds what
        is not a table of this catalog, such as another program's: then nothing is dropped."""
        tables = self.tables(name)
        if tables and not cascade:
            raise SqlError(
                f"Database {name} is not empty",
                found=", ".join(str(table) for table in tables[:10]),
                fix="drop its tables first, or say CASCADE",
            )
        entries = [entry for entry in map(self.find, tables) if entry is not None]
        managed_folders = {self._place(entry.name) for entry in entries if entry.managed}
        listing = self._storage.list(_folder(name))
        others = sorted({*listing.folders, *(file.path for file in listing.files)} - managed_folders)
        if others:
            raise SqlError(
                f"The folder of database {name} has other content than tables of this catalog",
                found=", ".join(f"{self.path}/{other}" for other in others[:10]),
                fix="move it away, or delete it; nothing was dropped",
            )
        for entry in entries:
            self._refuse_what_is_others(entry)
        for entry in entries:
            self.drop(entry)
        self._storage.delete_folder(f"{_CATALOG}/{name}")
        self._storage.delete_folder(f"{name}.db")

    def tables(self, database: str) -> list[TableName]:
        """The tables of a database, in order."""
        result = {
            file.name.removesuffix(_JSON)
            for file in self._storage.list(f"{_CATALOG}/{database}").files
            if file.name.endswith(_JSON)
        }
        result.update(
            folder.rpartition("/")[2]
            for folder in self._storage.list(_folder(database)).folders
            if folder.rpartition("/")[2] not in result and self._is_filled(folder)
        )
        return [TableName(database, name) for name in sorted(result)]

    def find(self, name: TableName) -> Entry | None:
        """The entry of a table; None for an unknown name. Raises SqlError for an entry that cannot be read."""
        if not _is_folder(name.name) or not _is_folder(name.database):
            return None  # it would lead to a folder of another table or database
        try:
            data = self._storage.read(_entry(name))
        except FileNotFoundError:
            location = self._location(self._place(name))
            return Entry(name, location, managed=True) if self._is_filled(self._place(name)) else None
        try:
            entry = json.loads(data)
            location, options = entry["location"], entry.get("options", {})
            if not isinstance(location, str | None) or not _are_texts(options):
                raise ValueError("a location or options that are not text")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SqlError(
                f"The catalog's entry of table {name} cannot be read",
                found=f"{self.path}/{_entry(name)}: {error}",
                fix="delete that file, and create the table again with its LOCATION; its rows are not touched",
            ) from error
        place = self._location(self._place(name)) if location is None else location
        return Entry(name, place, location is None, options, entry.get("comment"))

    def other(self, name: TableName) -> None:
        """None: a folder without a timeline is not a table."""

    def location_of(self, name: TableName, requested: str | None) -> str:
        """The place of a new table: the wanted one, or the folder of its database."""
        return requested or self._location(self._place(name))

    def place_of(self, database: str) -> str:
        """The folder of a database."""
        return self._location(_folder(database)).rstrip("/")

    def remember(self, entry: Entry) -> None:
        """Enter a table. Raises SqlError when another process has just done so with other values."""
        try:
            create_own(self._storage, _entry(entry.name), _encoded(entry))
        except FileExistsError:
            raise SqlError(f"Table {entry.name} exists already", fix="drop it, or choose another name") from None

    def change(self, entry: Entry) -> None:
        """Know other options and another comment of a table. Raises SqlError when another process has just done so."""
        path = _entry(entry.name)
        try:
            old = self._storage.read(path)
        except FileNotFoundError:
            self.remember(entry)
            return
        if not isinstance(self._storage, ReplacingStorage):
            raise SqlError(
                f"The options of table {entry.name} cannot change on this storage",
                found=f"{self.path}: it replaces no file in one step",
                fix="set them for a session by SET",
            )
        if not replace_own(self._storage, path, old, _encoded(entry)):
            raise SqlError(
                f"The options of table {entry.name} have changed in the meantime", fix="run the statement again"
            )

    def rename(self, entry: Entry, name: TableName) -> None:
        """Enter it under the other name, then remove the first. A run that is killed in between leaves both."""
        self.remember(replace(entry, name=name))
        self.drop(entry)

    def drop(self, entry: Entry) -> None:
        """Forget a table, and delete its files if it is managed. If a run is killed in between, drop it again. Raises SqlError
        for one whose folder is a link, as its target may belong to others, and for one with another table in its folder."""
        if entry.managed:
            self._refuse_what_is_others(entry)
            place = self._place(entry.name)
            # Without these it is not a table to any reader, even if other files of it are left.
            self._storage.delete_folder(f"{place}/.hoodie")
            self._storage.delete_folder(place)
        self._storage.delete(_entry(entry.name))

    def close(self) -> None:
        """It holds nothing."""

    def _refuse_what_is_others(self, entry: Entry) -> None:
        if not entry.managed:
            return
        self._refuse_link(entry)
        inside = next(self._tables_inside(self._place(entry.name)), None)
        if inside is not None:
            raise SqlError(
                f"Table {entry.name} is not dropped, as another table is in its folder",
                found=self._location(inside),
                fix="move that table away, or drop it first; nothing was dropped",
            )

    def _tables_inside(self, place: str) -> Iterator[str]:
        """Folders below a table's that are tables, too."""
        for folder in self._storage.list(place).folders:
            if folder.rpartition("/")[2] == _TABLE:
                continue
            if self._is_table(folder):
                yield folder
            yield from self._tables_inside(folder)

    def _refuse_link(self, entry: Entry) -> None:
        place = self._place(entry.name)
        for part in (place.partition("/")[0], place):
            if os.path.islink(self._location(part)):  # never so of a URL
                raise SqlError(
                    f"Table {entry.name} is not dropped, as its folder is a link",
                    found=f"{self._location(part)} leads to {os.path.realpath(self._location(part))}",
                    fix="remove the link; its target stays. Nothing was dropped",
                )

    def _is_filled(self, folder: str) -> bool:
        """True for a table, but one that a query was to fill."""
        return self._is_table(folder) and not is_unfilled(storage_of(self._location(folder)))

    def _is_table(self, folder: str) -> bool:
        return f"{folder}/{_TABLE}" in self._storage.list(folder).folders

    def _place(self, name: TableName) -> str:
        folder = _folder(name.database)
        return f"{folder}/{name.name}" if folder else name.name

    def _location(self, place: str) -> str:
        return f"{self._storage.base_path}/{place}"


def _folder(database: str) -> str:
    return "" if database == DEFAULT_DATABASE else f"{database}.db"


def _is_folder(name: str) -> bool:
    return bool(name.strip(".")) and "/" not in name


def _entry(name: TableName) -> str:
    return f"{_CATALOG}/{name.database}/{name.name}{_JSON}"


def _encoded(entry: Entry) -> bytes:
    content = {"options": dict(entry.options), "comment": entry.comment}
    content["location"] = None if entry.managed else entry.location
    return json.dumps(content, sort_keys=True, indent=1).encode()


def _are_texts(options: object) -> bool:
    return isinstance(options, dict) and all(isinstance(part, str) for pair in options.items() for part in pair)
