"""What a registry may say of the watcher, which fills the store that pages and triggers read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hudi_services.entry.feed.model import Part


class Watch(Part):
    """Where the snapshots are (`store`: a path of a SQLite file, or a URL of SQLAlchemy's; beside the registry if it is not
    named), how many seconds from one round to the next (`every`), and how many tables are looked at `at_once`."""

    store: str | None = None
    every: Annotated[float, Field(ge=1, le=86_400)] = 30
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
