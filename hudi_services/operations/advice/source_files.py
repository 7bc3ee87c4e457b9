"""Source files that have changed since they were loaded: of a file that grew, the rows that came since are not in the table."""

from __future__ import annotations

from datetime import UTC, datetime

from hoodie.model.place import identity
from hoodie.storage import open_storage
from hoodie.storage.base import FileInfo
from hoodie.view import TableState
from hudi_services.entry.source import FolderSource
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import ChangedFiles
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.sources.ingest.files.checkpoint import KEY, Checkpoint, LoadedFile
from hudi_services.sources.ingest.files.listing import SourceFile, nearest_folder
from hudi_services.sources.ingest.files.pattern_check import idle_patterns
from hudi_services.sources.positions import find_position

_FOLDERS = 50  # folders of the source that are listed


def changed_files(table: Table, state: TableState) -> ChangedFiles | None:
    """The files in the 50 folders that were loaded from last; None without a folder that was loaded from. A listing for each
    folder.

    Raises HoodieError, or OSError for a folder that cannot be listed.
    """
    source = table.source
    position = find_position(state, KEY, start_fresh=False) if isinstance(source, FolderSource) else None
    if position is None or not isinstance(source, FolderSource):
        return None
    loaded = Checkpoint.decode(position).loaded(source.path)
    newest: dict[str, int] = {}
    for path, file in loaded.items():
        folder = path.rpartition("/")[0]
        newest[folder] = max(newest.get(folder, 0), file.changed_s or 0)
    storage = open_storage(source.path)
    folders = sorted(newest, key=lambda folder: (-newest[folder], folder))[:_FOLDERS]
    listed = [info for folder in folders for info in storage.list(folder).files]
    changed = [info for info in listed if info.path in loaded and not _is_same(loaded[info.path], info)]
    first = min((info.modified_ms for info in changed), default=None)
    since = datetime.fromtimestamp(first / 1000, UTC) if first is not None else None
    return ChangedFiles(source.path, tuple(sorted(info.path for info in changed)), since)


def patterns_without_files(table: Table) -> tuple[str, ...]:
    """Mistakes in the source of a table that is loaded from a folder, in words: patterns that match nothing, or a folder that is
    missing beside one of a similar name. Lists folders until each pattern has a file.

    Raises HoodieError, or OSError for a folder that cannot be listed.
    """
    source = table.folder
    if source is None:
        return ()
    own = [identity(table.base_path), identity(folder_of(table, table.base_path))]
    listing = open_storage(source.path).list("")
    if listing.files or listing.folders:
        return tuple(idle_patterns(source.path, source.pattern, source.format, own))
    near = nearest_folder(source.path, only_similar=True)
    return (f"folder {source.path} is missing or empty: {near}",) if near else ()


def _is_same(loaded_file: LoadedFile, info: FileInfo) -> bool:
    return loaded_file.is_of(SourceFile(info.path, info.size, info.modified_ms, None))
