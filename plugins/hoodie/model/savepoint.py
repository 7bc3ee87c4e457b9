"""What a savepoint keeps (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hoodie.storage.base import join


@dataclass(frozen=True, slots=True)
class Savepoint:
    """The data files that no clean may remove: partition path -> their names."""

    files: Mapping[str, tuple[str, ...]]

    @property
    def paths(self) -> Iterator[str]:
        """Their paths, relative to the base path."""
        return (join(partition, name) for partition, names in self.files.items() for name in names)
