"""The notices of a page that cannot show all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hoodie.errors import StoreError


@dataclass(frozen=True)
class State:
    """Something that concerns the whole page: what is so, and what to do, a command where one helps. A `note` is no fault."""

    severity: Literal["error", "warning", "note"]
    title: str
    text: str = ""
    command: str | None = None


def away(error: StoreError) -> State:
    """The notice for an error of the snapshot store, which says what was found and what to do. The registry and the
    runs are shown all the same."""
    return State("warning", error.what, "\n".join(filter(None, [error.found, error.fix])), "hudi-services watch")
