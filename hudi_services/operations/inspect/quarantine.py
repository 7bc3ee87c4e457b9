"""The quarantine of a table: rows that loads could not write, with their files and reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hoodie.storage import Storage, open_storage
from hoodie.storage.base import FileInfo
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.inspect.page import Column, Facts, Lines, Listing, Page
from hudi_services.operations.inspect.rows import cut
from hudi_services.operations.inspect.table_look import Look
from hudi_services.operations.inspect.text import moment, size

_LOADS = 50  # the newest, whose files are listed
_READ = 16 << 20  # bytes of files that are read for rows
_LOAD_COLUMNS = (
    Column("load", "load", rank=0),
    Column("at", "written (UTC)", moment),
    Column("files", "files", right=True),
    Column("bytes", "size", size, right=True),
)
_ROW_COLUMNS = (Column("file", "file", wraps=True), Column("reason", "why", wraps=True), Column("row", "row", rank=2))


def quarantine(look: Look, limit: int, width: int) -> Page:
    """The loads that left rows there, the newest first, and up to `limit` of their rows. Values of more than `width`
    characters are cut. Reads at most 16 MiB of files.

    Raises OSError if the folder cannot be listed.
    """
    folder = folder_of(look.entry, look.storage.base_path)
    storage = open_storage(folder)
    names = sorted((name for name in storage.list("").folders if not name.startswith(".")), reverse=True)
    files = {name: sorted(storage.list(name).files, key=lambda file: file.path) for name in names[:_LOADS]}
    loads = [_load(name, load_files) for name, load_files in files.items()]
    rows, more = _rows(storage, files, limit)
    short_rows = [{**row, "row": cut(row["row"], width)} for row in rows]
    values = {
        "table": look.state.properties.name,
        "folder": folder,
        "loads": loads,
        "older_loads": len(names) - len(loads),
        "rows": rows,
        "more": more,
    }
    reload_part = [] if not rows else [Lines([_AGAIN], title="to load them")]
    listed_rows = Listing(_ROW_COLUMNS, short_rows, title="rows") if short_rows else Lines([])
    return Page(
        values, [Facts([("folder", folder)]), Listing(_LOAD_COLUMNS, loads, empty="empty"), listed_rows, *reload_part]
    )


_AGAIN = (
    "Repair the files or the registry, then run `hudi-services ingest --reload --files FILE`, "
    "and delete the folder of the load."
)


def folder_of(entry: Table | None, base_path: str) -> str:
    """The folder of the table's bad rows, by its entry in the registry or beside the table."""
    source = entry.source if entry is not None else None
    own = source.quarantine.path if isinstance(source, FolderSource | TopicSource) else None
    return own or f"{base_path.rstrip('/')}.quarantine"


def _load(name: str, files: Sequence[FileInfo]) -> dict[str, Any]:
    at = max((file.modified_ms for file in files), default=None)
    written = datetime.fromtimestamp(at / 1000, UTC).isoformat() if at is not None else None
    return {"load": name, "at": written, "files": len(files), "bytes": sum(file.size for file in files)}


def _rows(storage: Storage, files: Mapping[str, Sequence[FileInfo]], limit: int) -> tuple[list[dict[str, Any]], bool]:
    """Up to `limit` rows, and whether there are more."""
    rows: list[dict[str, Any]] = []
    read = 0
    for load, load_files in files.items():
        for file in load_files:
            read += file.size
            if read > _READ:
                return rows, True
            for line in _lines(storage.read(file.path)):
                if len(rows) == limit:
                    return rows, True
                rows.append({"load": load, **line})
    return rows, False


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.decode(errors="replace").splitlines():
        entry = json.loads(line)
        row = entry["row"] if "row" in entry else entry.get("text")
        yield {"file": str(entry.get("file", "")), "reason": str(entry.get("reason", "")), "row": row}
