"""Tables of the COMPLEX key generator with one key column, whose keys Hudi's releases write in two ways (HUDI-7001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from hoodie.errors import CorruptFileError, MissingFileError, UnsupportedTableError
from hoodie.formats.base_file import BaseFileReader
from hoodie.index.new_keys import logged_keys
from hoodie.keygen import stored_keys
from hoodie.model.files import FileSlice
from hoodie.view import TableState, TableView

_READERS = 16  # files that are read at once
_REMEMBERED = 1 << 20  # files

_with_names: set[tuple[str, str]] = set()  # base path and path of files whose keys this process has looked at


def refuse_bare_keys(state: TableState) -> None:
    """Before a write that looks for stored keys. Raises UnsupportedTableError when they lack the column's name."""
    _refuse(state, bare_key(state))


def refuse_mixed_keys(state: TableState, slices: Sequence[FileSlice]) -> None:
    """Before rows are written beside those of `slices`: in a table that was upgraded, older files may have other keys than the
    newest one. Raises UnsupportedTableError when some lack the column's name."""
    _refuse(state, bare_key_of(state, slices))


def _refuse(state: TableState, bare: str | None) -> None:
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
    if not _has_names(state):
        return None
    for path in _newest_files(state):
        keys = _some_keys(state, path)
        if keys:
            return _bare(state, keys)
    return None


def bare_key_of(state: TableState, slices: Sequence[FileSlice]) -> str | None:
    """A stored key of these slices without the column's name; None for a table that version 9 created, whose keys have it.

    Opens each file of the slices once a process: a writer of another release may have added a log.
    """
    if state.properties.initial_version == "9" or not _has_names(state):
        return None
    if len(_with_names) > _REMEMBERED:
        _with_names.clear()
    base_path = state.storage.base_path
    paths = [path for file_slice in slices for path in file_slice.paths if (base_path, path) not in _with_names]
    with ThreadPoolExecutor(_READERS) as pool:
        for path, keys in zip(paths, pool.map(partial(_some_keys, state), paths), strict=True):
            bare = _bare(state, keys)
            if bare is not None:
                return bare
            _with_names.add((base_path, path))
    return None


def _has_names(state: TableState) -> bool:
    """Return whether keys of the table are to have the name of their one column."""
    properties = state.properties
    keyed = properties.keygen_type == "COMPLEX" and len(properties.record_key_fields) == 1
    return properties.version >= 9 and keyed and not properties.virtual_keys


def _bare(state: TableState, keys: Sequence[str]) -> str | None:
    (column,) = state.properties.record_key_fields
    return next((key for key in keys if not key.startswith(f"{column}:")), None)


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
