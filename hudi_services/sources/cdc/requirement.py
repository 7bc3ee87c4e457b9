"""A requirement that a database server meets before its changes can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "missing"]


@dataclass(frozen=True)
class Requirement:
    """A requirement, what the server has, and what fixes it (a statement where there is one).

    `missing`: the changes cannot be read right, so nothing starts. `warning`: they can, but something may surprise.
    """

    name: str
    state: State
    found: str
    fix: str = ""
