"""Locations of source, table and quarantine: one spelling for each folder, and no folder inside another."""

from __future__ import annotations

from dataclasses import dataclass

from hoodie.errors import ConfigError
from hoodie.model.place import identity, lies_in
from hoodie.storage import open_storage


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that a run writes into. Their files are no deliveries."""

    table: str
    quarantine: str

    def check(self) -> None:
        """Raises ConfigError for an invalid path, and if files of one folder would be mistaken for files of the other."""
        for path in (self.table, self.quarantine):
            open_storage(path)
        at, bad = identity(self.table), identity(self.quarantine)
        if lies_in(bad, at) or lies_in(at, bad):
            raise ConfigError(
                f"Quarantine {self.quarantine} and table {self.table} lie in one another",
                fix="choose another folder with --quarantine-path",
            )

    def check_source(self, folder: str) -> None:
        """Raises ConfigError for a source folder with an invalid path, or one whose files are not deliveries.

        A table or quarantine inside the source folder is no error: their files are not loaded.
        """
        open_storage(folder)
        landing = identity(folder)
        if lies_in(landing, identity(self.table)):
            raise ConfigError(
                f"Source folder {folder} lies in the table {self.table}",
                found="files of a table are no deliveries",
                fix="deliver into a folder of its own; nothing was created",
            )
        if lies_in(landing, identity(self.quarantine)):
            raise ConfigError(
                f"Source folder {folder} lies in the quarantine {self.quarantine}",
                found="rows that could not be loaded would be loaded",
                fix="deliver repaired rows into a folder of their own",
            )
