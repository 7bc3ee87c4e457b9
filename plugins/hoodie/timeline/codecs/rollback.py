"""Plans and results of rollbacks <-> HoodieRollbackPlan and HoodieRollbackMetadata (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoodie.errors import UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.model.rollback import RollbackPlan, RollbackResult
from hoodie.model.time import Time
from hoodie.timeline.instant import Action
from hoodie.timeline.named import named_instant, named_path, named_watermark, reading


def encode_rollback_plan(plan: RollbackPlan, base_path: str) -> bytes:
    requests = [
        {
            "partitionPath": partition,
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [f"{base_path}/{path}" for path in paths],
            "logBlocksToBeDeleted": {},
        }
        for partition, paths in sorted(plan.files.items())
    ]
    instant = {"commitTime": plan.instant, "action": plan.action}
    return avro_file.encode(
        "HoodieRollbackPlan", {"instantToRollback": instant, "RollbackRequests": requests, "version": 1}
    )


def decode_rollback_plan(data: bytes, where: str, relative: Callable[[str], str]) -> RollbackPlan:
    """`relative` and the errors as in `decode_clean_plan`, and UnsupportedTableError for an action that is not known."""
    record = avro_file.decode(data, where)
    files: dict[str, tuple[str, ...]] = {}
    in_logs = False
    with reading(where, "rollback plan"):
        for request in record.get("RollbackRequests") or []:
            partition = named_path(request["partitionPath"], where)
            paths = tuple(named_path(relative(path), where) for path in request["filesToBeDeleted"])
            files[partition] = files.get(partition, ()) + paths
            in_logs = in_logs or bool(request.get("logBlocksToBeDeleted"))
        instant = record.get("instantToRollback") or {}
        time, action = named_instant(instant.get("commitTime"), where), instant.get("action")
    if action not in set(Action):
        raise UnsupportedTableError(
            f"Cannot go on with the rollback {where}",
            found=f"it undoes {str(action)[:100]!r} {time}, an action that is not known",
            fix="finish it with the program that began it; nothing was changed",
        )
    return RollbackPlan(time, action, files, in_logs)


def encode_rollback_result(result: RollbackResult, base_path: str) -> bytes:
    return avro_file.encode("HoodieRollbackMetadata", rollback_record(result, base_path))


def decode_rollback_result(data: bytes, where: str) -> RollbackResult:
    """Raises CorruptTableError naming `where`, UnsafePathError for one that names what it may not."""
    record = avro_file.decode(data, where)
    with reading(where, "rollback"):
        instants = record.get("instantsRollback") or [{"commitTime": each} for each in record["commitsRollback"]]
        return RollbackResult(
            Time.of(record["startRollbackTime"]),
            record["timeTakenInMillis"],
            named_watermark(instants[0]["commitTime"] if instants else None, where),
            (instants[0].get("action") if instants else None) or "",
            {
                named_path(partition, where): tuple(entry["successDeleteFiles"])
                for partition, entry in record["partitionMetadata"].items()
            },
        )


def rollback_record(result: RollbackResult, base_path: str) -> dict[str, Any]:
    """HoodieRollbackMetadata, as it also stands in a restore."""
    partitions = {
        partition: {
            "partitionPath": partition,
            "successDeleteFiles": [f"{base_path}/{path}" for path in paths],
            "failedDeleteFiles": [],
            "rollbackLogFiles": {},
            "logFilesFromFailedCommit": {},
        }
        for partition, paths in sorted(result.deleted.items())
    }
    return {
        "startRollbackTime": result.start,
        "timeTakenInMillis": result.millis,
        "totalFilesDeleted": sum(len(paths) for paths in result.deleted.values()),
        "commitsRollback": [result.instant],
        "partitionMetadata": partitions,
        "version": 1,
        "instantsRollback": [{"commitTime": result.instant, "action": result.action}],
    }
