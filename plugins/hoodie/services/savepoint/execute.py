"""Making and deleting savepoints: one instant at the time of the commit that it keeps."""

from __future__ import annotations

from hoodie.config.groups import SAVEPOINT_OPTIONS
from hoodie.config.key import resolve
from hoodie.config.options import RawOptions
from hoodie.errors import HoodieError, PendingInstantError
from hoodie.model.savepoint import Savepoint
from hoodie.model.time import Time
from hoodie.services.savepoint.plan import SavepointRequest, plan_savepoint
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.codecs.restore import decode_restore_plan
from hoodie.timeline.codecs.savepoint import encode_savepoint
from hoodie.transaction import instants
from hoodie.transaction.locks import Locking, table_lock
from hoodie.view import TableState
from hoodie.view.access import TableAccess
from hoodie.view.savepoints import savepoint_named


def make_savepoint(access: TableAccess, request: SavepointRequest, options: RawOptions) -> Savepoint:
    """Keep the files of a commit until its savepoint is deleted. Raises what `plan_savepoint` raises, and LockHeldError.

    Safe to kill at any point: without its last file there is no savepoint, and the next call makes it.
    """
    with table_lock(access.storage, access.clock, "savepoint", _locking(options)):
        state = _settled(access)
        planned = plan_savepoint(state, request, access.clock)
        requested = instants.start(state, Instant(planned.instant, Action.SAVEPOINT, State.REQUESTED))
        instants.complete(state, requested, encode_savepoint(planned), access.clock)
    return planned


def delete_savepoint(access: TableAccess, instant: Time, options: RawOptions) -> None:
    """Let the next cleans remove what only this savepoint keeps. Raises NoSavepointError, and LockHeldError."""
    with table_lock(access.storage, access.clock, "delete savepoint", _locking(options)):
        state = _settled(access)
        state.storage.delete(state.layout.path(savepoint_named(state, instant)))
        state.storage.delete(state.layout.inflight_path(instant, Action.SAVEPOINT))


def _locking(options: RawOptions) -> Locking:
    return Locking.of(resolve(options, SAVEPOINT_OPTIONS.keys))


def _settled(access: TableAccess) -> TableState:
    """Raises PendingInstantError while a restore is under way: its savepoint must stay, and what it rolls back goes.

    Raises UnsupportedTableError for a table that is read only.
    """
    state = access.state()
    state.properties.check_changeable()
    restore = next((i for i in state.timeline.pending if i.action is Action.RESTORE), None)
    if restore is not None:
        raise PendingInstantError(
            f"A restore of table {state.storage.base_path} is not complete",
            found=str(restore),
            fix=f"wait for it; or, if its process has died, run {_again(state, restore)} again",
        )
    return state


def _again(state: TableState, restore: Instant) -> str:
    """The command that goes on with a restore, to the savepoint of its plan."""
    path = state.layout.requested_path(restore.time, Action.RESTORE)
    try:
        savepoint = decode_restore_plan(state.storage.read(path), path).savepoint
    except (HoodieError, FileNotFoundError):  # the restore meets it and says so
        savepoint = None
    if savepoint is None:
        return "the restore to its savepoint, one of `hudi-services savepoint list`,"
    return f"`hudi-services restore --savepoint {savepoint}`"
