"""Conflicts that show while a write is under way: another living writer, which began earlier, has markers of the same groups.

Only the later of the two gives up, as in Hudi, so never both. The check before the commit finds all conflicts that this one
misses.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from hoodie.clock import Clock
from hoodie.config.key import Options
from hoodie.config.keys.concurrency import (
    DETECTOR_DELAY_MS,
    DETECTOR_PERIOD_MS,
    EARLY_COMMITS,
    EARLY_DETECTION,
    EARLY_STRATEGY,
    MODE,
    OF_BATCHED_MARKERS,
    OF_DIRECT_MARKERS,
    OPTIMISTIC,
)
from hoodie.config.keys.marker import MARKERS_TYPE, TIMELINE_SERVER_BASED
from hoodie.errors import ConfigError, EarlyConflictError
from hoodie.markers.names import MarkerType, batch_number, marker_folder, noted_file
from hoodie.markers.read import read_batch, read_markers
from hoodie.model.files import GroupId
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import Storage, join
from hoodie.timeline import WRITE_ACTIONS, Action
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import Heartbeats
from hoodie.transaction.leftovers import marked_instants
from hoodie.transaction.locks import Locking
from hoodie.view.state import TableState, load_state

_PLANS = (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT)
_COMPACTIONS = ("COMPACT", "LOG_COMPACT")


@dataclass(frozen=True)
class Looking:
    """How a write is to look (`hoodie.write.concurrency.early.conflict.*`). A heartbeat of `expiry_ms` is a dead writer's; with
    `commits` those since the write began count, too. A server looks after `delay_ms`, and every `period_ms`."""

    expiry_ms: int
    commits: bool
    delay_ms: int
    period_ms: int

    @classmethod
    def of(cls, options: Options) -> Looking | None:
        """From checked options of a write; None: it does not look. Raises ConfigError for what has no effect or cannot be."""
        if not options[EARLY_DETECTION]:
            return None
        if options[MODE] != OPTIMISTIC:
            raise ConfigError(
                f"{EARLY_DETECTION.name} is for several writers at once",
                found=f"{MODE.name}={options[MODE].lower()}",
                fix=f"set {MODE.name}={OPTIMISTIC.lower()}, or leave it out",
            )
        batched = options[MARKERS_TYPE] == TIMELINE_SERVER_BASED
        strategy, fits = options.get(EARLY_STRATEGY), OF_BATCHED_MARKERS if batched else OF_DIRECT_MARKERS
        if strategy not in (None, fits):
            raise ConfigError(
                f"{EARLY_STRATEGY.name} does not fit {MARKERS_TYPE.name}",
                found=f"{strategy}, and {options[MARKERS_TYPE].lower()}",
                fix=f"leave it out, or set {fits}",
            )
        expiry_ms = ConcurrencyOptions.of(options).expiry_ms
        return cls(expiry_ms, options[EARLY_COMMITS], options[DETECTOR_DELAY_MS], options[DETECTOR_PERIOD_MS])


@dataclass(frozen=True)
class EarlyDetection:
    """Facts by which a task, or a server for all tasks, detects conflicts. It travels to the workers."""

    storage: Storage
    clock: Clock
    instant: Time  # time of the write that looks
    finished: frozenset[Time]  # what was complete, or a plan, when the write began
    looking: Looking

    @classmethod
    def of(cls, state: TableState, clock: Clock, instant: Time, looking: Looking) -> EarlyDetection:
        """The detection for a write that is based on `state`."""
        plans = {plan.time for plan in state.timeline.pending if plan.action in _PLANS}
        return cls(state.storage, clock, instant, state.timeline.commit_times | plans, looking)

    def check(self, data_file: str, kind: MarkerType) -> None:
        """Before a task writes `data_file`. Raises EarlyConflictError.

        A new file group needs no storage call. For others it takes one listing if there is no other writer; one more, and one or
        two for each other writer, if there are any.
        """
        group = _group(data_file)
        new = kind is MarkerType.CREATE and BaseFileName.parse(data_file.rpartition("/")[2]) is not None
        if group is None or new:
            return
        for other in self._others():
            if group in _noted(self.storage, other, group.partition):
                raise self.conflict(group, other)
        self.check_against(self._committed(), (group,))

    def groups(self) -> Mapping[GroupId, Time]:
        """All file groups that others are writing to, or have changed since the write began -> the instant of the other."""
        groups = self._committed()
        for other in self._others():
            groups.update(dict.fromkeys(filter(None, map(_group, read_markers(self.storage, other))), other))
        return groups

    def check_against(self, others: Mapping[GroupId, Time], groups: Iterable[GroupId]) -> None:
        """Raises EarlyConflictError for the first of `groups` that is among `others`."""
        for group in groups:
            if group in others:
                raise self.conflict(group, others[group])

    def conflict(self, group: GroupId, other: Time) -> EarlyConflictError:
        """The error for a conflict."""
        return EarlyConflictError(
            f"Write {self.instant} of table {self.storage.base_path} gave up early: {other}, which began before it, was first",
            found=f"file group {group.file_id} of partition {group.partition!r} is being changed by both",
            fix="nothing of this write is left; run it again when the other is done "
            "(hoodie.write.num.retries.on.conflict.failures does so by itself)",
        )

    def _others(self) -> list[Time]:
        """Writers at work that began earlier, by their markers and heartbeats."""
        marked = marked_instants(self.storage)
        earlier = [instant for instant in marked if instant < self.instant and instant not in self.finished]
        if not earlier:
            return []
        beats = Heartbeats.of(self.storage, self.clock, self.looking.expiry_ms)
        return [instant for instant in earlier if beats.alive(instant)]

    def _committed(self) -> dict[GroupId, Time]:
        if not self.looking.commits:
            return {}
        state = load_state(self.storage, self.clock)
        new = [commit for commit in state.timeline.commits if commit.time not in self.finished]
        bodies = ((commit.time, state.commit_metadata(commit)) for commit in new)
        # The completion of the write decides about logs beside a compaction.
        return {s.group: t for t, body in bodies if body.operation not in _COMPACTIONS for s in body.stats}


@dataclass
class PeriodicDetection:
    """For a server: what others do is looked at now and then, and each marker is compared with what was found last."""

    detection: EarlyDetection
    _others: Mapping[GroupId, Time] = field(default_factory=dict)
    _next: float | None = None

    def check(self, markers: Collection[str]) -> None:
        """Before markers are written. Raises EarlyConflictError, and what looking raises."""
        now = time.monotonic()
        if self._next is None:
            self._next = now + self.detection.looking.delay_ms / 1000
        if now >= self._next:
            self._others = self.detection.groups()
            self._next = now + self.detection.looking.period_ms / 1000
        files = (noted_file(marker) for marker in markers)
        self.detection.check_against(self._others, filter(None, map(_group, filter(None, files))))


def wait_for_others(storage: Storage, clock: Clock, sharing: ConcurrencyOptions, locking: Locking) -> None:
    """Until no other writer is at work, for as long as a lock would be waited for: a write that has given up for one of them
    would meet it again at once."""
    waited = 0
    while waited < locking.wait_ms:
        beats = Heartbeats.of(storage, clock, sharing.expiry_ms)
        pending = load_state(storage, clock).timeline.pending
        if not any(instant.action in WRITE_ACTIONS and beats.alive(instant.time) for instant in pending):
            return
        clock.sleep(locking.retry_ms / 1000)
        waited += locking.retry_ms


def _noted(storage: Storage, instant: Time, partition: str) -> set[GroupId | None]:
    """The groups of one partition that an instant has markers for, and all groups in files of markers."""
    folder = marker_folder(instant)
    below = storage.list(join(folder, partition)).files
    top = below if not partition else storage.list(folder).files
    direct = (noted_file(join(partition, file.name)) for file in below)
    batched = (file.path for file in top if batch_number(file.name) is not None)
    return {
        _group(file) for file in (*direct, *(file for path in batched for file in read_batch(storage, path))) if file
    }


def _group(data_file: str) -> GroupId | None:
    partition, _, name = data_file.rpartition("/")
    parsed = BaseFileName.parse(name) or LogFileName.parse(name)
    return GroupId(partition, parsed.file_id) if parsed is not None else None
