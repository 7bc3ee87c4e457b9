"""Tables of the COMPLEX key generator with one key column, whose keys Hudi's releases write in two ways (HUDI-7001)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from hoodie.errors import CorruptFileError, MissingFileError, UnsupportedTableError
from hoodie.formats.base_file import BaseFileReader
from hoodie.index.new_keys import logged_keys
from hoodie.keygen import stored_keys
from hoodie.view import TableState, TableView


def refuse_bare_keys(state: TableState) -> None:
    """Before a write that looks for stored keys. Raises UnsupportedTableError when they lack the column's name."""
    bare = bare_key(state)
    if bare is None:
        return
    (column,) = state.properties.record_key_fields
    raise UnsupportedTableError(
        f"Table {state.storage.base_path} has keys of the COMPLEX key generator without the name of their column",
        found=f"key {bare!r:.200}, where table version 9 has {f'{column}:{bare}'!r:.200}: every upsert would insert again",
        fix="nothing was written; write to it by Hudi with hoodie.write.complex.keygen.new.encoding=true, or load its rows "
        "into a new table",
    )


def bare_key(state: TableState) -> str | None:
    """A stored key without the column's name, by the newest file that a commit of the timeline names, or by files of a listing
    when it names no file.

    None: the table has other keys, or none, or it is older than version 9, where either form is usual. Opens one file, as long
    as it is there.
    """
    properties = state.properties
    fields = properties.record_key_fields
    if properties.version < 9 or properties.virtual_keys or properties.keygen_type != "COMPLEX" or len(fields) != 1:
        return None
    for path in _newest_files(state):
        keys = _some_keys(state, path)
        if keys:
            return next((key for key in keys if not key.startswith(f"{fields[0]}:")), None)
    return None


def _newest_files(state: TableState) -> Iterator[str]:
    commits = state.timeline.commits
    for instant in reversed(commits):
        yield from (stat.path for stat in state.commit_metadata(instant).stats)
    if commits:
        yield from (path for file_slice in TableView(state).slices for path in file_slice.paths)


def _some_keys(state: TableState, path: str) -> tuple[str, ...]:
    """The least and the greatest key of a base file, or the first of a log; none where the file has gone, or is damaged."""
    with suppress(MissingFileError, CorruptFileError, FileNotFoundError):
        if path.rpartition("/")[2].startswith("."):
            logged = logged_keys(state.storage, path, stored_keys(state.properties, None))
            return next(((keys[0].as_py(),) for keys in logged if len(keys)), ())
        with BaseFileReader(state.storage, path) as reader:
            return reader.key_range() or ()
    return ()
