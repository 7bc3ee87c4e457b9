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
from hudi_services.sources.ingest.quarantine_load import QuarantinedLoad, quarantined_loads

_LOADS = 50  # the newest, whose files are listed
_READ = 16 << 20  # bytes of files that are read for rows
_LOAD_COLUMNS = (
    Column("load", "load", rank=0),
    Column("at", "written (UTC)", moment),
    Column("outcome", "the load"),
    Column("files", "files", right=True),
    Column("bytes", "size", size, right=True),
)
_ROW_COLUMNS = (Column("file", "file", wraps=True), Column("reason", "why", wraps=True), Column("row", "row", rank=2))


def quarantine(look: Look, limit: int, width: int) -> Page:
    """The loads that left rows there, the newest first with their outcome, and up to `limit` of their rows. Values of more than
    `width` characters are cut. Reads at most 16 MiB of files.

    Raises OSError if the folder cannot be listed.
    """
    folder = folder_of(look.entry, look.storage.base_path)
    storage = open_storage(folder)
    newest, older = quarantined_loads(storage, look.storage.base_path, _LOADS)
    loads = [_load(load) for load in newest]
    rows, more = _rows(storage, {load.name: load.files for load in newest}, limit)
    short_rows = [{**row, "row": cut(row["row"], width)} for row in rows]
    values = {
        "table": look.state.properties.name,
        "folder": folder,
        "loads": loads,
        "older_loads": older,
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


def _load(load: QuarantinedLoad) -> dict[str, Any]:
    at = max(file.modified_ms for file in load.files)
    return {
        "load": load.name,
        "at": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
        "outcome": load.outcome,
        "files": len(load.files),
        "bytes": sum(file.size for file in load.files),
    }


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
