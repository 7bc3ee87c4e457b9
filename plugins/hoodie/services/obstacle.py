"""Obstacles to an action on a whole table, and the refusal that names them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hoodie.display import counted
from hoodie.errors import PendingInstantError


@dataclass(frozen=True)
class Obstacle:
    """An obstacle: its kind, what it is, and what removes it."""

    kind: str
    text: str
    fix: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}. To do: {self.fix}"


def remaining(obstacles: Collection[Obstacle], despite: Collection[str]) -> list[Obstacle]:
    """The obstacles that the user does not pass over; `despite` are the kinds that the user does."""
    return [obstacle for obstacle in obstacles if obstacle.kind not in despite]


def refuse(operation: str, obstacles: Collection[Obstacle], despite: Collection[str]) -> None:
    """Raises PendingInstantError for the obstacles that the user does not pass over."""
    if left := remaining(obstacles, despite):
        raise PendingInstantError(
            f"{operation} is held back by {counted(len(left), 'obstacle')}; nothing was changed",
            found="; ".join(f"{obstacle.kind}: {obstacle.text}" for obstacle in left),
            fix="; ".join(dict.fromkeys(obstacle.fix for obstacle in left)),
        )
