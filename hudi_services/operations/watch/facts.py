"""Facts for objectives from the watcher's looks: the judge need not list again what was listed a moment ago."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hoodie.errors import HoodieError, StoreError
from hoodie.model.place import same_table
from hudi_services.entry.retention import options_of
from hudi_services.entry.table import Table
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.objectives.facts import Facts
from hudi_services.operations.watch.store import SnapshotStore

_OLD = timedelta(minutes=2)  # age of the last round: later changes of a timeline were not seen
_ROUNDS = 3  # missed, where they are further apart than that


def kept_facts(look: Look) -> Mapping[str, Any] | None:
    """JSON for a snapshot; None of a table without objectives, or whose facts cannot be read: its problems say so."""
    try:
        facts = look.facts
    except HoodieError:
        return None
    if facts is None or look.entry is None:
        return None
    return {**facts.as_dict(), "wanted": _objectives_digest(look.entry)}


class SnapshotFacts:
    """Facts of tables by their entries, as of the watcher's last round. There are none where no watcher goes round, the
    store is away, the last look at the table failed, or the registry has changed what is wanted since."""

    def __init__(self, store: SnapshotStore, every: float, now: datetime) -> None:
        """`every` are the seconds from one round of the watcher to the next."""
        self._store = store
        self._now = now
        self._since = now - max(_OLD, _ROUNDS * timedelta(seconds=every))

    def __call__(self, entry: Table) -> Facts | None:
        try:
            rounded = self._store.rounded_at()
            if (
                rounded is None or not self._since <= rounded <= self._now + _OLD
            ):  # later ones are of a clock that was ahead
                return None
            table = self._store.table(entry.name)
        except StoreError:
            return None
        if table is None or not same_table(table.summary.base_path, entry.base_path):
            return None
        if table.summary.health in ("unreadable", "absent"):
            return None
        stored = table.body.get("facts")
        if not isinstance(stored, Mapping) or stored.get("wanted") != _objectives_digest(entry):
            return None
        try:
            return replace(Facts.of(stored), now=self._now)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def _objectives_digest(entry: Table) -> str:
    """A short digest of what the facts depend on in addition to the table."""
    parts = (
        entry.objectives.model_dump(mode="json"),
        options_of(entry, "clean"),
        options_of(entry, entry.loader),
        entry.hoodie,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
