"""Source files that are not in the table as they are: changed since their load, new, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hoodie.model.place import identity
from hoodie.storage import open_storage
from hoodie.storage.base import FileInfo
from hoodie.view import TableState
from hudi_services.entry.table import Table
from hudi_services.operations.advice.facts import BrokenFiles, ChangedFiles, NewFiles
from hudi_services.operations.inspect.quarantine import folder_of
from hudi_services.sources.ingest.files.checkpoint import KEY, Checkpoint, LoadedFile
from hudi_services.sources.ingest.files.listing import FORMATS, SourceFile, is_hidden, nearest_folder
from hudi_services.sources.ingest.files.names import Names
from hudi_services.sources.ingest.files.pattern_check import idle_patterns
from hudi_services.sources.positions import find_position

_FOLDERS = 50  # folders of the source that are listed


@dataclass(frozen=True)
class SourceFiles:
    """Files of the source, by what became of them; None for those that there are not."""

    changed: ChangedFiles | None = None
    new: NewFiles | None = None
    broken: BrokenFiles | None = None


def source_files(table: Table, state: TableState, now: datetime) -> SourceFiles:
    """The files in the 50 folders that were loaded from last. Nothing without a folder that was loaded from. A listing for each
    folder: new files in other folders are not found.

    Raises HoodieError, or OSError for a folder that cannot be listed.
    """
    source = table.folder
    position = find_position(state, KEY, start_fresh=False) if source is not None else None
    if position is None or source is None:
        return SourceFiles()
    checkpoint = Checkpoint.decode(position)
    loaded = checkpoint.loaded(source.path)
    broken = checkpoint.broken(source.path) if source.quarantine.files == "skip" else {}
    newest: dict[str, int] = {}
    for path, file in loaded.items():
        folder = path.rpartition("/")[0]
        newest[folder] = max(newest.get(folder, 0), file.changed_s or 0)
    for path in broken:
        newest.setdefault(path.rpartition("/")[0], 0)
    storage = open_storage(source.path)
    folders = sorted(newest, key=lambda folder: (-newest[folder], folder))[:_FOLDERS]
    listed = [info for folder in folders for info in storage.list(folder).files]
    changed = [info for info in listed if info.path in loaded and not _is_same(loaded[info.path], info)]
    left_out = [info for info in listed if info.path in broken and broken[info.path].is_of(_source_file(info))]
    names = Names(source.pattern, FORMATS[source.format])
    settled_ms = (now - source.min_age).timestamp() * 1000
    kept = {info.path for info in left_out}.union(loaded)
    new = [
        info
        for info in listed
        if info.path not in kept and not is_hidden(info.name) and info.path in names and info.modified_ms <= settled_ms
    ]
    return SourceFiles(
        ChangedFiles(source.path, tuple(sorted(info.path for info in changed)), _first(changed)),
        NewFiles(source.path, len(new), sum(info.size for info in new), since) if (since := _first(new)) else None,
        BrokenFiles(source.path, {info.path: broken[info.path].reason for info in left_out}, _first(left_out)),
    )


def _first(files: Sequence[FileInfo]) -> datetime | None:
    """When the first of the files was changed last."""
    first = min((info.modified_ms for info in files), default=None)
    return datetime.fromtimestamp(first / 1000, UTC) if first is not None else None


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
        return tuple(idle_patterns(source.path, source.pattern, source.format, own, source.date_pattern))
    near = nearest_folder(source.path, only_similar=True)
    return (f"folder {source.path} is missing or empty: {near}",) if near else ()


def _is_same(loaded_file: LoadedFile, info: FileInfo) -> bool:
    return loaded_file.is_of(_source_file(info))


def _source_file(info: FileInfo) -> SourceFile:
    return SourceFile(info.path, info.size, info.modified_ms, None)
