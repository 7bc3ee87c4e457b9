"""Copying a table: its properties are copied last, so that a copy is complete or no table at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hoodie.changes.consumer_position import FOLDER as CONSUMERS
from hoodie.clock import Clock
from hoodie.config.properties.store import BACKUP, COPYING, DROPPED, MOVING, PROPERTIES
from hoodie.display import some
from hoodie.errors import CorruptTableError, HoodieError, TableExistsError
from hoodie.model.names import PARTITION_METAFILE, is_data_file
from hoodie.model.place import identity, lies_in
from hoodie.services.obstacle import refuse
from hoodie.services.relocation.marks import CopyMark, read_copy_mark, retire
from hoodie.services.relocation.obstacles import SIGNS, at_work, inside, pending
from hoodie.services.relocation.plan import RelocationPlan, plan_of
from hoodie.storage import open_storage
from hoodie.storage.base import FileInfo, Storage, closing_input, walk_files
from hoodie.storage.idempotent import create_own
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import FOLDER as HEARTBEATS
from hoodie.transaction.locks import Locking
from hoodie.transaction.locks.files import LOCK
from hoodie.transaction.locks.table_lock import table_lock
from hoodie.view import load_state

_CHUNK = 8 << 20  # bytes that are read at once
_AT_ONCE = 8  # files that are copied at the same time
_FILES = (PROPERTIES, BACKUP, LOCK, COPYING, DROPPED, MOVING)
_FOLDERS = (".hoodie/.temp", ".hoodie/.locks", HEARTBEATS)
"""Files of running processes, which the other table has none of."""


def plan_copy(
    source: Storage, target: Storage, clock: Clock, sharing: ConcurrencyOptions, *, is_move: bool = False
) -> RelocationPlan:
    """Look at a table and the place of its copy. Raises TableNotFoundError, TableExistsError for a place that is not empty."""
    state = load_state(source, clock)
    _refuse_overlap(source, target)
    continued = read_copy_mark(target) is not None
    if not continued:
        refuse_occupied(target)
    obstacles = [*inside(source), *at_work(state, clock, sharing), *pending(state)]
    files = _copied(source, is_move=is_move)
    return plan_of(source.base_path, target.base_path, files, obstacles, continued=continued)


def run_copy(
    source: Storage,
    target: Storage,
    clock: Clock,
    locking: Locking,
    sharing: ConcurrencyOptions,
    *,
    is_move: bool = False,
    at_once: int = _AT_ONCE,
) -> RelocationPlan:
    """Copy the table under its lock, so that writers wait. With `is_move` it is unreadable at its old place afterwards, and the
    mark of the copy stays.

    A kill leaves no readable copy, or a complete one: the next call goes on. Raises what `plan_copy` raises, PendingInstantError
    for an obstacle, LockHeldError, and CorruptTableError for a copy that is complete and differs.
    """
    operation = f"The {'move' if is_move else 'copy'} of table {source.base_path}"
    refuse(operation, plan_copy(source, target, clock, sharing, is_move=is_move).obstacles, ())
    with table_lock(source, clock, "move" if is_move else "copy", locking):
        plan = plan_copy(source, target, clock, sharing, is_move=is_move)
        refuse(operation, plan.obstacles, ())
        CopyMark(source.base_path, is_move).write(target)
        files = list(_copied(source, is_move=is_move))
        if target.info(PROPERTIES) is None:
            _copy_files(source, target, files, at_once)
        _check_same(source, target, files, is_move=is_move)
        create_own(target, PROPERTIES, source.read(PROPERTIES))
        if is_move:
            retire(source, DROPPED)
    if not is_move:
        target.delete(COPYING)
    return plan


def refuse_occupied(target: Storage) -> None:
    """Raises TableExistsError for a place with files."""
    listing = target.list("")
    if listing.files or listing.folders:
        raise TableExistsError(
            f"There are files at {target.base_path}",
            found=", ".join([*listing.folders, *(file.path for file in listing.files)][:5]),
            fix="choose an empty place",
        )


def _refuse_overlap(source: Storage, target: Storage) -> None:
    source_place, other = identity(source.base_path), identity(target.base_path)
    around = table_around(other)
    if around is not None and not lies_in(source_place, around):
        raise TableExistsError(
            f"{target.base_path} lies in the table {around}, whose drop would delete it", fix="choose another place"
        )
    if lies_in(source_place, other) or lies_in(other, source_place):
        raise TableExistsError(
            f"{target.base_path} and the table {source.base_path} lie in each other", fix="choose another place"
        )


def table_around(place: str) -> str | None:
    """The table in which a canonical path or URL lies; None if it lies in no table."""
    return next((folder for folder in _folders_around(place) if is_table(folder)), None)


def _folders_around(place: str) -> Sequence[str]:
    """The folders around a place, of a URL up to its bucket."""
    scheme, separator, path = place.rpartition("://")
    return [f"{scheme}{separator}{folder}" for folder in Path(path).parents if str(folder) != "."]


def is_table(folder: str) -> bool:
    """True if the folder is a table, or was one until a drop, move or copy began."""
    try:
        storage = open_storage(folder)
        return any(storage.info(sign) is not None for sign in SIGNS)
    except (HoodieError, OSError):  # it may be of others, who do not let us look
        return False


def _copied(source: Storage, *, is_move: bool) -> Iterator[FileInfo]:
    """Data files first, then those of the timeline."""
    left_out = (*_FOLDERS, *(() if is_move else (CONSUMERS,)))
    files = [
        file
        for file in walk_files(source, "")
        if file.path not in _FILES and not any(lies_in(file.path, folder) for folder in left_out)
    ]
    yield from (file for file in files if not file.path.startswith(".hoodie/"))
    yield from (file for file in files if file.path.startswith(".hoodie/"))


def _copy_files(source: Storage, target: Storage, files: Collection[FileInfo], at_once: int) -> None:
    source_sizes = {file.path: file.size for file in files}
    target_sizes = {file.path: file.size for file in walk_files(target, "") if file.path != COPYING}
    more = target_sizes.keys() - source_sizes.keys()
    _refuse_strangers(target, more)
    for path in more:  # an earlier run copied what the table has no more
        target.delete(path)

    def copy_file(file: FileInfo) -> None:
        if file.path in target_sizes:
            if target_sizes[file.path] == file.size and not file.path.startswith(".hoodie/"):
                return
            target.delete(file.path)
        with closing_input(source, file.path) as rows, target.open_output(file.path) as sink:
            while chunk := rows.read(_CHUNK):
                sink.write(chunk)

    if at_once == 1:
        for file in files:
            copy_file(file)
        return
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(copy_file, files))


def _refuse_strangers(target: Storage, paths: Collection[str]) -> None:
    """Raises TableExistsError for files that no copy of a table has made: others have put them there since it began."""
    own = (path for path in paths if path.startswith(".hoodie/") or _is_of_table(path))
    if strangers := sorted(set(paths).difference(own)):
        raise TableExistsError(
            f"There are files at {target.base_path} that are not of the copy which has begun there",
            found=some(strangers),
            fix="move them away, then run the same command again",
        )


def _is_of_table(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "/.hoodie/" not in path and (is_data_file(name) or name.startswith(PARTITION_METAFILE))


def _check_same(source: Storage, target: Storage, files: Collection[FileInfo], *, is_move: bool) -> None:
    """Raises CorruptTableError when the copy has other files, or a file of another size."""
    expected = {file.path: file.size for file in files}
    copied = {file.path: file.size for file in _copied(target, is_move=is_move)}
    if expected != copied:
        differs = sorted(path for path in expected.keys() | copied.keys() if expected.get(path) != copied.get(path))
        raise CorruptTableError(
            f"The copy {target.base_path} is not that of {source.base_path}",
            found=f"{len(differs):,} files that differ, such as {differs[0]}",
            fix="one of both was written in the meantime: drop the one that is not wanted by `hudi-services table drop`",
        )
