"""Files that a savepoint keeps (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hoodie.model.time import BEGINNING, Time
from hoodie.storage.base import join


@dataclass(frozen=True, slots=True)
class Savepoint:
    """The data files that no clean may remove: partition path -> their names. With the commit that is kept, who asked for it,
    when (ms since 1970), and why."""

    files: Mapping[str, tuple[str, ...]]
    instant: Time = BEGINNING
    by: str = ""
    at_ms: int = 0
    comments: str = ""

    @property
    def paths(self) -> Iterator[str]:
        """Their paths, relative to the base path."""
        return (join(partition, name) for partition, names in self.files.items() for name in names)
