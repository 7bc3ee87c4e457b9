"""Facts about a table from which the rules conclude their advice: plain values, all times with a zone, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hudi_services.entry.target import Target
from hudi_services.operations.objectives.verdict import Verdict
from hudi_services.runtime.pause import Pause

LOADERS = ("ingest", "stream", "cdc sync")
"""The services that bring a table's rows, one of which a table has. The last brings those of all tables of a server."""


Obstacle = Literal["damage", "right", "storage", "settings"]
"""The kinds of what keeps a table from being read. A missing right, a storage that does not answer and a mistake of the settings
damage nothing. A table that this release does not serve counts as such a mistake."""


@dataclass(frozen=True)
class Unreadable:
    """The error that keeps a table from being read. `absent`: there is no table at its path; `awaited`: a load of ours
    will make it; `was_there`: an earlier look has found one. `command` is one of a shell that ends the obstacle."""

    title: str
    fix: str = ""
    cause: str = ""
    absent: bool = False
    awaited: bool = False
    was_there: bool = False
    obstacle: Obstacle = "damage"
    command: str = ""
    since: datetime | None = None


@dataclass(frozen=True)
class Damage:
    """Findings of one check of the doctor: how many, an example with its `detail`, and whether `doctor --fix` repairs
    them. One that is not `grave` leaves rows right. `looked_at` is the time of an earlier round (None: it is of now)."""

    check: str
    title: str
    remedy: str
    fixable: bool
    grave: bool = True
    count: int = 1
    bytes: int = 0
    looked_at: datetime | None = None
    detail: str = ""


@dataclass(frozen=True)
class Work:
    """The work of a service now, and the reason: `items` (each a `noun`) of `bytes` if it is `due`. It `frees` the bytes if it
    removes them at once.

    `over` are the limits for deletes that the plan passes, a line each; then a user has to approve its `digest`, and runs ask
    for that `asked_since`. `seconds` is the median of comparable runs. A clustering makes `outputs` of `inputs`.
    """

    service: str
    due: bool
    reason: str
    items: int = 0
    bytes: int = 0
    noun: str = "file"
    frees: bool = False
    seconds: float | None = None
    over: tuple[str, ...] = ()
    digest: str = ""
    asked_since: datetime | None = None
    inputs: int = 0
    outputs: int = 0


@dataclass(frozen=True)
class Start:
    """The starter of a service, as a sentence. `by_itself` is False for one that only a user starts. `command` is the whole
    command of one that is not a service of the table alone."""

    service: str
    text: str
    by_itself: bool
    command: str = ""


@dataclass(frozen=True)
class Held:
    """Something that an instant keeps a service from doing, since when, and the remedy. A `completed` instant is a savepoint, or
    a commit that a consumer has not read."""

    service: str
    held: str
    instant: str
    action: str
    completed: bool
    since: datetime
    owner: str | None
    reason: str
    fix: str


@dataclass(frozen=True)
class PendingInstant:
    """An instant that is not complete. `files` is the number of data files that its markers name. One that is `abandoned` is no
    plan, and no process is known to be at work on it."""

    instant: str
    action: str
    state: str
    since: datetime
    files: int | None = None
    abandoned: bool = False


@dataclass(frozen=True)
class HeldLock:
    """A lock of the table. `alive` is None if that cannot be known."""

    path: str
    holder: str
    since: datetime | None
    alive: bool | None


@dataclass(frozen=True)
class Reader:
    """A named consumer of changes. `since` is when its first unread commit was complete; services keep what it has not read
    until `held_until`, and no longer if it is `passed`."""

    consumer: str
    commits_behind: int
    since: datetime | None
    held_until: datetime | None
    passed: bool


@dataclass(frozen=True)
class OpenPurge:
    """A purge that has not erased everything: the SHA-256 of its condition, when it last ran, and the files that are held, in
    words by what. One that has not `ended` runs still, or was killed. Its rows may have come back during the run.

    `by_savepoint`: savepoints hold some of the files.
    """

    digest: str
    since: datetime
    ended: bool
    files: int = 0
    bytes: int = 0
    held_by: tuple[str, ...] = ()
    by_savepoint: bool = False


@dataclass(frozen=True)
class LastRun:
    """The last run of a service that has ended. `outcome` is failed, killed, or asks: it waits for an approval."""

    service: str
    outcome: str
    at: datetime
    error: str = ""
    message: str = ""


@dataclass(frozen=True)
class IdleLoad:
    """The last load, if it found nothing new in `source`, and why in words. `looked` is True if the source was also looked at
    now; then `at`, the time of the load, may be None."""

    source: str
    reason: str
    at: datetime | None = None
    looked: bool = False

    def proves(self, missed_since: datetime | None) -> bool:
        """True if the source is known to have brought nothing by the time at which the table became stale."""
        return self.looked or (self.at is not None and (missed_since is None or self.at >= missed_since))


@dataclass(frozen=True)
class BadRows:
    """Rows that loads left out, and that are in the quarantine: the folder, how many loads left some, since when; `rows` is None
    if they were not counted. `reason` is an example of the most frequent reason, which `reason_rows` of them have: it may hold
    values of a row. It is empty if it is not known, or not for all eyes. `elsewhere` are folders of loads that are not in the
    folder that the registry names: commits have their paths."""

    folder: str
    loads: int
    bytes: int
    rows: int | None
    since: datetime | None
    reason: str = ""
    reason_rows: int = 0
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangedFiles:
    """Files of the source in `folder` that have changed since they were loaded, by their paths below it, and since when."""

    folder: str
    paths: tuple[str, ...]
    since: datetime | None


@dataclass(frozen=True)
class NewFiles:
    """Files of the source in `folder` that no load has looked at: how many, their bytes, and since when the first one waits."""

    folder: str
    count: int
    bytes: int
    since: datetime


@dataclass(frozen=True)
class BrokenFiles:
    """Files of the source in `folder` that loads left out, as they could not be read: path and reason of each."""

    folder: str
    reasons: Mapping[str, str]
    since: datetime | None


@dataclass(frozen=True)
class FailedChecks:
    """Checks of the data that the newest load failed, and was committed: what they are, in words. `lost_rows`: it kept one of
    many different rows of a key."""

    instant: str
    text: str
    since: datetime | None
    lost_rows: bool = False


@dataclass(frozen=True)
class Skew:
    """Partitions by `fields`, with their bytes: of all, of the largest one, of the median. `few_rows` is how many hold hardly a
    row. `keys` and `ordering` are what a copy of the table needs."""

    fields: tuple[str, ...]
    partitions: int
    bytes: int
    largest: str
    largest_bytes: int
    median_bytes: int
    few_rows: int = 0
    keys: tuple[str, ...] = ()
    ordering: tuple[str, ...] = ()
    merges_on_read: bool = False


@dataclass(frozen=True)
class TableFacts:
    """All that the rules look at. Parts that were not looked at are empty; `looked` names the others, for people. `idle_patterns`
    say which patterns of the source match no file, and what is there.

    `registered` is False for a table that was named by its path. `warnings` are those of its entry in the registry.
    """

    table: str
    base_path: str
    target: Target
    now: datetime
    registered: bool = True
    looked: tuple[str, ...] = ()
    unreadable: Unreadable | None = None
    damages: tuple[Damage, ...] = ()
    problems: tuple[str, ...] = ()
    objectives: tuple[Verdict, ...] = ()
    work: Mapping[str, Work] = field(default_factory=dict)
    starts: Mapping[str, Start] = field(default_factory=dict)
    pause: Pause | None = None
    held: tuple[Held, ...] = ()
    pending: tuple[PendingInstant, ...] = ()
    locks: tuple[HeldLock, ...] = ()
    readers: tuple[Reader, ...] = ()
    purges: tuple[OpenPurge, ...] = ()
    runs: tuple[LastRun, ...] = ()
    idle_load: IdleLoad | None = None
    bad_rows: BadRows | None = None
    changed_files: ChangedFiles | None = None
    new_files: NewFiles | None = None
    broken_files: BrokenFiles | None = None
    failed_checks: FailedChecks | None = None
    idle_patterns: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skew: Skew | None = None

    @property
    def loader(self) -> Start | None:
        """The service that brings the table's rows; None if other programs do."""
        return next((self.starts[name] for name in LOADERS if name in self.starts), None)

    @property
    def is_stale(self) -> bool:
        """True if the table misses its objective of freshness."""
        return any(verdict.objective == "freshness" and not verdict.is_met for verdict in self.objectives)
