"""The rows that loads of a table left out, and that are in the quarantine: how many, of few and small files."""

from __future__ import annotations

from datetime import UTC, datetime

from hoodie.storage import Storage, open_storage
from hudi_services.entry.source import FolderSource, TopicSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import BadRows
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.sources.ingest.quarantine import LOADED
from hudi_services.sources.ingest.quarantine_load import quarantined_loads

_LOADS = 20  # whose files are listed
_COUNTED = 1 << 20  # bytes that are read to count rows


def bad_rows(table: Table) -> BadRows | None:
    """The rows that loads of the table left out; None without a source that has a quarantine. Rows of loads that were refused do
    not count: all rows of their files are still to be loaded.

    One listing, and one for each of 20 loads; files of a mebibyte in all are read to count their rows. Older loads count as such.

    Raises OSError if the folder cannot be listed.
    """
    if not isinstance(table.source, FolderSource | TopicSource):
        return None
    folder = folder_of(table, table.base_path)
    storage = open_storage(folder)
    newest, older = quarantined_loads(storage, table.base_path, _LOADS)
    loads = [load for load in newest if load.outcome == LOADED]
    files = [file for load in loads for file in load.files]
    size = sum(file.size for file in files)
    first = min((file.modified_ms for file in files), default=None)
    counted = _rows(storage, [file.path for file in files]) if size <= _COUNTED and not older else None
    since = datetime.fromtimestamp(first / 1000, UTC) if first is not None else None
    return BadRows(folder, len(loads) + older, size, counted, since)


def _rows(storage: Storage, paths: list[str]) -> int:
    """The rows are the lines."""
    return sum(storage.read(path).count(b"\n") for path in paths)
