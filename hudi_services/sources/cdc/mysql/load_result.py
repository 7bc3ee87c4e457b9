"""Counts of a load."""

from __future__ import annotations

from dataclasses import dataclass

from hudi_services.sources.cdc.mysql.log_identity import StoredPosition


@dataclass
class LoadResult:
    """Rows of the snapshot, changes of the binlog, commits, and the position after the last commit."""

    rows: int = 0
    changes: int = 0
    commits: int = 0
    position: str = ""
    catching_up: str = ""
    """The place of the log from which on the table is equal to its source, while it is not there. Empty otherwise."""

    def committed(self, position: StoredPosition, *, rows: int = 0, changes: int = 0) -> None:
        """Count a commit."""
        self.rows += rows
        self.changes += changes
        self.commits += 1
        self.position = position.position
        self.catching_up = str(position.snapshot.high) if position.snapshot is not None else ""
