"""CommitMetadata <-> the record of HoodieCommitMetadata / HoodieReplaceCommitMetadata (format notes, section 2.6)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hoodie.errors import CorruptTableError
from hoodie.formats import avro_file
from hoodie.model.commit import NO_PREVIOUS_COMMIT, CommitMetadata, LogStat, WriteStat
from hoodie.timeline.name_checks import named_part, named_path, reading

_OPERATION = re.compile(r"[A-Za-z_]{1,64}")  # a name of Hudi's WriteOperationType
_LONG = 1 << 63  # Hudi's counts are Java's longs


def encode_commit_json(metadata: CommitMetadata, *, replace: bool) -> bytes:
    """The body of a completed file in timeline layout 1."""
    return json.dumps(_to_record(metadata, replace=replace, avro_only=False), indent=2).encode()


def encode_commit_avro(metadata: CommitMetadata, *, replace: bool) -> bytes:
    """The body of a completed file in timeline layout 2."""
    name = "HoodieReplaceCommitMetadata" if replace else "HoodieCommitMetadata"
    return avro_file.encode(name, _to_record(metadata, replace=replace, avro_only=True))


def decode_commit_json(data: bytes, where: str) -> CommitMetadata:
    """Raises CorruptTableError naming `where` on an empty or torn file."""
    return commit_of(load_json(data, where), where)


def avro_commit(record: dict[str, Any]) -> dict[str, Any]:
    """A commit as Avro can hold it: its extra metadata has no value that is nothing."""
    extra = {key: value for key, value in (record.get("extraMetadata") or {}).items() if value is not None}
    return {**record, "extraMetadata": extra}


def load_json(data: bytes, where: str) -> dict[str, Any]:
    """The record in a JSON body. Raises CorruptTableError naming `where` on an empty or torn file."""
    try:
        record = json.loads(data)
        if not isinstance(record, dict):
            raise TypeError("not a JSON object")
    except (ValueError, TypeError, RecursionError) as error:
        raise CorruptTableError(
            f"Cannot read {where}",
            found=f"{len(data)} bytes that are not the JSON of a commit ({error})",
            fix="restore the file from a backup, or run `hudi-services doctor`, which names the way without one. The table is "
            "not read as if it were empty",
        ) from error
    return record


def refuse_empty(record: Mapping[str, Any]) -> None:
    """Raises ValueError for `{}`: not even the commit of no rows is that. It would seem to have written and replaced nothing."""
    if not record:
        raise ValueError("an empty object")


def decode_commit_avro(data: bytes, where: str) -> CommitMetadata:
    """Raises CorruptTableError naming `where` on an empty or torn file."""
    return commit_of(avro_file.decode(data, where), where)


def _to_record(metadata: CommitMetadata, *, replace: bool, avro_only: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "partitionToWriteStats": {
            partition: [_stat_to_record(stat, avro_only) for stat in stats]
            for partition, stats in metadata.by_partition()
        },
        "compacted": metadata.compacted,
        "extraMetadata": dict(metadata.extra),
        "operationType": metadata.operation,
    }
    if replace:
        record["partitionToReplaceFileIds"] = {part: list(ids) for part, ids in sorted(metadata.replaced.items())}
    return record


def _stat_to_record(stat: WriteStat, avro_only: bool) -> dict[str, Any]:
    record: dict[str, Any] = {
        "fileId": stat.file_id,
        "path": stat.path,
        "cdcStats": dict(stat.cdc_stats) if stat.cdc_stats is not None else None,
        "prevCommit": stat.prev_commit,
        "numWrites": stat.num_writes,
        "numDeletes": stat.num_deletes,
        "numUpdateWrites": stat.num_updates,
        "numInserts": stat.num_inserts,
        "totalWriteBytes": stat.file_size,
        "totalWriteErrors": 0,
        "tempPath": None,
        "partitionPath": stat.partition,
        "totalLogRecords": 0,
        "totalLogFilesCompacted": 0,
        "totalLogSizeCompacted": 0,
        "totalUpdatedRecordsCompacted": 0,
        "totalLogBlocks": 0,
        "totalCorruptLogBlock": 0,
        "totalRollbackBlocks": 0,
        "fileSizeInBytes": stat.file_size,
        "minEventTime": None,
        "maxEventTime": None,
        "runtimeStats": {"totalScanTime": 0, "totalUpsertTime": stat.upsert_ms, "totalCreateTime": stat.create_ms},
    }
    if stat.log is not None:
        record |= {
            "logVersion": stat.log.version,
            "logOffset": stat.log.offset,  # 0 of ours: each of their log files holds one write only
            "baseFile": stat.log.base_file,
            "logFiles": list(stat.log.log_files),
        }
    if avro_only:  # fields that table version 6 does not know
        record["prevBaseFile"] = stat.prev_base_file
    return record


def commit_of(record: dict[str, Any], where: str) -> CommitMetadata:
    """The metadata in a decoded HoodieCommitMetadata or HoodieReplaceCommitMetadata.

    Raises UnsafePathError for paths that lead out of the table, CorruptTableError for a record of another kind, or `{}`.
    """
    with reading(where, "commit"):
        refuse_empty(record)
        stats = tuple(
            _stat_from_record(named_path(partition, where), stat, where)
            for partition, entries in (record.get("partitionToWriteStats") or {}).items()
            for stat in entries
        )
        replaced = {
            named_path(partition, where): tuple(named_part(file_id, where) for file_id in ids)
            for partition, ids in (record.get("partitionToReplaceFileIds") or {}).items()
        }
        extra = {key: _text(value) for key, value in (record.get("extraMetadata") or {}).items() if value is not None}
        return CommitMetadata(
            operation=_operation(record.get("operationType")),
            stats=stats,
            extra=extra,
            replaced=replaced,
            compacted=bool(record.get("compacted")),
        )


def _stat_from_record(partition: str, stat: dict[str, Any], where: str) -> WriteStat:
    runtime = stat.get("runtimeStats") or {}
    return WriteStat(
        file_id=named_part(stat.get("fileId"), where),
        path=named_path(stat.get("path"), where),
        partition=partition,
        prev_commit=_text(stat.get("prevCommit")) or NO_PREVIOUS_COMMIT,
        prev_base_file=None if (before := stat.get("prevBaseFile")) is None else _text(before),
        num_writes=count(stat.get("numWrites")),
        num_inserts=count(stat.get("numInserts")),
        num_updates=count(stat.get("numUpdateWrites")),
        num_deletes=count(stat.get("numDeletes")),
        file_size=count(stat.get("fileSizeInBytes")),
        create_ms=count(runtime.get("totalCreateTime")),
        upsert_ms=count(runtime.get("totalUpsertTime")),
        cdc_stats=stat.get("cdcStats"),
        log=None
        if stat.get("logFiles") is None
        else LogStat(
            _text(stat.get("baseFile")),
            tuple(stat["logFiles"]),
            count(stat.get("logVersion")),
            count(stat.get("logOffset")),
        ),
    )


def _operation(name: object) -> str:
    """It is shown, compared and passed on: a name of Hudi's, and not any text in the file."""
    if not name:
        return "UNKNOWN"
    if not isinstance(name, str) or not _OPERATION.fullmatch(name):
        raise ValueError(f"{str(name)[:100]!r} is not an operation")
    return name


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:100]!r} is not text")
    return value


def count(value: object) -> int:
    """Rows, bytes or milliseconds; what is below 0 was not counted. JSON could hold any number, and NaN."""
    if value is None:
        return 0
    if type(value) is not int or not -_LONG <= value < _LONG:
        raise ValueError(f"{str(value)[:100]!r} is not a count")
    return max(value, 0)
