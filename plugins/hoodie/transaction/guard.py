"""The one guard that every delete of a data file or a folder passes: a wrong plan must not delete a table."""

from __future__ import annotations

import re
from collections.abc import Collection

from hoodie.engine.threads import map_on_threads
from hoodie.errors import UnsafeDeleteError
from hoodie.model.names import METADATA_TABLE, BaseFileName, LogFileName, is_data_file
from hoodie.model.place import identity, lies_in
from hoodie.model.time import Time
from hoodie.storage.base import Storage
from hoodie.transaction.command_blocks import is_shared

_FIX = "nothing was deleted; find out who wrote the plan or the markers that name it"
_COPY = re.compile(r"\.hoodie/\.deleted/[0-9]+_[0-9]+/.+|\.hoodie/\.quarantine/.+")
_FOLDERS = re.compile(
    r"\.hoodie/\.temp/[0-9]+|\.hoodie/\.deleted/[0-9]+_[0-9]+|\.hoodie/\.staged/[0-9]+-[0-9a-f]+|"
    + re.escape(METADATA_TABLE)
)


def check_data_files(storage: Storage, planned: Collection[str]) -> None:
    """Raises UnsafeDeleteError unless each path is in the table, outside `.hoodie`, and named like a base or log file."""
    for path in sorted(planned):
        parts = path.split("/")
        reason = None
        if path.startswith("/") or "" in parts or "." in parts or ".." in parts:
            reason = "it is not a plain path inside the table"
        elif parts[0] == ".hoodie":
            reason = "it lies in the table's metadata folder"
        elif not is_data_file(parts[-1]):
            reason = "its name is not that of a base or log file"
        if reason is not None:
            raise UnsafeDeleteError(f"Refused to delete {path!r} of table {storage.base_path}", found=reason, fix=_FIX)


def check_planned(storage: Storage, path: str, planned: Collection[str]) -> None:
    """Raises UnsafeDeleteError as `check_data_files`, and when `path` is not in `planned`, the files that the plan names."""
    check_data_files(storage, (path,))
    if path not in planned:
        raise UnsafeDeleteError(
            f"Refused to delete {path!r} of table {storage.base_path}", found="the plan does not name it", fix=_FIX
        )


def delete_data_file(storage: Storage, path: str, planned: Collection[str]) -> bool:
    """Delete one base or log file of the table; False when it was gone already. Raises what `check_planned` raises."""
    check_planned(storage, path, planned)
    return storage.delete(path)


def delete_data_files(storage: Storage, planned: Collection[str]) -> None:
    """Delete all that a plan names, in the order of their paths; nothing, if one of them may not be deleted.

    Raises UnsafeDeleteError as `check_data_files`.
    """
    check_data_files(storage, planned)
    for path in sorted(planned):
        storage.delete(path)


def delete_copy(storage: Storage, path: str) -> bool:
    """Delete a copy of a data file that a clean, or a repair, has set aside below `.hoodie`; False when it was gone already.

    Raises UnsafeDeleteError for any other path.
    """
    if _COPY.fullmatch(path) is None or ".." in path.split("/"):
        raise UnsafeDeleteError(
            f"Refused to delete {path!r} of table {storage.base_path}",
            found="it is not a copy in the folder of a clean or of repairs",
            fix=_FIX,
        )
    return storage.delete(path)


def check_of_instant(storage: Storage, planned: Collection[str], instant: Time) -> None:
    """Before files of one undone or finished instant are deleted. Logs that bear the instant in their names are not read.

    Raises UnsafeDeleteError for a base file of another instant, and for a log with blocks of others.
    """
    for path in planned:
        name = path.rpartition("/")[2]
        base, log = BaseFileName.parse(name), LogFileName.parse(name)
        other = None
        if base is not None and base.instant != instant:
            other = f"it is a file of instant {base.instant}"
        elif log is not None and log.time != instant and is_shared(storage, path, instant):
            other = "it holds blocks of other instants"
        if other is not None:
            raise UnsafeDeleteError(
                f"Refused to delete {path!r} of table {storage.base_path}",
                found=f"{other}, and what names it is about instant {instant}",
                fix="nothing was deleted; find the writer of the rollback plan or of the markers of that instant",
            )


def delete_metadata_folder(storage: Storage, folder: str, threads: int = 1) -> None:
    """Delete a folder of the table's metadata and all in it: the markers of an instant, the trash of a clean, or the metadata
    table. Up to `threads` threads delete its contents, a folder each.

    Raises UnsafeDeleteError for any other folder.
    """
    if _FOLDERS.fullmatch(folder) is None:
        raise UnsafeDeleteError(
            f"Refused to delete folder {folder!r} of table {storage.base_path}",
            found="it is neither the folder of an instant's markers, nor of a clean's trash, nor the metadata table",
            fix="nothing was deleted; find out which file of the timeline names it",
        )
    inner = storage.list(folder).folders if threads > 1 else ()
    if len(inner) > 1:
        map_on_threads(storage.delete_folder, inner, threads)
    storage.delete_folder(folder)


def check_source_files(source: Storage, table: Storage, uris: Collection[str], sources: Collection[str]) -> None:
    """Raises UnsafeDeleteError unless each URI is one of `sources`, the source files that the table's bootstrap index names, and
    lies below the source's base path and outside the table."""
    names = {relative_path(source.base_path, uri) for uri in sources if _below(source.base_path, uri)}
    for uri in uris:
        if relative_path(source.base_path, uri) not in names or _below(table.base_path, uri):
            raise UnsafeDeleteError(
                f"Refused to delete {uri!r} as a source file of table {table.base_path}",
                found="the table's bootstrap index does not name it, or it lies in the table",
                fix=_FIX,
            )


def delete_source_file(source: Storage, uri: str, planned: Collection[str]) -> bool:
    """Delete a file of the plain table that `source` is and that a Hudi table was bootstrapped from; False when it was gone.

    Raises UnsafeDeleteError unless it is below the source's base path and in `planned`.
    """
    path = relative_path(source.base_path, uri)
    if uri not in planned or not {"", ".", "..", ".hoodie"}.isdisjoint(path.split("/")):
        raise UnsafeDeleteError(
            f"Refused to delete {uri!r} of the source {source.base_path}",
            found="it is not a plain path below the source, or the plan does not name it",
            fix=_FIX,
        )
    return source.delete(path)


def relative_path(base_path: str, path: str) -> str:
    """`path` as a plan of any writer names it (absolute, with or without a scheme, or relative) -> relative to the table.

    Raises UnsafeDeleteError when it lies outside the table.
    """
    base, bare = _without_scheme(base_path), _without_scheme(path)
    if bare.startswith(base + "/"):
        return bare[len(base) + 1 :]
    if bare.startswith("/") or "://" in path:
        steps, table = path.split("/"), identity(base_path)
        for place in range(len(steps) - 1, 1, -1):  # the writer of the plan may spell the base path in another way
            if identity("/".join(steps[:place])) == table:
                return "/".join(steps[place:])
        raise UnsafeDeleteError(f"File {path!r} lies outside the table {base_path}", fix=_FIX)
    return bare


def _below(base_path: str, path: str) -> bool:
    inside = _without_scheme(path).startswith(_without_scheme(base_path) + "/")
    return inside or lies_in(identity(path), identity(base_path))


def _without_scheme(path: str) -> str:
    scheme, separator, location = path.partition(":/")
    if separator and scheme.isalnum():
        return "/" + location.lstrip("/")
    return path.rstrip("/")
