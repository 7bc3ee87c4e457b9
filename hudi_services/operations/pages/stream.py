"""The stream into a table on its page: what it follows, and how far behind it is, as the watcher saw the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from hudi_services.entry.dag import dag_id
from hudi_services.entry.table import Table
from hudi_services.operations.pages.snapshot_page import Consumer, seen
from hudi_services.operations.watch.model import Event, Snapshot
from hudi_services.sources.stream.options import Stream, consumer_of

_BATCHES = 20  # the newest, whose rows a second are shown
_ROWS = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass(frozen=True)
class StreamError:
    """The reason why a run of the stream's DAG failed, or tries again. `at` as ISO in UTC."""

    dag: str
    run: str
    message: str
    at: str


@dataclass(frozen=True)
class Follows:
    """The `table` of the registry, or None, and the `path` that are followed by `changes` or `rows`, in a mode of the registry.

    `consumer` is the stream's own of the source: its position and the commits that it has not read. None where the source is not
    watched, or the stream has not run yet. `looked_at` is when the source was looked at, ISO in UTC. `rows_per_second` are those
    of the newest batches while they were written, `error` is the last one that Airflow knows.
    """

    table: str | None
    path: str
    read: str
    mode: str
    consumer: Consumer | None = None
    looked_at: str | None = None
    rows_per_second: float | None = None
    error: StreamError | None = None


def stream_dag(table: Table) -> str | None:
    """The DAG of the stream into the table; None if it has no stream."""
    return dag_id("stream", table.name) if isinstance(table.section("stream"), Stream) else None


def followed(table: Table) -> str | None:
    """The name of the table of the registry that the table follows."""
    section = table.section("stream")
    return section.table if isinstance(section, Stream) else None


def follows(
    table: Table, source: Snapshot | None, events: Iterable[Event] = (), error: StreamError | None = None
) -> Follows | None:
    """`source` is the watcher's snapshot of the source, `events` are those of the table, the newest first.

    None for a table without a stream, and for one that follows files.
    """
    section = table.section("stream")
    if not isinstance(section, Stream) or section.path is None:
        return None
    result = Follows(
        section.table, section.path, section.read, section.mode, rows_per_second=_rate(events), error=error
    )
    looked = seen(section.table or "", source, ()) if source is not None else None
    if looked is None:
        return result
    own = next((consumer for consumer in looked.consumers if consumer.consumer == consumer_of(table.name)), None)
    return replace(result, consumer=own, looked_at=looked.looked_at)


def _rate(events: Iterable[Event]) -> float | None:
    """The rate of rows; None where the watcher has seen no batch. An event of an instant that was there at its first
    look says nothing of rows."""
    batches = (event.facts for event in events if event.facts.get("operation") and not event.facts.get("moves_rows"))
    rows, seconds = 0, 0.0
    for facts in islice(batches, _BATCHES):
        rows += sum(int(facts.get(name) or 0) for name in _ROWS)
        seconds += float(facts.get("seconds") or 0)
    return rows / seconds if seconds else None
