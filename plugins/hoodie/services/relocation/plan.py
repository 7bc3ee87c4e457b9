"""The plan of a drop, copy or move of a whole table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hoodie.services.obstacle import Obstacle
from hoodie.storage.base import FileInfo


@dataclass(frozen=True)
class RelocationPlan:
    """The files that are concerned, in number and bytes, and what holds the action back. `target` is the other place, None for a
    drop. `continued`: an earlier run was cut short, and the next one goes on."""

    base_path: str
    target: str | None
    files: int
    bytes: int
    continued: bool
    obstacles: tuple[Obstacle, ...]


def plan_of(
    base_path: str, target: str | None, files: Iterable[FileInfo], obstacles: Iterable[Obstacle], *, continued: bool
) -> RelocationPlan:
    """The plan for these files."""
    sizes = [file.size for file in files]
    return RelocationPlan(base_path, target, len(sizes), sum(sizes), continued, tuple(obstacles))
