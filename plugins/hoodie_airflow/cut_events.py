"""Cuts of a database server as events of an asset: `schedule=[cuts_asset("shop")]` starts readers on rows of one moment."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from hoodie_airflow.assets import cuts_asset, database_outlet

if TYPE_CHECKING:
    from hudi_services.sources.cdc.cuts import Cut

_FIRST = 100
"""Cuts that get an event where no cut has one yet, at most."""
_RECENT = 200
"""Events that are compared with the cuts."""
_TARGETS_BYTES = 48 * 1024  # bytes of JSON: an event is a row of Airflow's database


def add_cut_events(server: str, cuts: Iterable[Cut], context: Any) -> None:
    """Add an event for each cut that has none. `cuts` are the newest first.

    Airflow stores the events of a task when the task has succeeded, and only then. So a cut of a try that failed later gets its
    event by the next one, and each cut gets one.
    """
    events = context["inlet_events"][cuts_asset(server)].ascending(False).limit(_RECENT)
    stored = {_identity(event.extra) for event in events}
    for cut in without_event(cuts, stored):
        context["outlet_events"][database_outlet(server)].add(cuts_asset(server), extra=event_of(server, cut))


def without_event(cuts: Iterable[Cut], stored: Collection[tuple[Any, ...]]) -> list[Cut]:
    """Return the cuts after the newest one of the events `stored`, the oldest first.

    These are the newest cuts where the events have none of them: before the first event, and after a new state of the server.
    """
    newer = takewhile(lambda cut: (cut.number, cut.position, cut.time) not in stored, cuts)
    return list(newer if stored else islice(newer, _FIRST))[::-1]


def event_of(server: str, cut: Cut) -> dict[str, Any]:
    """Return what an event says: the name by which `AS OF SOURCE` reads the cut, its place, and the commit of each Hudi table."""
    targets: dict[str, str] = {}
    size = 0
    places = {place.base_path: place.instant for place in cut.tables.values()}
    for path, instant in sorted(places.items()):
        size += len(json.dumps({path: instant}))
        if size > _TARGETS_BYTES:
            break
        targets[path] = instant
    return {
        "server": server,
        "cut": cut.number,
        "name": f"cut {cut.number}",
        "position": cut.position,
        "gtid": cut.gtid,
        "time": cut.time,
        "targets": targets,
        "targets_left_out": len(places) - len(targets),
        "behind": len(cut.behind),
    }


def _identity(extra: Any) -> tuple[Any, ...]:
    return tuple(extra.get(key) for key in ("cut", "position", "time")) if isinstance(extra, dict) else ()
