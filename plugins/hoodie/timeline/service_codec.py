"""Plans and results of the services <-> their Avro records (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoodie.errors import UnsupportedTableError
from hoodie.formats import avro_file
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.services import (
    CleanFile,
    CleanPlan,
    CleanResult,
    CompactionOperation,
    CompactionPlan,
    RollbackPlan,
    RollbackResult,
)
from hoodie.storage.base import join
from hoodie.timeline.instant import Action
from hoodie.timeline.named import named_instant, named_part, named_path, named_watermark, reading

_LOG_COMPACTOR = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"
_VERSION = 2  # of clean plans and results: full paths in plans, file names in results


def encode_clean_plan(plan: CleanPlan, base_path: str) -> bytes:
    files: dict[str, list[dict[str, Any]]] = {}
    for file in plan.files:
        files.setdefault(file.partition, []).append(
            {"filePath": f"{base_path}/{file.path}", "isBootstrapBaseFile": False}
        )
    for file in plan.sources:
        files.setdefault(file.partition, []).append({"filePath": file.path, "isBootstrapBaseFile": True})
    earliest = None
    if plan.earliest_to_retain is not None:
        earliest = {
            "timestamp": plan.earliest_to_retain,
            "action": plan.earliest_action or "commit",
            "state": "COMPLETED",
        }
    return avro_file.encode(
        "HoodieCleanerPlan",
        {
            "earliestInstantToRetain": earliest,
            "lastCompletedCommitTimestamp": plan.last_completed,
            "policy": plan.policy,
            "filesToBeDeletedPerPartition": {},
            "version": _VERSION,
            "filePathsToBeDeletedPerPartition": files,
            "partitionsToBeDeleted": [],
            "extraMetadata": dict(plan.extra),
        },
    )


def decode_clean_plan(data: bytes, where: str, relative: Any) -> CleanPlan:
    """`relative(path)` turns a path of the plan, absolute or with a scheme, into one relative to the base path.

    Raises CorruptTableError naming `where` for a torn plan, UnsafePathError for one that names what no plan may name.
    """
    record = avro_file.decode(data, where)
    files: list[CleanFile] = []
    sources: list[CleanFile] = []
    with reading(where, "clean plan"):
        for partition, entries in (record.get("filePathsToBeDeletedPerPartition") or {}).items():
            partition = named_path(partition, where)
            paths = [entry["filePath"] for entry in entries if not entry.get("isBootstrapBaseFile")]
            files.extend(_planned_file(partition, named_path(relative(path), where)) for path in paths)
            kept_apart = [entry["filePath"] for entry in entries if entry.get("isBootstrapBaseFile")]
            sources.extend(_planned_file(partition, path) for path in kept_apart)
        for partition, names in (record.get("filesToBeDeletedPerPartition") or {}).items():  # plans of version 1
            partition = named_path(partition, where)
            files.extend(_planned_file(partition, join(partition, named_part(name, where))) for name in names)
        earliest = record.get("earliestInstantToRetain") or {}
        return CleanPlan(
            policy=record["policy"],
            files=tuple(files),
            earliest_to_retain=named_watermark(earliest.get("timestamp"), where) or None,
            earliest_action=earliest.get("action"),
            last_completed=named_watermark(record.get("lastCompletedCommitTimestamp"), where),
            extra=record.get("extraMetadata") or {},
            sources=tuple(sources),
        )


def _planned_file(partition: str, path: str) -> CleanFile:
    name = path.rpartition("/")[2]
    parsed = BaseFileName.parse(name) or LogFileName.parse(name)
    return CleanFile(path, partition, parsed.file_id if parsed else "", 0, "planned before")


def encode_clean_result(result: CleanResult) -> bytes:
    return avro_file.encode(
        "HoodieCleanMetadata",
        {
            "startCleanTime": result.start,
            "timeTakenInMillis": result.millis,
            "totalFilesDeleted": sum(len(names) for names in result.deleted.values()),
            "earliestCommitToRetain": result.earliest_to_retain,
            "lastCompletedCommitTimestamp": result.last_completed,
            "partitionMetadata": _cleaned(result.policy, result.deleted, result.failed),
            "version": _VERSION,
            "bootstrapPartitionMetadata": _cleaned(result.policy, result.sources, {}),
            "extraMetadata": dict(result.extra),
        },
    )


def _cleaned(
    policy: str, deleted: Mapping[str, tuple[str, ...]], failed: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, Any]]:
    return {
        partition: {
            "partitionPath": partition,
            "policy": policy,
            "deletePathPatterns": [*deleted.get(partition, ()), *failed.get(partition, ())],
            "successDeleteFiles": list(deleted.get(partition, ())),
            "failedDeleteFiles": list(failed.get(partition, ())),
            "isPartitionDeleted": False,
        }
        for partition in sorted({*deleted, *failed})
    }


def decode_clean_result(data: bytes, where: str) -> CleanResult:
    """Raises CorruptTableError naming `where`."""
    return clean_result_of(avro_file.decode(data, where), where)


def clean_result_of(record: dict[str, Any], where: str) -> CleanResult:
    """The result in a decoded HoodieCleanMetadata."""
    with reading(where, "clean"):
        partitions = record.get("partitionMetadata") or {}
        return CleanResult(
            start=record["startCleanTime"],
            millis=record["timeTakenInMillis"],
            policy=next((entry["policy"] for entry in partitions.values()), ""),
            earliest_to_retain=record.get("earliestCommitToRetain") or "",
            last_completed=record.get("lastCompletedCommitTimestamp") or "",
            deleted={part: tuple(entry["successDeleteFiles"]) for part, entry in partitions.items()},
            failed={
                part: tuple(entry["failedDeleteFiles"])
                for part, entry in partitions.items()
                if entry["failedDeleteFiles"]
            },
            extra=record.get("extraMetadata") or {},
        )


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


def decode_rollback_plan(data: bytes, where: str, relative: Any) -> RollbackPlan:
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
    return avro_file.encode(
        "HoodieRollbackMetadata",
        {
            "startRollbackTime": result.start,
            "timeTakenInMillis": result.millis,
            "totalFilesDeleted": sum(len(paths) for paths in result.deleted.values()),
            "commitsRollback": [result.instant],
            "partitionMetadata": partitions,
            "version": 1,
            "instantsRollback": [{"commitTime": result.instant, "action": result.action}],
        },
    )


def encode_compaction_plan(plan: CompactionPlan) -> bytes:
    operations = [
        {
            "baseInstantTime": operation.base_instant,
            "deltaFilePaths": list(operation.log_files),
            "dataFilePath": operation.base_file,
            "fileId": operation.file_id,
            "partitionPath": operation.partition,
            "metrics": dict(operation.metrics),
            "bootstrapFilePath": operation.source,
        }
        for operation in plan.operations
    ]
    record: dict[str, Any] = {"operations": operations, "extraMetadata": dict(plan.extra), "version": _VERSION}
    if plan.logs_only:  # Hudi 0.x loads this class to execute the plan
        strategy = {"compactorClassName": _LOG_COMPACTOR, "strategyParams": {}, "version": 1}
        record |= {"strategy": strategy, "preserveHoodieMetadata": True}
    return avro_file.encode("HoodieCompactionPlan", record)


def decode_compaction_plan(data: bytes, where: str) -> CompactionPlan:
    """Raises CorruptTableError naming `where` for a torn plan, UnsafePathError for one whose paths lead out of the table."""
    record = avro_file.decode(data, where)
    with reading(where, "compaction plan"):
        operations = tuple(
            CompactionOperation(
                named_path(entry.get("partitionPath"), where),
                named_part(entry["fileId"], where),
                named_instant(entry["baseInstantTime"], where),
                _name(entry.get("dataFilePath")),
                tuple(_name(path) or "" for path in entry.get("deltaFilePaths") or ()),
                entry.get("metrics") or {},
                entry.get("bootstrapFilePath") or None,
            )
            for entry in record.get("operations") or ()
        )
        return CompactionPlan(operations, record.get("extraMetadata") or {})


def _name(path: str | None) -> str | None:
    """The file's name: plans of version 1 hold whole paths."""
    return path.rpartition("/")[2] if path else None
