"""The one guard that every delete of a data file passes (requirement R1: a wrong plan must not delete a table)."""

from __future__ import annotations

from collections.abc import Collection

from hoodie.errors import UnsafeDeleteError
from hoodie.model.names import is_data_file
from hoodie.storage.base import Storage


def delete_data_file(storage: Storage, path: str, planned: Collection[str]) -> bool:
    """Delete one base or log file of the table; False when it was gone already.

    Raises UnsafeDeleteError unless `path` is inside the table, outside `.hoodie`, has the name of a base or log file, and
    stands in `planned`, the files that the plan names.
    """
    parts = path.split("/")
    reason = None
    if path.startswith("/") or "" in parts or "." in parts or ".." in parts:
        reason = "it is not a plain path inside the table"
    elif parts[0] == ".hoodie":
        reason = "it lies in the table's metadata folder"
    elif not is_data_file(parts[-1]):
        reason = "its name is not that of a base or log file"
    elif path not in planned:
        reason = "the plan does not name it"
    if reason is not None:
        raise UnsafeDeleteError(
            f"Refused to delete {path!r} of table {storage.base_path}",
            found=reason,
            fix="nothing was deleted; report the plan",
        )
    return storage.delete(path)


def delete_data_files(storage: Storage, planned: Collection[str]) -> None:
    """Delete all that a plan names, in the order of their paths. Raises UnsafeDeleteError as `delete_data_file`."""
    for path in sorted(planned):
        delete_data_file(storage, path, planned)


def delete_source_file(source: Storage, uri: str, planned: Collection[str]) -> bool:
    """Delete a file of the plain table that `source` is and that a Hudi table was bootstrapped from; False when it was gone.

    Raises UnsafeDeleteError unless it lies below the source's base path and stands in `planned`.
    """
    path = relative_path(source.base_path, uri)
    parts = path.split("/")
    if uri not in planned or not {"", ".", "..", ".hoodie"}.isdisjoint(parts):
        raise UnsafeDeleteError(
            f"Refused to delete {uri!r} of the source {source.base_path}",
            found="it is no plain path below the source, or the plan does not name it",
            fix="nothing was deleted; report the plan",
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
        raise UnsafeDeleteError(
            f"File {path!r} lies outside the table {base_path}", fix="nothing was deleted; report the plan"
        )
    return bare


def _without_scheme(path: str) -> str:
    scheme, separator, rest = path.partition(":/")
    if separator and scheme.isalnum():
        return "/" + rest.lstrip("/")
    return path.rstrip("/")
