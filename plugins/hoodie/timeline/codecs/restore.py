"""Plans and results of restores <-> HoodieRestorePlan and HoodieRestoreMetadata (format notes, section 2.5)."""

from __future__ import annotations

from hoodie.errors import UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.model.restore import RestorePlan, RestoreResult
from hoodie.model.rollback import RollbackResult
from hoodie.model.time import Time
from hoodie.timeline.codecs.rollback import rollback_of, rollback_record
from hoodie.timeline.instant import Action
from hoodie.timeline.name_checks import named_instant, named_watermark, reading

_VERSION = 2  # names the savepoint


def encode_restore_plan(plan: RestorePlan) -> bytes:
    return avro_file.encode(
        "HoodieRestorePlan",
        {
            "instantsToRollback": [{"commitTime": time, "action": action} for time, action in plan.instants],
            "version": _VERSION,
            "savepointToRestoreTimestamp": plan.savepoint,
        },
    )


def decode_restore_plan(data: bytes, where: str) -> RestorePlan:
    """Raises CorruptTableError naming `where` for a torn plan, UnsafePathError for one whose instants are more than that,
    UnsupportedTableError for an action that is not known."""
    record = avro_file.decode(data, where)
    with reading(where, "restore plan"):
        instants = tuple(
            (named_instant(entry["commitTime"], where), str(entry["action"])) for entry in record["instantsToRollback"]
        )
        savepoint = named_watermark(record.get("savepointToRestoreTimestamp"), where) or None
    unknown = next((action for _, action in instants if action not in set(Action)), None)
    if unknown is not None:
        raise UnsupportedTableError(
            f"Cannot continue the restore {where}",
            found=f"it rolls back an instant of the unknown action {unknown[:100]!r}",
            fix="finish it with the program that began it; nothing was changed",
        )
    return RestorePlan(savepoint, instants)


def encode_restore_result(result: RestoreResult, base_path: str) -> bytes:
    return avro_file.encode(
        "HoodieRestoreMetadata",
        {
            "startRestoreTime": result.start,
            "timeTakenInMillis": result.millis,
            "instantsToRollback": [rollback.instant for rollback in result.rollbacks],
            "hoodieRestoreMetadata": {
                rollback.instant: [rollback_record(rollback, base_path)] for rollback in result.rollbacks
            },
            "version": 1,
            "restoreInstantInfo": [
                {"commitTime": rollback.instant, "action": rollback.action} for rollback in result.rollbacks
            ],
        },
    )


def restored_instants(data: bytes, where: str) -> frozenset[Time]:
    """The instants that a completed restore rolled back. Raises CorruptTableError naming `where`."""
    record = avro_file.decode(data, where)
    with reading(where, "restore"):
        return frozenset(named_instant(time, where) for time in record["instantsToRollback"])


def restored_rollbacks(data: bytes, where: str) -> list[RollbackResult]:
    """The files that a completed restore has deleted, by instant. Raises CorruptTableError naming `where`, UnsafePathError."""
    record = avro_file.decode(data, where)
    with reading(where, "restore"):
        rollbacks = record.get("hoodieRestoreMetadata") or {}
        return [rollback_of(entry, where) for records in rollbacks.values() for entry in records]
