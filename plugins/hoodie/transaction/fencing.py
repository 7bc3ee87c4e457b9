"""Tasks that outlive their write: what they finish after its rollback or its commit is taken away again.

Spark may go on with tasks of a write that has failed, or whose driver was killed, and with attempts that were given up for lost
and done again. A file that such a task finished after the rollback would count as committed once the timeline begins after its
instant (format notes, section 2.1), one that it finished after the commit does so at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import LockLostError, PendingInstantError
from hoodie.storage.base import Storage
from hoodie.timeline import Action, State, parse_name
from hoodie.transaction.guard import delete_data_files


@contextmanager
def only_while_pending(storage: Storage, inflight: str, path: str) -> Iterator[None]:
    """Around the writing of the data file `path` by the instant whose inflight file is `inflight`.

    Raises PendingInstantError, and deletes the data file, when the instant was rolled back or completed in the meantime; also
    when the file cannot be finished because a rollback or restore, which may still be at work, has deleted its first part.
    """
    try:
        yield
    except FileNotFoundError as error:
        overtaken = _overtaken(storage, inflight, path) or _taken_back(storage, inflight, path)
        if overtaken is None:
            raise
        raise overtaken from error
    overtaken = _overtaken(storage, inflight, path)
    if overtaken is not None:
        delete_data_files(storage, {path})
        raise overtaken


def _overtaken(storage: Storage, inflight: str, path: str) -> PendingInstantError | None:
    """None while the instant waits for its data files."""
    folder, _, pending = inflight.rpartition("/")
    names = [info.name for info in storage.list(folder).files]
    time = pending.partition(".")[0]
    completed = next((name for name in names if _completes(name, time)), None)
    if completed is not None:
        result, fix = (
            f"{completed}: another attempt of its task was committed",
            "nothing is left of it, and nothing is missing",
        )
    elif pending not in names:
        result, fix = (
            f"{inflight} is gone: its write was rolled back during the run",
            "nothing is left of it; run the write again",
        )
    else:
        return None
    return PendingInstantError(f"File {path} of table {storage.base_path} was finished too late", found=result, fix=fix)


def _taken_back(storage: Storage, inflight: str, path: str) -> PendingInstantError | None:
    """For a file that is gone: a rollback or restore deletes data files first, and the inflight file at the end."""
    names = [info.name for info in storage.list(inflight.rpartition("/")[0]).files]
    rollback_name = next((name for name in names if _takes_back(name)), None)
    if rollback_name is None:
        return None
    return PendingInstantError(
        f"File {path} of table {storage.base_path} cannot be finished",
        found=f"it was deleted, and {rollback_name} is not complete",
        fix="nothing of its write is visible; run the write again",
    )


def withdraw_if_overtaken(storage: Storage, pending: str, completed: str) -> None:
    """Withdraw the file `completed` of a writer that was stopped between its last check of the lock and the creation of the file,
    long enough for another to have had the lock. `pending` is a file of the instant that exists unless it was rolled back.

    Raises LockLostError, and deletes `completed`, when the other has rolled the instant back, or completed it itself.
    """
    folder, _, name = pending.rpartition("/")
    own = completed.rpartition("/")[2]
    names = {info.name for info in storage.list(folder).files}
    others = [other for other in names if other != own and _completes(other, name.partition(".")[0])]
    if name in names and not others:
        return
    storage.delete(completed)
    raise LockLostError(
        f"Instant {name.partition('.')[0]} of table {storage.base_path} was completed too late",
        found=f"{others[0]} of another process" if others else "another writer had the lock and rolled it back",
        fix="run it again; nothing of it is visible. Find out why the process was stopped for minutes",
    )


def _takes_back(name: str) -> bool:
    parsed = parse_name(name)
    return parsed is not None and parsed[2] in (Action.ROLLBACK, Action.RESTORE) and parsed[3] is not State.COMPLETED


def _completes(name: str, time: str) -> bool:
    parsed = parse_name(name)
    return parsed is not None and parsed[0] == time and parsed[3] is State.COMPLETED
