"""Plans and results of the services <-> their Avro records (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """`relative(path)` turns a path of the plan, absolute or with a scheme, into one relative to the base path."""
    record = avro_file.decode(data, where)
    files: list[CleanFile] = []
    sources: list[CleanFile] = []
    for partition, entries in (record.get("filePathsToBeDeletedPerPartition") or {}).items():
        paths = [entry["filePath"] for entry in entries if not entry.get("isBootstrapBaseFile")]
        files.extend(_planned_file(partition, relative(path)) for path in paths)
        kept_apart = [entry["filePath"] for entry in entries if entry.get("isBootstrapBaseFile")]
        sources.extend(_planned_file(partition, path) for path in kept_apart)
    for partition, names in (record.get("filesToBeDeletedPerPartition") or {}).items():  # plans of version 1
        files.extend(_planned_file(partition, join(partition, name)) for name in names)
    earliest = record.get("earliestInstantToRetain") or {}
    return CleanPlan(
        policy=record["policy"],
        files=tuple(files),
        earliest_to_retain=earliest.get("timestamp"),
        earliest_action=earliest.get("action"),
        last_completed=record.get("lastCompletedCommitTimestamp") or "",
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
    return clean_result_of(avro_file.decode(data, where))


def clean_result_of(record: dict[str, Any]) -> CleanResult:
    """The result in a decoded HoodieCleanMetadata."""
    partitions = record.get("partitionMetadata") or {}
    return CleanResult(
        start=record["startCleanTime"],
        millis=record["timeTakenInMillis"],
        policy=next((entry["policy"] for entry in partitions.values()), ""),
        earliest_to_retain=record.get("earliestCommitToRetain") or "",
        last_completed=record.get("lastCompletedCommitTimestamp") or "",
        deleted={part: tuple(entry["successDeleteFiles"]) for part, entry in partitions.items()},
        failed={
            part: tuple(entry["failedDeleteFiles"]) for part, entry in partitions.items() if entry["failedDeleteFiles"]
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
    """`relative` as in `decode_clean_plan`."""
    record = avro_file.decode(data, where)
    files: dict[str, tuple[str, ...]] = {}
    in_logs = False
    for request in record.get("RollbackRequests") or []:
        paths = tuple(relative(path) for path in request["filesToBeDeleted"])
        files[request["partitionPath"]] = files.get(request["partitionPath"], ()) + paths
        in_logs = in_logs or bool(request.get("logBlocksToBeDeleted"))
    instant = record.get("instantToRollback") or {}
    return RollbackPlan(instant.get("commitTime", ""), instant.get("action", ""), files, in_logs)


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
    """Raises CorruptTableError naming `where`."""
    record = avro_file.decode(data, where)
    operations = tuple(
        CompactionOperation(
            entry.get("partitionPath") or "",
            entry["fileId"],
            entry["baseInstantTime"],
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
