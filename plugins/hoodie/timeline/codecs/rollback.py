"""Plans and results of rollbacks <-> HoodieRollbackPlan and HoodieRollbackMetadata (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoodie.errors import UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.model.names import LogFileName
from hoodie.model.rollback import RollbackPlan, RollbackResult, SharedLogs
from hoodie.model.time import Time
from hoodie.timeline.instant import Action
from hoodie.timeline.name_checks import named_instant, named_part, named_path, named_watermark, reading


def encode_rollback_plan(plan: RollbackPlan, base_path: str) -> bytes:
    requests: list[dict[str, Any]] = [
        {
            "partitionPath": partition,
            "fileId": "",
            "latestBaseInstant": "",
            "filesToBeDeleted": [f"{base_path}/{path}" for path in paths],
            "logBlocksToBeDeleted": {},
        }
        for partition, paths in sorted(plan.files.items())
    ]
    requests += [
        {
            "partitionPath": shared.partition,
            "fileId": shared.file_id,
            "latestBaseInstant": shared.base_instant,
            "filesToBeDeleted": [],
            "logBlocksToBeDeleted": {f"{base_path}/{path}": size for path, size in shared.logs.items()},
        }
        for shared in plan.shared
    ]
    instant = {"commitTime": plan.instant, "action": plan.action}
    return avro_file.encode(
        "HoodieRollbackPlan", {"instantToRollback": instant, "RollbackRequests": requests, "version": 1}
    )


def decode_rollback_plan(data: bytes, where: str, relative: Callable[[str], str]) -> RollbackPlan:
    """`relative` and the errors as in `decode_clean_plan`, and UnsupportedTableError for an action that is not known."""
    record = avro_file.decode(data, where)
    files: dict[str, tuple[str, ...]] = {}
    shared: list[SharedLogs] = []
    with reading(where, "rollback plan"):
        for request in record.get("RollbackRequests") or []:
            partition = named_path(request["partitionPath"], where)
            paths = tuple(named_path(relative(path), where) for path in request["filesToBeDeleted"])
            files[partition] = files.get(partition, ()) + paths
            logs = request.get("logBlocksToBeDeleted")
            if logs:  # planned from a listing it names the table in place of the logs
                named = {path: size for path, size in logs.items() if LogFileName.parse(path.rpartition("/")[2])}
                sizes = {named_path(relative(path), where): int(size) for path, size in named.items()}
                shared.append(_shared(partition, request, sizes, where))
        instant = record.get("instantToRollback") or {}
        time, action = named_instant(instant.get("commitTime"), where), instant.get("action")
    if action not in set(Action):
        raise UnsupportedTableError(
            f"Cannot continue the rollback {where}",
            found=f"it undoes {str(action)[:100]!r} {time}, an action that is not known",
            fix="finish it with the program that began it; nothing was changed",
        )
    return RollbackPlan(time, action, files, tuple(shared))


def _shared(partition: str, request: dict[str, Any], logs: dict[str, int], where: str) -> SharedLogs:
    """Raises ValueError for a slice of which no log could be named."""
    file_id = named_part(request["fileId"], where)
    base = named_instant(request["latestBaseInstant"], where)
    if LogFileName.parse(str(LogFileName(file_id, base, 1, "0-0-0"))) is None:
        raise ValueError(f"file id {file_id!r:.100}")
    return SharedLogs(partition, file_id, base, logs)


def encode_rollback_result(result: RollbackResult, base_path: str) -> bytes:
    return avro_file.encode("HoodieRollbackMetadata", rollback_record(result, base_path))


def decode_rollback_result(data: bytes, where: str) -> RollbackResult:
    """Raises CorruptTableError naming `where`, UnsafePathError for one that names what it may not."""
    record = avro_file.decode(data, where)
    with reading(where, "rollback"):
        return rollback_of(record, where)


def rollback_of(record: dict[str, Any], where: str) -> RollbackResult:
    """A HoodieRollbackMetadata. Call it inside `reading`."""
    instants = record.get("instantsRollback") or [{"commitTime": time} for time in record["commitsRollback"]]
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
    """HoodieRollbackMetadata, as it is also in a restore."""
    partitions: dict[str, dict[str, Any]] = {}
    for partition in sorted({*result.deleted, *(shared.partition for shared, _ in result.shared.values())}):
        shared_logs = {path: info for path, info in result.shared.items() if info[0].partition == partition}
        partitions[partition] = {
            "partitionPath": partition,
            "successDeleteFiles": [f"{base_path}/{path}" for path in result.deleted.get(partition, ())],
            "failedDeleteFiles": [],
            "rollbackLogFiles": {f"{base_path}/{path}": size for path, (_, size) in shared_logs.items()},
            "logFilesFromFailedCommit": {
                f"{base_path}/{path}": size for shared, _ in shared_logs.values() for path, size in shared.logs.items()
            },
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
