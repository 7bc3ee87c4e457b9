"""Carrying out an upgrade, so that a kill at any point leaves a table that its version reads whole.

The new timeline is written beside the old one, which stays in use. Then `hoodie.properties` is replaced, and readers use the new
one from that step on. Only then the old files go. Call these functions under the table's lock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hoodie.clock import Clock
from hoodie.config.properties.store import update_properties
from hoodie.display import counted, some
from hoodie.errors import PendingInstantError
from hoodie.model.time import BEGINNING
from hoodie.services.upgrade.history import write_history
from hoodie.services.upgrade.index_definitions import add_versions
from hoodie.services.upgrade.marks import MARK, UpgradeMark, read_mark
from hoodie.services.upgrade.plan import UpgradePlan
from hoodie.services.upgrade.state_file import StateFileChange, body_in_layout_2
from hoodie.storage.base import Storage
from hoodie.storage.idempotent import create_own
from hoodie.timeline import LayoutV1, LayoutV2, list_instants
from hoodie.timeline.archive.logs import LogArchive
from hoodie.timeline.archive.writer import drop
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.locks import ensure_held, verify_held
from hoodie.view import TableState

READER_SECONDS = 10.0
"""Time for readers that have read the old properties to list the old timeline."""
_AT_ONCE = 8  # files that are written at the same time
_BATCH = 64  # files until the lock is looked at again


def carry_out(state: TableState, plan: UpgradePlan, clock: Clock, *, at_once: int = _AT_ONCE) -> None:
    """Upgrade the table of `state`, of which `plan` was made.

    Raises CorruptTableError for a file that cannot be converted, and PendingInstantError when a writer without the lock was at
    work: the table then has its old version, and nothing of the new one is left.
    """
    storage = state.storage
    if plan.definitions:
        add_versions(storage)
    if plan.layout is None:
        verify_held()
        update_properties(storage, plan.properties)
        return
    mark = _begin(state, plan, plan.layout)
    try:
        _write_timeline(state, plan.layout, plan.files, at_once)
        _write_history(state, plan.layout)
        _refuse_others(state, plan.files)
        verify_held()
    except Exception:
        _withdraw_own(storage, plan.layout)
        raise
    update_properties(storage, plan.properties)
    _settle(state, plan, plan.layout)
    clock.sleep(READER_SECONDS)
    _settle(state, plan, plan.layout)
    _remove_old(storage, clock, mark)


def go_on(state: TableState, clock: Clock) -> None:
    """End an upgrade that was killed after its switch.

    Raises PendingInstantError when a writer of the old version has written since: its rows are in no version of the timeline.
    """
    mark = read_mark(state.storage)
    assert mark is not None, "the plan was made of it"
    old = LayoutV1(state.zone, state.properties.archive_folder)
    late = [instant.file_name for instant in list_instants(state.storage, old) if instant.file_name not in mark.files]
    if late:
        raise PendingInstantError(
            f"A writer of the old version has written to table {state.storage.base_path} after its upgrade",
            found=f".hoodie has {some(sorted(late))}",
            fix="stop that writer, move these files away, and write its rows again with the new version",
        )
    _remove_old(state.storage, clock, mark)


def _remove_old(storage: Storage, clock: Clock, mark: UpgradeMark) -> None:
    """Delete the files of the old timeline, the oldest instant first, and then the mark."""
    paths = [f"{LayoutV1.folder}/{name}" for name in mark.files]
    action = Audited(mark.latest, "upgrade", f"the table was upgraded from version {mark.version} to {mark.target}", "")
    with audited(storage, clock, action, [AuditedFile(path) for path in paths]):
        for path in paths:
            ensure_held()
            drop(storage, path)
    drop(storage, MARK)


def _begin(state: TableState, plan: UpgradePlan, layout: LayoutV2) -> UpgradeMark:
    """Leave the mark. A new timeline that an earlier run has begun, and that no program reads, goes first."""
    verify_held()
    if read_mark(state.storage) is not None:
        _withdraw(state.storage, layout)
    names = tuple(file.instant.file_name for file in plan.files)
    mark = UpgradeMark(state.properties.version, plan.target, state.timeline.latest_time or BEGINNING, names)
    mark.write(state.storage)
    return mark


def _withdraw_own(storage: Storage, layout: LayoutV2) -> None:
    """Withdraw after an error; not when the lock is lost, as the new timeline may be that of its next holder. The next
    run deletes the rest."""
    with suppress(Exception):  # the first error says more
        verify_held()
        _withdraw(storage, layout)


def _withdraw(storage: Storage, layout: LayoutV2) -> None:
    storage.delete_folder(layout.folder)
    drop(storage, MARK)


def _write_timeline(state: TableState, layout: LayoutV2, files: Sequence[StateFileChange], at_once: int) -> None:
    def one(file: StateFileChange) -> None:
        body = state.body(file.instant) if file.instant.stamp[0] else b""
        body = body_in_layout_2(body, file.instant, state.where(file.instant))
        create_own(state.storage, f"{layout.folder}/{file.name}", body)

    with ThreadPoolExecutor(at_once) as pool:
        for start in range(0, len(files), _BATCH):
            ensure_held()
            list(pool.map(one, files[start : start + _BATCH]))


def _write_history(state: TableState, layout: LayoutV2) -> None:
    archive = state.archive
    assert isinstance(archive, LogArchive), "the old timeline has an archive of logs"
    write_history(state.storage, archive, layout)


def _refuse_others(state: TableState, files: Collection[StateFileChange]) -> None:
    """Raises PendingInstantError when the old timeline is not the one that was converted any more."""
    converted = {file.instant.file_name: file.instant.stamp[0] for file in files}
    current = {instant.file_name: instant.stamp[0] for instant in list_instants(state.storage, state.layout)}
    differs = sorted(name for name in converted.keys() | current.keys() if converted.get(name) != current.get(name))
    if differs:
        raise PendingInstantError(
            f"The upgrade of table {state.storage.base_path} was taken back: another writer was at work without its lock",
            found=f"{counted(len(differs), 'file')} of the timeline changed, such as {differs[0]}",
            fix="stop that writer, or give all writers the same hoodie.write.lock.provider, and run the upgrade again",
        )


def _settle(state: TableState, plan: UpgradePlan, layout: LayoutV2) -> None:
    """After the switch: if a writer of the old version came in between, go back, unless a writer of the new one came as well."""
    try:
        _refuse_others(state, plan.files)
    except PendingInstantError as error:
        names = {file.name for file in plan.files}
        others = [
            instant.file_name for instant in list_instants(state.storage, layout) if instant.file_name not in names
        ]
        if others:
            raise PendingInstantError(
                f"Writers of both versions have written to table {state.storage.base_path} during its upgrade",
                found=f"{some(sorted(others))} in {layout.folder}; {error.found}",
                fix="stop all writers. The new files of the old version in .hoodie are in no timeline: move them away, and "
                "write their rows again with the new version; then run the upgrade again",
            ) from error
        verify_held()
        update_properties(state.storage, state.properties)
        _withdraw(state.storage, layout)
        raise
