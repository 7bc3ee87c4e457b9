"""The archive of timeline layout 1 written as the history of layout 2 (format notes, sections 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hoodie.errors import CorruptTableError
from hoodie.services.upgrade.state_file import encoded, encoded_commit
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant, LayoutV2, State
from hoodie.timeline.archive.logs import LogArchive, body_member
from hoodie.timeline.archive.writer import ArchiveSettings, Entry, StateFile
from hoodie.transaction.locks import ensure_held

_BATCH = 500  # instants of a file of the history
_SCHEMAS = {
    Action.CLEAN: "HoodieCleanMetadata",
    Action.ROLLBACK: "HoodieRollbackMetadata",
    Action.SAVEPOINT: "HoodieSavepointMetadata",
    Action.INDEXING: "HoodieIndexCommitMetadata",
}
_PLANS = {
    Action.CLEAN: ("hoodieCleanerPlan", "HoodieCleanerPlan"),
    Action.COMPACTION: ("hoodieCompactionPlan", "HoodieCompactionPlan"),
    Action.LOG_COMPACTION: ("hoodieCompactionPlan", "HoodieCompactionPlan"),
    Action.REPLACE_COMMIT: ("hoodieRequestedReplaceMetadata", "HoodieRequestedReplaceMetadata"),
}


def write_history(storage: Storage, archive: LogArchive, layout: LayoutV2) -> None:
    """Write all instants of the archive to the history of `layout`, of which there is none yet, and look whether they are there.

    Raises CorruptTableError naming an instant of the archive that cannot be read, or that the history does not have.
    """
    instants = archive.instants()
    writer = layout.archive_writer(storage, ArchiveSettings())
    for start in range(0, len(instants), _BATCH):
        ensure_held()
        writer.add([_entry(storage, archive, instant) for instant in instants[start : start + _BATCH]])
    if instants:
        writer.tidy()
    written = {instant.key for instant in layout.open_archive(storage).instants()}
    lost = sorted(written.symmetric_difference(instant.key for instant in instants))
    if lost:
        raise CorruptTableError(
            f"The history of table {storage.base_path} has not the instants of its archive",
            found=f"{len(lost):,} that differ, such as {lost[0][0]} {lost[0][1]}",
            fix="see with `hudi-services show locks` who else writes there; the table was not upgraded",
        )


def _entry(storage: Storage, archive: LogArchive, archived: Instant) -> Entry:
    files: list[StateFile] = []
    for instant, record in archive.states(archived):
        where = f"instant {instant} in the archive of table {storage.base_path}"
        files.append(StateFile(replace(instant, completion_time=instant.time), _body(instant, record, where)))
    return Entry(files[-1], tuple(_pending(files)))


def _pending(files: Sequence[StateFile]) -> Iterator[StateFile]:
    return (file for file in files if not file.instant.is_completed)


def _body(instant: Instant, record: dict[str, Any], where: str) -> bytes:
    """The file that the instant had in this state, as layout 2 has it; empty where layout 1 archives nothing."""
    match instant.state:
        case State.COMPLETED:
            return _completed(instant, record, where)
        case State.REQUESTED if instant.action in _PLANS:
            member, name = _PLANS[instant.action]
            plan = record.get(member)
            return encoded(name, plan, where) if plan else b""
    return b""


def _completed(instant: Instant, record: dict[str, Any], where: str) -> bytes:
    if instant.action is Action.RESTORE:
        return b""
    member, name = body_member(instant.action), _SCHEMAS.get(instant.action)
    body = record.get(member)
    if body is None:
        raise CorruptTableError(
            f"{where} does not say what it did",
            found=f"no {member}",
            fix="restore the archive from a backup; the table was not upgraded",
        )
    if name is not None:
        return encoded(name, body, where)
    return encoded_commit(body, where, replaces=instant.action is Action.REPLACE_COMMIT)
