"""What a page says of itself when it cannot show all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hoodie.errors import HoodieError


@dataclass(frozen=True)
class State:
    """Something that concerns the whole page: what is so, and what to do, a command where one helps. A `note` is no fault."""

    severity: Literal["error", "warning", "note"]
    title: str
    text: str = ""
    command: str | None = None


def failed(title: str, error: HoodieError) -> State:
    """An error of the library, which says itself what was found and what to do."""
    return State("error", title, str(error))
