"""Plan of a rollback of one instant by hand, and its checks (format notes, section 11). Changes nothing."""

from __future__ import annotations

from hoodie.display import counted
from hoodie.errors import CorruptFileError, MissingFileError, RollbackError
from hoodie.markers import read_markers
from hoodie.model.files import GroupId
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.rollback import RollbackPlan
from hoodie.model.time import BEGINNING, Time
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, weighed
from hoodie.services.stages import Item, Items, KeptByRollback, RollbackScope
from hoodie.timeline import WRITE_ACTIONS, Action, Instant, State
from hoodie.transaction.rollback import is_plan, plan_rollbacks, refuse_pending_clean
from hoodie.view import TableState, TableView
from hoodie.view.files import sizes_by_path
from hoodie.view.missing_files import retried_when_missing

_FIX = "make a savepoint before what may have to be taken back, and restore to it; nothing was changed"


@retried_when_missing
def decide_rollback(state: TableState, time: Time, caps: Caps) -> Decision[RollbackPlan]:
    """The files that a rollback of an instant deletes. For a pending instant: files of its markers and of a listing, with the
    differences noted. For a completed one also the files that its commit names, weighed by `caps`.

    Only the completed instant that began last may be rolled back. Raises RollbackError for another one, for one that has a
    savepoint, that a plan builds on, or before which a clean removed files that would be current again; for an instant that is
    not there. PendingInstantError for a clean that is not complete.
    """
    instant = _instant(state, time)
    if instant.state is State.REQUESTED and is_plan(state, instant.time, instant.action):
        return Decision(None, f"{instant.action} {time} is a plan that no run has begun to execute: it stays")
    after = state.before([instant]) if instant.is_completed else state
    view = TableView(after)
    if instant.is_completed:
        _check_last(state, instant)
        refuse_pending_clean(state, f"Commit {time} of table {state.storage.base_path} cannot be rolled back")
        _check_whole(state, view, instant)
    plan = plan_rollbacks(state, (instant,), view.files)[0]
    sizes = sizes_by_path(view.files)
    noted = read_markers(state.storage, time)
    files = [path for paths in plan.files.values() for path in paths]
    items = [Item(path, sizes.get(path, 0), _why(path, sizes, noted, instant)) for path in files]
    reason = f"{instant.action} {time} is {'the last commit' if instant.is_completed else 'not complete'}"
    stays = is_plan(state, instant.time, instant.action) and not instant.is_completed
    size, table_bytes = sum(item.bytes for item in items), sum(sizes.values())
    return Decision(
        plan,
        reason,
        stages=(
            RollbackScope(
                time,
                str(instant.action),
                instant.state.name,
                found_without_marker=0 if instant.is_completed else sum(path not in noted for path in files),
                noted_and_not_there=sum(path not in sizes for path in files),
            ),
            Items("delete", items, size),
            KeptByRollback(time, stays, tuple(path for shared in plan.shared for path in shared.logs)),
        ),
        deletion=weighed(len(items), size, table_bytes, caps, lambda: table_bytes) if instant.is_completed else None,
    )


def _why(path: str, sizes: dict[str, int], noted: set[str], instant: Instant) -> str | None:
    if path not in sizes:
        return "noted, and not there"
    return "found, without a marker" if not instant.is_completed and path not in noted else None


def _instant(state: TableState, time: Time) -> Instant:
    instant = next((i for i in state.timeline if i.time == time and i.action.completed_as in WRITE_ACTIONS), None)
    if instant is None:
        last = state.timeline.last_commit
        pending = [i.time for i in state.timeline.pending if i.action.completed_as in WRITE_ACTIONS]
        raise RollbackError(
            f"Table {state.storage.base_path} has no write or plan {time} on its timeline",
            found=f"its last commit is {last.time if last else '(none)'}, pending are {', '.join(pending) or 'none'}",
            fix="name one of these; `hudi-services show timeline` shows them",
        )
    return instant


def _check_last(state: TableState, instant: Instant) -> None:
    title = f"Commit {instant.time} of table {state.storage.base_path} cannot be rolled back"
    if any(savepoint.time == instant.time for savepoint in state.timeline.completed(Action.SAVEPOINT)):
        raise RollbackError(
            title,
            found="it has a savepoint",
            fix=f"run `hudi-services savepoint delete --instant {instant.time}` first; nothing was changed",
        )
    # By begin, as Hudi's: what was begun before may be complete since, as a compaction, but was not built on it.
    later = [i for i in state.timeline.commits if i.time > instant.time]
    if later:
        raise RollbackError(
            title,
            found=f"{counted(len(later), 'commit')} came after it, the last {later[-1].time}",
            fix="take those back first with `hudi-services rollback`, the last one first; or restore to a savepoint. Nothing was "
            "changed",
        )
    plans = [i for i in state.timeline.pending if i.time > instant.time and is_plan(state, i.time, i.action)]
    if plans:
        raise RollbackError(
            title,
            found=f"{plans[0].action} {plans[0].time} was planned after it and may name its files",
            fix="execute that plan, then undo its instant and this commit by `hudi-services rollback`. Nothing was changed",
        )


def _check_whole(state: TableState, after: TableView, instant: Instant) -> None:
    """A clean after the commit may have removed what the commit superseded, which would be current again."""
    title = f"Commit {instant.time} of table {state.storage.base_path} cannot be rolled back"
    current = {file_slice.group: file_slice.base_instant for file_slice in after.slices}
    for clean in state.timeline.completed(Action.CLEAN):
        if (clean.completion_time or clean.time) < instant.time:
            continue
        for partition, names in state.clean_result(clean).deleted.items():
            for name in names:
                parsed = BaseFileName.parse(name)
                log = LogFileName.parse(name)
                group = GroupId(partition, parsed.file_id if parsed else log.file_id if log else "")
                if (
                    parsed is not None
                    and parsed.instant > current.get(group, BEGINNING)
                    and parsed.instant != instant.time
                ):
                    raise RollbackError(
                        title, found=f"clean {clean.time} removed {name}, which it superseded", fix=_FIX
                    )
    try:
        after.check()
    except (CorruptFileError, MissingFileError) as error:
        raise RollbackError(title, found=str(error), fix=_FIX) from error
