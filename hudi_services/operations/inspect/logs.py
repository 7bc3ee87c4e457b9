"""The blocks of log files: their headers are read, not their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoodie.errors import ConfigError
from hoodie.formats.log import BlockType, Header, LogBlock
from hoodie.model.files import FileSlice
from hoodie.view.log_blocks import blocks_of, counting
from hudi_services.operations.inspect.page import Column, Lines, Listing, Page
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import count, size

_BLOCKS = (
    Column("offset", "at byte", count, right=True),
    Column("kind", "kind"),
    Column("instant", "instant"),
    Column("bytes", "size", size, right=True, rank=2),
    Column("counts", "counts", lambda counts: "yes" if counts else "no"),
    Column("says", "says", wraps=True),
    Column("path", "log", rank=0),
)


def logs(look: Look, within: str | None, group: str | None) -> Page:
    """The blocks of the logs of current slices; with `group`, a file id, only of that one.

    Raises UnsupportedTableError for a block of a kind that is not known, ConfigError for an unknown file group.
    """
    file_slices = [
        file_slice for file_slice in look.view_of(within).slices if group is None or file_slice.file_id == group
    ]
    if group is not None and not file_slices:
        raise ConfigError(
            f"There is no current file group {group!r}",
            found=f"in {f'partition {within!r}' if within is not None else 'no partition'}",
            fix="look with `hudi-services show slices`",
        )
    rows = [row for file_slice in file_slices if file_slice.log_files for row in _rows(look, file_slice)]
    corrupt = sum(row["kind"] == "CORRUPT" for row in rows)
    notes = [Lines([f"{corrupt} damaged blocks are passed over, as Hudi does"], alarming=True)] if corrupt else []
    return Page(
        {"table": look.state.properties.name, "blocks": rows}, [Listing(_BLOCKS, rows, empty="no logs"), *notes]
    )


def _rows(look: Look, file_slice: FileSlice) -> Iterator[dict[str, Any]]:
    """`counts` says whether a reader lays the block over the rows before it."""
    blocks = [block for log in file_slice.log_files for block in blocks_of(look.storage, log)]
    valid = {(block.path, block.offset) for block in counting(blocks, look.state.timeline)}
    for block in blocks:
        yield {
            "path": block.path,
            "partition": file_slice.partition,
            "file_group": file_slice.file_id,
            "offset": block.offset,
            "kind": block.kind.name,
            "instant": str(block.instant) or None,
            "bytes": block.content_length,
            "counts": (block.path, block.offset) in valid,
            "says": _says(block),
        }


def _says(block: LogBlock) -> str:
    headers, parts = block.headers, []
    if block.kind is BlockType.COMMAND:
        parts.append(f"rolls back {headers.get(Header.TARGET_INSTANT_TIME, '')}")
    if Header.COMPACTED_BLOCK_TIMES in headers:
        parts.append(f"stands for {headers[Header.COMPACTED_BLOCK_TIMES]}")
    if block.is_partial:
        parts.append("some columns only")
    if Header.RECORD_POSITIONS in headers:
        parts.append("row numbers")
    return ", ".join(parts)
