"""Conflicts of a change with those that others completed since it began: pure, but for commits and plans that it reads.

Two changes conflict when they touch one file group, and the first to complete wins, as in Hudi's
`SimpleConcurrentFileWritesConflictResolutionStrategy` (decision 35). Hudi compares the times at which instants began; this
compares the instants that are complete in one state and not in the other, without any clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from hoodie.cache import cached_property
from hoodie.errors import WriteConflictError
from hoodie.model.commit import ALTER_SCHEMA, CommitMetadata
from hoodie.model.files import GroupId
from hoodie.model.names import LogFileName
from hoodie.model.time import Time
from hoodie.schema import avro_to_arrow, data_columns
from hoodie.timeline import Action, Instant
from hoodie.transaction.change import Change
from hoodie.transaction.window import Window
from hoodie.view.pending_groups import PendingGroups
from hoodie.view.state import TableState
from hoodie.view.table_schema import table_schema

_COMPACT, _LOG_COMPACT = "COMPACT", "LOG_COMPACT"
_NAMED = 3  # groups that an error names
_VOLATILE = ("hoodie.table.checksum", "hoodie.table.metadata.")  # no matter of rows


@dataclass(frozen=True)
class Conflict:
    """Reason against a change: the instant that was first, if it is one, and why."""

    reason: str
    winner: Instant | None = None
    groups: tuple[GroupId, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Files and groups that a change depends on."""

    change: Change

    @cached_property
    def logs(self) -> Mapping[GroupId, Time]:
        """Groups to which it has only appended -> the time in the name of the log."""
        result: dict[GroupId, Time] = {}
        for stat in self.change.metadata.stats:
            name = LogFileName.parse(stat.path.rpartition("/")[2])
            if name is not None:
                result[stat.group] = name.time
        return result

    @cached_property
    def groups(self) -> frozenset[GroupId]:
        """All groups that it wrote to or depends on."""
        return self.change.touched | {stat.group for stat in self.change.metadata.stats}

    def holds(self, group: GroupId) -> bool:
        """Return whether it depends on this group, or on the whole partition of the group."""
        return group in self.groups or group.partition in self.change.overwrites


def find_conflict(change: Change, window: Window) -> Conflict | None:
    """The conflict that prevents the completion of `change` in the state `window.now`; None without one.

    Raises what the reading of commits and plans raises.
    """
    if window.restores:
        return Conflict("the table was restored to an earlier state", window.restores[0])
    if not any(instant.key == change.instant.key for instant in window.now.timeline.pending):
        return Conflict("its own instant is not pending any more: another writer took it for dead and rolled it back")
    if window.taken_back:
        return Conflict("this commit, on which it was built, was taken back", window.taken_back[0])
    properties = _changed_properties(window)
    if properties:
        return Conflict(f"the table's properties were changed: {', '.join(properties)}")
    claim = Claim(change)
    for commit in window.commits:
        metadata = window.now.commit_metadata(commit)
        changed = {*(stat.group for stat in metadata.stats), *metadata.replaced_groups}
        shared = _sorted(group for group in changed if claim.holds(group))
        shared = tuple(group for group in shared if not _bears_commit(claim, group, commit, metadata, window.now))
        if shared:
            return Conflict(f"{metadata.operation} has changed the same file groups", commit, shared)
    return _planned(claim, window) or _lost_slice(claim, window.now) or _changed_schema(change, window)


def conflict_error(state: TableState, loser: Instant, conflict: Conflict) -> WriteConflictError:
    """The error for a conflict."""
    winner = conflict.winner
    named = [f"{group.file_id} of partition {group.partition!r}" for group in conflict.groups[:_NAMED]]
    more = f" and {len(conflict.groups) - _NAMED} more" if len(conflict.groups) > _NAMED else ""
    winner_text = f" by {winner}" if winner is not None else ""
    groups = f", file group{'s' if len(named) > 1 else ''} {', '.join(named)}{more}" if named else ""
    return WriteConflictError(
        f"Write {loser.time} of table {state.storage.base_path} lost against another that came first{winner_text}",
        found=f"{conflict.reason}{groups}",
        fix="nothing of this write is left; run it again, it then goes out from what the other has left "
        "(hoodie.write.num.retries.on.conflict.failures does so by itself)",
    )


def _bears_commit(claim: Claim, group: GroupId, commit: Instant, metadata: CommitMetadata, now: TableState) -> bool:
    """Return whether the log blocks that the change appended to the group count on top of the commit's files.

    A log of table version 8 and newer belongs to the newest base file that was begun before the log is complete, and one of
    version 6 to the base file of the instant in its name. Merged logs are ordered among others by the time of their instant.
    Under non-blocking concurrency control a log counts beside logs of others, and on top of base files that began before it is
    complete.
    """
    if group.partition in claim.change.overwrites:
        return metadata.operation in (_COMPACT, _LOG_COMPACT)  # the same rows: their group is replaced all the same
    if group not in claim.logs:
        return False
    if claim.change.appends and metadata.operation not in (_COMPACT, _LOG_COMPACT):
        return group not in metadata.replaced_groups
    if metadata.operation == _COMPACT:
        return now.layout.logs_tell_writer or claim.logs[group] == commit.time
    return metadata.operation == _LOG_COMPACT and commit.time < claim.change.instant.time


def _planned(claim: Claim, window: Window) -> Conflict | None:
    """Check against plans that were made since the begin: they read the groups without this change, and hide it when they
    complete."""
    if not window.plans:
        return None
    busy, new = PendingGroups(window.now), {instant.key for instant in window.plans}
    kinds = [("clustering", busy.clustering, claim.groups), ("log compaction", busy.log_compacting, claim.groups)]
    bears = window.now.layout.logs_tell_writer
    kinds.append(("compaction", busy.compacting, claim.groups - set(claim.logs) if bears else claim.groups))
    for kind, planned, groups in kinds:
        shared = _sorted(group for group in groups if group in planned and planned[group].key in new)
        if shared:
            return Conflict(f"a {kind} of the same file groups was planned", planned[shared[0]], shared)
    return None


def _lost_slice(claim: Claim, now: TableState) -> Conflict | None:
    """In version 6 a log may carry the instant of a planned compaction: without that plan no reader would read the log."""
    if now.layout.logs_tell_writer:
        return None
    compactions = {instant.time for instant in now.timeline.pending if instant.action is Action.COMPACTION}
    lost_slices = _sorted(
        g for g, time in claim.logs.items() if time not in compactions and not now.timeline.is_committed(time)
    )
    return Conflict("the compaction that its logs wait for was given up", None, lost_slices) if lost_slices else None


def _changed_properties(window: Window) -> list[str]:
    before, after = window.start.properties.raw, window.now.properties.raw
    names = sorted({*before, *after})
    return [n for n in names if not n.startswith(_VOLATILE) and before.get(n) != after.get(n)]


def _changed_schema(change: Change, window: Window) -> Conflict | None:
    """The newest instant's columns are the table's: a change must neither hide columns that another has added, nor add some that
    an instant begun later, complete or planned, would hide."""
    declared = change.metadata.schema
    if not (window.commits or window.plans) or declared is None:
        return None
    altered = [i for i in window.commits if window.now.commit_metadata(i).operation == ALTER_SCHEMA]
    if altered:  # what is called as before may be another column by now
        return Conflict("it has changed the table's columns", altered[0])
    own: pa.Schema = data_columns(avro_to_arrow(declared))
    before, after = table_schema(window.start), table_schema(window.now)
    alters = change.metadata.operation == ALTER_SCHEMA
    if after == own and not alters and (after == before or not window.start.schemas):
        return None
    if after != before:  # where columns have ids, one that two have added has got one of each
        return Conflict("it has changed the table's columns", window.commits[-1] if window.commits else None)
    later = [i for i in (*window.commits, *window.plans) if i.time > change.instant.time]
    return Conflict("it began later, and would hide the columns that this write adds", later[0]) if later else None


def _sorted(groups: Iterable[GroupId]) -> tuple[GroupId, ...]:
    return tuple(sorted(groups))
