"""Plan of a restore to a savepoint (format notes, section 11). Reads and lists, changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hoodie.display import counted
from hoodie.errors import CorruptTableError, SavepointError
from hoodie.model.commit import CommitMetadata
from hoodie.model.restore import RestorePlan
from hoodie.model.rollback import RollbackPlan
from hoodie.model.time import Time
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps, weighed
from hoodie.services.stages import Item, Items, Loss, RestoreScope
from hoodie.timeline import WRITE_ACTIONS, Action, Instant
from hoodie.transaction.rollback import plan_rollbacks, refuse_pending_clean
from hoodie.view import TableState, TableView
from hoodie.view.files import sizes_by_path
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.restore import instants_after
from hoodie.view.savepoints import savepoint_named


@dataclass(frozen=True)
class _Undone:
    """An instant that is rolled back: what it did, and the files that go; sizes in bytes."""

    instant: Instant
    did: CommitMetadata
    plan: RollbackPlan
    size: int

    @property
    def rows(self) -> tuple[int, int, int]:
        """Inserted, updated, deleted."""
        if self.did.moves_rows:
            return 0, 0, 0
        stats = self.did.stats
        return sum(s.num_inserts for s in stats), sum(s.num_updates for s in stats), sum(s.num_deletes for s in stats)

    def item(self) -> Item:
        inserted, updated, deleted = self.rows
        facts: dict[str, Any] = {
            "instant": self.instant.time,
            "operation": self.did.operation,
            "state": self.instant.state.name,
        }
        facts |= {"rows_inserted": inserted, "rows_updated": updated, "rows_deleted": deleted, "files": self.plan.count}
        rows = f"{counted(inserted, 'row')} inserted, {updated:,} updated, {deleted:,} deleted; "
        reason = f"{self.did.operation}: {rows if any(self.rows) else ''}{counted(self.plan.count, 'file')}"
        if not self.instant.is_completed:
            reason = f"{self.instant.state.name.lower()}: {counted(self.plan.count, 'file')}"
        return Item(f"{self.instant.time} {self.instant.action}", self.size, reason, facts)


@retried_when_missing
def decide_restore(state: TableState, savepoint: Time, caps: Caps) -> Decision[RestorePlan]:
    """The instants that are rolled back, in the order in which that is done, with what is lost by each, weighed by `caps`.

    Raises NoSavepointError; SavepointError when a later savepoint, or archived commits, are in between; PendingInstantError for a
    clean that is not complete; MissingFileError when the table would lack a file.
    """
    saved = _saved(state, savepoint)
    undone = instants_after(state, saved)
    _check(state, saved, undone)
    view = TableView(state.before([i for i in undone if i.is_completed]))
    view.latest()
    if not undone:
        return Decision(None, f"nothing came after savepoint {savepoint}", stages=(RestoreScope(savepoint),))
    sizes = sizes_by_path(view.files)
    plans = plan_rollbacks(state, undone, view.files)
    result = [
        _Undone(
            instant,
            state.commit_metadata(instant) if instant.is_completed else CommitMetadata("pending"),
            plan,
            sum(sizes.get(path, 0) for paths in plan.files.values() for path in paths),
        )
        for instant, plan in zip(undone, plans, strict=True)
    ]
    rows = [sum(rollback.rows[kind] for rollback in result) for kind in range(3)]
    deleted, size = sum(rollback.plan.count for rollback in result), sum(rollback.size for rollback in result)
    table_bytes = sum(sizes.values())
    completed = sum(rollback.instant.is_completed for rollback in result)
    return Decision(
        RestorePlan(savepoint, tuple((i.time, str(i.action)) for i in undone)),
        f"{counted(len(undone), 'instant')} came after savepoint {savepoint}",
        stages=(
            RestoreScope(savepoint, completed, len(result) - completed),
            Items("take back", result, size, "instant", _Undone.item),
            Loss(rows[0], rows[1], rows[2], deleted),
        ),
        deletion=weighed(deleted, size, table_bytes, caps, lambda: table_bytes),
    )


def _saved(state: TableState, savepoint: Time) -> Instant:
    saved = savepoint_named(state, savepoint)
    commit = next((commit for commit in state.timeline.commits if commit.time == savepoint), None)
    if commit is None:
        raise CorruptTableError(
            f"Table {state.storage.base_path} cannot be restored to savepoint {savepoint}",
            found=f"{state.layout.path(saved)}, but no such commit on the timeline",
            fix="restore the file of the commit from a backup, or name another one that `hudi-services savepoint list` shows",
        )
    return commit


def _check(state: TableState, saved: Instant, undone: Sequence[Instant]) -> None:
    where, times = state.storage.base_path, {instant.time for instant in undone}
    later = [savepoint.time for savepoint in state.timeline.completed(Action.SAVEPOINT) if savepoint.time in times]
    if later:
        raise SavepointError(
            f"Table {where} cannot be restored to savepoint {saved.time}",
            found=f"savepoint {later[0]} is of a later commit, which would go",
            fix=f"run `hudi-services restore --savepoint {later[0]}`, or first `hudi-services savepoint delete --instant "
            f"{later[0]}`",
        )
    archived = [i for i in state.archive.instants(after=saved.time) if i.action.completed_as in WRITE_ACTIONS]
    archived_after = [i for i in archived if i.time not in times and i.time != saved.time]
    if archived_after:
        raise SavepointError(
            f"Table {where} cannot be restored to savepoint {saved.time}",
            found=f"{counted(len(archived_after), 'commit')} after it, the first {archived_after[0].time}, "
            f"{'is' if len(archived_after) == 1 else 'are'} archived",
            fix="name a later one that `hudi-services savepoint list` shows; commits that are archived cannot be rolled back",
        )
    refuse_pending_clean(state, f"Table {where} cannot be restored")
