"""Procedures that show what is in log files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from hoodie.errors import SqlError
from hoodie.formats.log import BlockType, LogBlock, read_deletes, read_rows, scan_blocks
from hoodie.schema import find_fields
from hoodie.sql.procedures.procedure import (
    FILTER,
    FLAG,
    INT,
    TABLE_OR_PATH,
    TEXT,
    Call,
    Parameter,
    Procedure,
    columns,
    limit,
)
from hoodie.view import TableView

_PATTERN = Parameter("log_file_path_pattern", required=True)
_DATA = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.CDC_DATA)


def _blocks(call: Call) -> Iterator[LogBlock]:
    """Those of the logs whose path, whole or below the table, matches."""
    pattern, count = call["log_file_path_pattern"], 0
    for partition in TableView(call.state).files:
        for log in partition.log_files:
            full_path = f"{call.table.base_path}/{log.path}"
            if PurePosixPath(full_path).match(pattern) or PurePosixPath(log.path).match(pattern):
                count += 1
                yield from scan_blocks(call.table.storage, log.path)
    if not count:
        raise SqlError(
            f"No log of table {call.table.base_path} matches {pattern!r:.200}",
            fix="give a path or a pattern such as 'day=2026-01-31/.*.log.*'",
        )


def _metadata(call: Call) -> Iterator[tuple[Any, ...]]:
    for block in _blocks(call):
        headers = json.dumps({key.name: value for key, value in block.headers.items()}, ensure_ascii=False)
        yield str(block.instant), _rows(call, block), f"{block.kind.name}_BLOCK", headers, "{}"


def _rows(call: Call, block: LogBlock) -> int:
    if block.kind in _DATA:
        return sum(rows.num_rows for rows in read_rows(call.table.storage, block))
    if block.kind is BlockType.DELETE:
        return int(read_deletes(call.table.storage, block, _ordering(call)).num_rows)
    return 0


def _ordering(call: Call) -> list[pa.Field]:
    return find_fields(call.table.schema, call.state.properties.ordering_fields)


def _records(call: Call) -> Iterator[tuple[str]]:
    if call["merge"]:
        raise SqlError("Rows of logs are shown as they were written", found="merge => true", fix="query the table")
    for block in _blocks(call):
        if block.kind in _DATA:
            for rows in read_rows(call.table.storage, block):
                for batch in rows.to_batches(max_chunksize=1_000):
                    yield from (
                        (json.dumps(row, ensure_ascii=False, default=str),) for row in batch.to_pylist()
                    )  # to be looked at, and few of them: a limit stops it


LOGS = (
    Procedure(
        "show_logfile_metadata",
        "The blocks of log files.",
        (*TABLE_OR_PATH, _PATTERN, limit(), FILTER),
        columns(instant_time=TEXT, record_count=INT, block_type=TEXT, header_metadata=TEXT, footer_metadata=TEXT),
        _metadata,
    ),
    Procedure(
        "show_logfile_records",
        "The rows in log files, as JSON.",
        (*TABLE_OR_PATH, _PATTERN, Parameter("merge", FLAG, default=False), limit(), FILTER),
        columns(records=TEXT),
        _records,
        "merge => true is refused: a query merges",
    ),
)
