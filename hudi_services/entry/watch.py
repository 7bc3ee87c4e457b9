"""The `watch` section of a registry. The watcher fills the store that pages and triggers read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hudi_services.entry.feed.model import Part


class Watch(Part):
    """Settings of the watcher.

    `store` holds the snapshots: the path of a SQLite file, or an SQLAlchemy URL; the default is a file beside the registry.
    `every` is the number of seconds from one round to the next, `at_once` the number of tables that are checked in parallel.
    """

    store: str | None = None
    every: Annotated[float, Field(ge=1, le=86_400)] = 30
    at_once: Annotated[int, Field(ge=1, le=64)] = 8
