"""The page of a table as the watcher saw it. Numbers are those of `hudi-services show table`, which the snapshot has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from hoodie.display import counted
from hudi_services.entry.target import Target
from hudi_services.operations.inspect.service_plans import next_words
from hudi_services.operations.pages.write_volume import Wrote, over_time
from hudi_services.operations.watch.model import Event, Snapshot

_CARRIED_OUT = {"compaction": "compact", "logcompaction": "compact", "clustering": "cluster", "clean": "clean"}
"""The service whose next run carries out a pending plan, by its action."""


@dataclass(frozen=True)
class Fact:
    """A number of the table; `value` is ISO in UTC where `unit` is a time."""

    name: str
    value: float | str
    unit: Literal["count", "bytes", "time"]


@dataclass(frozen=True)
class Drawn:
    """An instant, and what it wrote: None where the watcher did not see it begin. Times as ISO in UTC."""

    instant: str
    action: str
    state: str
    began: str
    completed: str | None
    operation: str
    rows: int | None
    bytes: int | None
    files: int | None
    partitions: int | None


@dataclass(frozen=True)
class Partition:
    """A partition and its current contents; sizes in bytes, `bytes` with logs. `missing` files of it are lost."""

    path: str
    bytes: int
    file_groups: int
    log_bytes: int
    log_files: int
    older_bytes: int
    missing: int = 0


@dataclass(frozen=True)
class Group:
    """A file group: its newest slice and how many `slices` there are; sizes in bytes, `base_bytes` None without a base file."""

    partition: str
    file_group: str
    since: str
    slices: int
    base_bytes: int | None
    log_files: int
    log_bytes: int
    older_bytes: int


@dataclass(frozen=True)
class SizeClass:
    """Base files from `from_bytes` to below `to_bytes`; the last class is open."""

    from_bytes: int
    to_bytes: int | None
    files: int
    bytes: int


@dataclass(frozen=True)
class Skew:
    """Sizes of partitions or base files, in bytes; `share` is that of the largest one, `path` names the largest partition."""

    count: int
    largest: int
    median: int
    smallest: int
    share: float
    path: str


@dataclass(frozen=True)
class Waiting:
    """Something that waits or holds something back: since when (ISO in UTC), the `commands` that help, and the `remedy` that says
    which of them is for which case."""

    kind: Literal["pending", "lock", "held back", "problem", "paused"]
    text: str
    since: str | None = None
    commands: tuple[str, ...] = ()
    remedy: str = ""


@dataclass(frozen=True)
class Consumer:
    """A named consumer of changes. `position` is the completion time of the last commit that it has read, `since` when the first
    commit after it was complete. Services keep what is unread until `held_until`; `passed`: they no longer do. Times as ISO."""

    consumer: str
    position: str | None
    commits_behind: int
    since: str | None
    held_until: str | None
    passed: bool
    committed_at: str
    committed_by: str


@dataclass(frozen=True)
class Changed:
    """Columns that came, went or changed with an instant; `completed` as ISO in UTC."""

    instant: str
    completed: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class SnapshotPage:
    """`measured_at` is when the numbers were read: the last look may have failed.

    `partitions_left_out` are smaller than those here; `groups` are the file groups that want a service most, without
    `groups_left_out`; `older` says whether the timeline goes on before `instants`; `wrote` is None where the watcher has seen no
    commit complete; `changed` since it first looked, the newest first."""

    looked_at: str
    measured_at: str
    facts: tuple[Fact, ...]
    waiting: tuple[Waiting, ...]
    next: tuple[str, ...]
    objectives: tuple[Mapping[str, Any], ...]
    instants: tuple[Drawn, ...]
    older: bool
    wrote: Wrote | None
    columns: tuple[Mapping[str, str], ...]
    changed: tuple[Changed, ...]
    sizes: tuple[SizeClass, ...]
    partitions: tuple[Partition, ...]
    partitions_left_out: int
    groups: tuple[Group, ...]
    groups_left_out: int
    consumers: tuple[Consumer, ...] = ()
    skew: Mapping[str, Skew] = field(default_factory=dict)


def seen(name: str, snapshot: Snapshot, events: Iterable[Event]) -> SnapshotPage | None:
    """The page of a snapshot; None for a table of which no look succeeded. `events` are of the table: they show what
    instants wrote."""
    body = snapshot.body
    if not body:
        return None
    events, columns = tuple(events), body.get("columns") or {"now": [], "changes": []}
    table_values, looked_at = body["table"], snapshot.summary.looked_at
    wrote = {(event.instant, event.action): event.facts for event in events}
    # These say more than the event of an instant that was there at the first look.
    wrote |= {(row["instant"], row["action"]): row for row in table_values["last_commits"]}
    return SnapshotPage(
        looked_at.isoformat(),
        (snapshot.summary.measured_at or looked_at).isoformat(),
        tuple(_facts(table_values)),
        tuple(_waiting(name, table_values, looked_at)),
        tuple(f"{service}: {next_words(service, outlook)}" for service, outlook in table_values["next"].items()),
        tuple(table_values["objectives"]),
        tuple(_drawn(row, wrote.get((row["instant"], row["action"]), {})) for row in body["timeline"]),
        bool(body["older"]),
        over_time(events),
        tuple(columns["now"]),
        tuple(
            Changed(change["instant"], change["completed"], tuple(change["changes"]))
            for change in reversed(columns["changes"])
        ),
        tuple(SizeClass(**bar) for bar in table_values["base_file_sizes"]),
        tuple(map(_partition, body["partitions"])),
        body["partitions_left_out"],
        tuple(Group(**row) for row in body.get("groups", ())),
        body.get("groups_left_out", 0),
        tuple(_consumer(row, looked_at) for row in table_values.get("consumers", ())),
        {kind: Skew(**sizes) for kind, sizes in (body.get("skew") or {}).items()},
    )


def _facts(table_values: Mapping[str, Any]) -> Iterator[Fact]:
    names: Sequence[tuple[str, str, Literal["count", "bytes", "time"]]] = (
        ("rows in base files", "rows_in_base_files", "count"),
        ("rows in logs", "rows_in_logs", "count"),
        ("deletions in logs", "deletions_in_logs", "count"),
        ("base files", "base_files", "count"),
        ("size of base files", "base_bytes", "bytes"),
        ("log files", "log_files", "count"),
        ("size of logs", "log_bytes", "bytes"),
        ("older versions", "older_files", "count"),
        ("size of older versions", "older_bytes", "bytes"),
        ("partitions", "partitions", "count"),
        ("file groups", "file_groups", "count"),
        ("commits on the timeline", "commits", "count"),
        ("last commit", "last_commit", "time"),
    )
    for name, key, unit in names:
        if table_values[key] is not None:
            yield Fact(name, table_values[key], unit)


def _waiting(name: str, table_values: Mapping[str, Any], looked_at: datetime) -> Iterator[Waiting]:
    def since(age: float | None) -> str | None:
        return (looked_at - timedelta(seconds=age)).isoformat() if age is not None else None

    remedy = next((row["remedy"] for row in table_values.get("findings", ()) if row["grave"]), "")
    target = Target.of(table_values["base_path"], name)
    for problem in table_values["problems"]:
        commands = target.commands(remedy) or target.commands(problem) or (f"hudi-services doctor --table {name}",)
        yield Waiting("problem", problem, commands=commands, remedy=target.with_commands(remedy))
    if (paused := table_values.get("paused")) is not None:
        yield Waiting("paused", str(paused["told"]), commands=(f"hudi-services resume --table {name}",))
    for blocker in table_values["blockers"]:
        holder = f"{blocker['action']} {blocker['instant']}, {blocker['reason']}"
        text = f"{blocker['service']}: {blocker['held']} held back by {holder}. {target.with_commands(blocker['fix'])}"
        yield Waiting("held back", text, since(blocker["age"]), target.commands(blocker["fix"]))
    for instant in table_values["pending"]:
        service = _CARRIED_OUT.get(instant["action"])
        commands = (f"hudi-services {service} --table {name}",) if service is not None else ()
        text = f"{instant['action']} {instant['instant']}, {instant['state'].lower()}"
        if (markers := instant.get("markers")) is not None:
            text += f", {counted(markers, 'data file')} begun by its markers"
        yield Waiting("pending", text, instant["began"], commands)
    for lock in table_values["locks"]:
        is_dead = lock["alive"] is False
        text = f"{lock['path']}, {lock['holder']}{', which is gone' if is_dead else ''}"
        commands = (f"hudi-services unlock --table {name}",) if is_dead else ()
        yield Waiting("lock", text, since(lock["age"]), commands)


def _drawn(row: Mapping[str, Any], wrote: Mapping[str, Any]) -> Drawn:
    return Drawn(
        row["instant"],
        row["action"],
        row["state"].lower(),
        row["began"],
        row["completed"],
        str(wrote.get("operation") or "").lower(),
        wrote.get("rows_written"),
        wrote.get("bytes_written"),
        wrote.get("files"),
        wrote.get("partitions"),
    )


def _consumer(row: Mapping[str, Any], looked_at: datetime) -> Consumer:
    def since(age: float) -> str:
        return (looked_at - timedelta(seconds=age)).isoformat()

    return Consumer(
        row["consumer"],
        row["position"],
        row["commits_behind"],
        since(row["seconds_behind"]) if row["commits_behind"] else None,
        row["held_until"],
        row["passed"],
        since(row["age"]),
        row["committed_by"],
    )


def _partition(row: Mapping[str, Any]) -> Partition:
    return Partition(
        row["partition"],
        row["bytes"],
        row["file_groups"],
        row["log_bytes"],
        row["log_files"],
        row["older_bytes"],
        len(row.get("missing", ())),
    )
