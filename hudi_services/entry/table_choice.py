"""The table that a command or a round of the watcher works on."""

from __future__ import annotations

from dataclasses import dataclass

from hudi_services.entry.table import Table


@dataclass(frozen=True)
class ChosenTable:
    """A table by its path or URL, and its entry if the registry names it."""

    base_path: str
    entry: Table | None = None

    @property
    def common(self) -> dict[str, str]:
        """The options in its entry that all writers and services share: the lock and the concurrency mode."""
        return self.entry.common if self.entry is not None else {}
