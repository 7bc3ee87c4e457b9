"""Names and places of the tables of a registry: no two tables share one, and no table lies inside another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from hoodie.model.place import identity

Key = Literal["name", "base_path"]


@dataclass(frozen=True)
class Conflict:
    """The table at `position` is in the way: `relation` is that of the later one's name or place to its own."""

    position: int
    relation: str


@dataclass
class Claims:
    """Names and places of the tables so far, and the folders above these places, with the positions of the tables."""

    _taken: dict[tuple[Key, str], int] = field(default_factory=dict)
    _around: dict[str, int] = field(default_factory=dict)

    def conflicts(self, position: int, key: Key, value: object) -> Iterator[Conflict]:
        """Yield the earlier tables in the way of this name or place, which is the table's from now on if it is free."""
        if not isinstance(value, str):
            return
        owner = self._taken.setdefault((key, value if key == "name" else identity(value)), position)
        if owner != position:
            yield Conflict(owner, "is also")
        if key == "base_path":
            yield from self._nested(position, identity(value))

    def note(self, position: int, base_path: object) -> None:
        """Take a place for a table that is not checked."""
        for _ in self.conflicts(position, "base_path", base_path):
            pass

    def _nested(self, position: int, place: str) -> Iterator[Conflict]:
        """A table inside another's folder: readers that list folders would take its files for the other's."""
        above = [place[:end] or "/" for end, letter in enumerate(place) if letter == "/"]
        outer = next(
            (self._taken["base_path", folder] for folder in above if ("base_path", folder) in self._taken), None
        )
        inner = self._around.get(place)
        for folder in above:
            self._around.setdefault(folder, position)
        for other, relation in ((outer, "lies inside"), (inner, "has inside it")):
            if other is not None and other != position:
                yield Conflict(other, relation)
