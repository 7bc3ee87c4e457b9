"""Obstacles to an upgrade: what it could not convert, and what another process is at."""

from __future__ import annotations

from collections.abc import Iterator

from hoodie.clock import Clock
from hoodie.config.keys.bootstrap import SOURCE
from hoodie.config.keys.compaction import STRATEGY, UNBOUNDED
from hoodie.config.keys.table import MERGE_MODE
from hoodie.config.properties.merge import COMMIT, EVENT
from hoodie.config.properties.table import TableProperties
from hoodie.display import counted, some
from hoodie.services.obstacle import Obstacle
from hoodie.services.relocation.obstacles import at_work
from hoodie.services.upgrade.properties import merge_changes, needs_mode
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, LayoutV2
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState, TableView

MERGING = "merging"
"""The kind of obstacle that a user may pass over."""
_EXECUTE = {
    Action.COMPACTION: "compact --mode execute",
    Action.LOG_COMPACTION: "compact --mode execute",
    Action.CLUSTERING: "cluster --mode execute",
}


def obstacles(
    state: TableState,
    after: TableProperties,
    layout: LayoutV2 | None,
    clock: Clock,
    sharing: ConcurrencyOptions,
    *,
    chosen: bool,
    resumes: bool,
) -> Iterator[Obstacle]:
    """Yield what holds the upgrade back. `layout` is that of the new timeline, None if the timeline stays. `chosen`: a user has
    chosen the merge mode. `resumes`: an earlier run has begun the new timeline."""
    changes = list(merge_changes(state.properties, after, chosen=chosen))
    yield from at_work(state, clock, sharing)
    yield from _pending(state)
    if layout is not None:
        yield from _unknown(state, layout, resumes=resumes)
    if (layout is not None or changes) and SOURCE.name not in state.properties.raw:
        yield from _logs(state)
    if changes:
        yield Obstacle(MERGING, "; ".join(changes), _merging_fix(state.properties))


def _pending(state: TableState) -> Iterator[Obstacle]:
    """Instants that are not complete: no process could go on with them in another layout."""
    for instant in state.timeline.pending:
        yield Obstacle("pending", f"{instant.action} {instant.time} is not complete", _end(state, instant))


def _end(state: TableState, instant: Instant) -> str:
    time = instant.time
    if instant.action in _EXECUTE:
        return f"`hudi-services {_EXECUTE[instant.action]} --instant {time}`"
    if instant.action in WRITE_ACTIONS:
        if is_plan(state, time, instant.action):
            return f"`hudi-services cluster --mode execute --instant {time}`"
        return f"wait for its writer, or `hudi-services rollback --instant {time}`"
    if instant.action is Action.CLEAN:
        return "`hudi-services clean` finishes it"
    if instant.action is Action.INDEXING:
        return "finish it with Hudi, which began it"
    return "any write or service finishes it, such as `hudi-services clean`"


def _unknown(state: TableState, layout: LayoutV2, *, resumes: bool) -> Iterator[Obstacle]:
    raw = state.properties.raw
    if raw.get(SOURCE.name):
        yield Obstacle(
            "bootstrap", f"rows are in {raw[SOURCE.name]}, a bootstrap of version 6", "upgrade the table with Hudi"
        )
    listing = state.storage.list(layout.folder)
    if not resumes and (listing.files or listing.folders):
        yield Obstacle(
            "timeline",
            f"{layout.folder} is not empty: another program has begun an upgrade",
            "end it with that program, which Hudi's next write does",
        )


def _logs(state: TableState) -> Iterator[Obstacle]:
    """Logs of current slices: version 6 names and merges them in another way. Older slices may have some."""
    if not state.properties.is_merge_on_read:
        return
    slices = [file_slice for file_slice in TableView(state).latest() if file_slice.log_files]
    if slices:
        logs = sum(len(file_slice.log_files) for file_slice in slices)
        where = some([file_slice.partition or "the table" for file_slice in slices])
        yield Obstacle(
            "logs",
            f"{counted(logs, 'log')} of {counted(len(slices), 'file group')} are not compacted, in {where}",
            f"compact all of them: `hudi-services compact --force --hoodie-conf {STRATEGY.name}={UNBOUNDED}`",
        )


def _merging_fix(properties: TableProperties) -> str:
    if needs_mode(properties):
        ordering = ", ".join(properties.ordering_fields)
        option = f"--hoodie-conf {MERGE_MODE.name}"
        return f"choose: {option}={COMMIT} (the later write wins) or {option}={EVENT} (the greater {ordering} wins)"
    return "add --despite merging, if that is meant"
