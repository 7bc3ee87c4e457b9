"""Plans and results of cleans <-> HoodieCleanerPlan and HoodieCleanMetadata (format notes, section 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hoodie.formats import avro_file
from hoodie.model.clean import CleanFile, CleanPlan, CleanResult
from hoodie.model.names import BaseFileName, LogFileName
from hoodie.model.time import Time
from hoodie.storage.base import join
from hoodie.timeline.name_checks import named_part, named_path, named_watermark, reading

_VERSION = 2  # full paths in plans, file names in results


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


def decode_clean_plan(data: bytes, where: str, relative: Callable[[str], str]) -> CleanPlan:
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
            start=Time.of(record["startCleanTime"]),
            millis=record["timeTakenInMillis"],
            policy=next((entry["policy"] for entry in partitions.values()), ""),
            earliest_to_retain=Time.of(record.get("earliestCommitToRetain") or ""),
            last_completed=Time.of(record.get("lastCompletedCommitTimestamp") or ""),
            deleted={part: tuple(entry["successDeleteFiles"]) for part, entry in partitions.items()},
            failed={
                part: tuple(entry["failedDeleteFiles"])
                for part, entry in partitions.items()
                if entry["failedDeleteFiles"]
            },
            extra=record.get("extraMetadata") or {},
        )
