"""Incremental reads: the rows that commits of a range wrote, as they are at its end (format notes, section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.errors import TimeTravelError
from hoodie.model.meta_columns import COMMIT_TIME
from hoodie.read.plan import ReadPlan, plan_read
from hoodie.read.times import moment_as_time
from hoodie.timeline import Instant, pad
from hoodie.view import TableState

_REWRITES = frozenset({"COMPACT", "CLUSTER"})  # operations that move rows and change none


def plan_incremental(
    state: TableState,
    start: str | datetime | None,
    end: str | datetime | None = None,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,
    *,
    full_scan: bool = False,
) -> ReadPlan:
    """Plan a read of the rows written after `start` and not after `end`; None: from the first commit, to the last.

    What counts is when a commit was complete; in version 6, whose timeline does not tell, when it began. A row that was written
    several times appears once, as it was at the end; deleted rows do not appear. Only partitions that the commits touched are
    listed, and row groups without their rows are left out. Raises TimeTravelError when commits of the range were archived, since
    which rows they wrote is then not known to the timeline; with `full_scan` every partition is read and the rows' own commit
    times tell, which is by the begin of commits.
    """
    after = moment_as_time(state, start) if start is not None else ""
    until = moment_as_time(state, end) if end is not None else None
    archived = _archived_before(state)
    if archived is not None and after < archived:
        if not full_scan:
            raise TimeTravelError(
                f"Table {state.storage.base_path} cannot be read from {after or 'its beginning'} on",
                found=f"commits before {archived} were archived",
                fix="start later, or read with full_scan=True, which reads every partition",
            )
        in_range = pc.field(COMMIT_TIME) > after
        if until is not None:
            in_range = in_range & (pc.field(COMMIT_TIME) <= until)
        return plan_read(state, columns, in_range if filter is None else in_range & filter, as_of=end)
    chosen = [
        i for i in state.timeline.commits if after < _key(state, i) and (until is None or _key(state, i) <= until)
    ]
    changing = [i for i in chosen if state.commit_metadata(i).operation not in _REWRITES]
    times = pa.array([instant.time for instant in changing], pa.string())
    wanted = pc.field(COMMIT_TIME).isin(times)
    partitions = sorted(frozenset().union(*(state.commit_metadata(i).partitions for i in changing)))
    # A later write must not hide what the range wrote: the files are those of its end.
    as_of = max((instant.time for instant in chosen), key=pad, default=None) if until is not None else None
    return plan_read(state, columns, wanted if filter is None else wanted & filter, as_of=as_of, partitions=partitions)


def _key(state: TableState, instant: Instant) -> str:
    by_completion = state.layout.version != 1 and instant.completion_time is not None
    return pad(instant.completion_time if by_completion and instant.completion_time else instant.time)


def _archived_before(state: TableState) -> str | None:
    """The first commit that is still on the active timeline, when older ones were archived; else None."""
    if not any(file.size for file in state.storage.list(state.layout.archive_folder).files):
        return None
    first = next(iter(state.timeline.commits), None)
    return pad(first.time) if first is not None else None
