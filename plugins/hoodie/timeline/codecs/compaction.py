"""Plans of compactions and log compactions <-> HoodieCompactionPlan (format notes, section 2.5)."""

from __future__ import annotations

from typing import Any

from hoodie.formats import avro_file
from hoodie.model.compaction import CompactionOperation, CompactionPlan
from hoodie.timeline.name_checks import named_instant, named_part, named_path, reading

_LOG_COMPACTOR = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"
_VERSION = 2  # file names in operations


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
