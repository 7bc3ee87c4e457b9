"""The stream into a table on its page: what it follows, and how far behind it is, as the watcher saw the source."""

from __future__ import annotations

from dataclasses import dataclass

from hudi_services.entry.table import Table
from hudi_services.pages.seen import Consumer, seen
from hudi_services.stream.options import Stream, consumer_of
from hudi_services.watch.model import Snapshot


@dataclass(frozen=True)
class Follows:
    """The `table` of the registry, or None, and the `path` that are followed by `changes` or `rows`, in a mode of the registry.

    `consumer` is the stream's own of the source: its position and the commits that it has not read. None where the source is not
    watched, or the stream has not run yet. `looked_at` is when the source was looked at, ISO in UTC.
    """

    table: str | None
    path: str
    read: str
    mode: str
    consumer: Consumer | None = None
    looked_at: str | None = None


def followed(table: Table) -> str | None:
    """The name of the table of the registry that the table follows."""
    section = table.section("stream")
    return section.table if isinstance(section, Stream) else None


def follows(table: Table, source: Snapshot | None) -> Follows | None:
    """`source` is the watcher's snapshot of the source. None for a table without a stream, and for one that follows files."""
    section = table.section("stream")
    if not isinstance(section, Stream) or section.path is None:
        return None
    found = Follows(section.table, section.path, section.read, section.mode)
    looked = seen(section.table or "", source, ()) if source is not None else None
    if looked is None:
        return found
    own = next((each for each in looked.consumers if each.consumer == consumer_of(table.name)), None)
    return Follows(section.table, section.path, section.read, section.mode, own, looked.looked_at)
