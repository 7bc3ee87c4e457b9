"""Moving an instant from state to state: each step is one file, created exclusively, so of two writers one
wins, and readers see it whole or not at all."""

from __future__ import annotations

from dataclasses import replace

from hoodie.clock import Clock
from hoodie.errors import LockLostError, NotCommittedError, PendingInstantError, UnclearCommitError
from hoodie.model.time import Time
from hoodie.storage.idempotent import Outcome, create_own, outcome_of
from hoodie.timeline import Action, Instant, State
from hoodie.transaction import listeners
from hoodie.transaction.fencing import withdraw_if_overtaken
from hoodie.transaction.instant_generator import new_time, undoing_time
from hoodie.transaction.locks import certainly_held, ensure_held, verify_held
from hoodie.view.state import TableState

_UNDOING = frozenset({Action.ROLLBACK, Action.RESTORE})


def request(state: TableState, time: Time, action: Action, body: bytes = b"") -> Instant:
    """Create `<time>.<action>.requested`.

    Raises LockLostError, and leaves nothing, when the lock was lost since `state` was loaded: others may have committed since,
    and a plan made of `state` would hide their rows.
    """
    ensure_held()
    requested = _create(state, Instant(time, action, State.REQUESTED), body)
    try:
        ensure_held()
    except LockLostError:
        state.storage.delete(state.layout.path(requested))
        raise
    return requested


def start(state: TableState, instant: Instant, body: bytes = b"") -> Instant:
    """Create the inflight file; nothing happens when an earlier attempt has created it."""
    inflight = replace(instant, state=State.INFLIGHT)
    listeners.notify(inflight)
    try:
        return _create(state, inflight, body)
    except FileExistsError:
        return replace(inflight, file_name=state.layout.pending_name(inflight))


def complete(state: TableState, instant: Instant, body: bytes, clock: Clock, *, after: Time | None = None) -> Instant:
    """Create the completed file: the one step that readers see. Later steps must not make it look undone.

    Its completion is later than all times on the timeline of `state`, than the instant itself and than `after`, even if the
    clock goes back: readers of changes have read all that is not later than their position.

    When that fails, the file is looked up once: if it is there, the instant is complete. Raises NotCommittedError when it is
    certainly not complete, UnclearCommitError when the storage does not answer, PendingInstantError when another process has
    completed the instant, LockLostError when the lock was lost before. In each case nothing is rolled back here: the next writer
    does it.
    """
    generate = undoing_time if instant.action in _UNDOING else new_time
    completion = generate(state, clock, after=max(instant.time, after) if after is not None else instant.time)
    name = state.layout.completed_name(instant, completion)
    completed = Instant(instant.time, instant.action.completed_as, State.COMPLETED, completion, name)
    path = state.layout.path(completed)
    verify_held()
    try:
        state.storage.create(path, body)
    except Exception as error:
        outcome = outcome_of(state.storage, path, body, error)
        if outcome is not Outcome.DONE:
            raise _not_done(state, instant, path, outcome, error) from error
    if not certainly_held():
        withdraw_if_overtaken(state.storage, state.layout.path(instant), path)
    listeners.notify(completed)
    return completed


def _create(state: TableState, instant: Instant, body: bytes) -> Instant:
    named = replace(instant, file_name=state.layout.pending_name(instant))
    create_own(state.storage, state.layout.path(named), body)
    return named


def _not_done(
    state: TableState, instant: Instant, path: str, outcome: Outcome, error: Exception
) -> NotCommittedError | PendingInstantError | UnclearCommitError:
    named = f"{instant.action.completed_as} {instant.time} of table {state.storage.base_path}"
    if outcome is Outcome.REFUSED:
        return NotCommittedError(
            f"The {named} was not completed",
            found=f"{path} could not be created: {error}",
            fix="remove the cause and run it again; the table reads as before",
        )
    if outcome is Outcome.OTHER:
        return PendingInstantError(
            f"The {named} was completed by another process",
            found=f"{path} is there with another content",
            fix="look at it with `hudi-services show commits` before anything is run again",
        )
    return UnclearCommitError(
        f"It is unknown whether the {named} is complete",
        found=f"creating {path}: {str(error) or type(error).__name__}",
        fix=f"look with `hudi-services show commits` whether {instant.time} is there before anything is run again; "
        "if it is not, the next write rolls it back",
    )
