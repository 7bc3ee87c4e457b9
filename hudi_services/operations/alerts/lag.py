"""Streams that are behind the table that they follow, as the watcher saw that table."""

from __future__ import annotations

from datetime import datetime, timedelta

from hoodie.display import counted
from hoodie.times import span
from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts.conditions import Observation, Trouble, joined
from hudi_services.operations.watch.model import Snapshot
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry
from hudi_services.sources.stream.options import Stream, consumer_of


def standing_streams(alerts: Alerts, registry: Registry, store: SnapshotStore, now: datetime) -> Observation:
    """Return the streams that have not taken in a commit for longer than `lag`. One query for each stream. Raises StoreError."""
    if alerts.lag is None:
        return Observation(())
    sections = ((table.name, table.section("stream")) for table in registry.tables)
    streams = [
        (name, section.table) for name, section in sections if isinstance(section, Stream) and section.table is not None
    ]
    return joined(behind(name, source, alerts.lag, store.table(source), now) for name, source in streams)


def behind(name: str, source: str, limit: timedelta, snapshot: Snapshot | None, now: datetime) -> Observation:
    """The lag of the stream into the table `name`, by its consumer of the table `source`. `snapshot` is the last of the source.

    The lag is not known if that look failed. A stream that has not run yet has no lag.
    """
    if snapshot is None or snapshot.summary.health in ("unreadable", "absent"):
        return Observation((), frozenset({("lag", name)}))
    for row in snapshot.body.get("table", {}).get("consumers", ()):
        if row["consumer"] == consumer_of(name) and row["commits_behind"]:
            since = (snapshot.summary.looked_at - timedelta(seconds=row["seconds_behind"])).replace(microsecond=0)
            if now - since >= limit:
                waits = f"{counted(row['commits_behind'], 'commit')} of {source}, the first for longer than"
                text = f"its stream has not taken in {waits} {span(limit.total_seconds())}"
                return Observation((Trouble("lag", name, source, text, since),))
    return Observation(())
