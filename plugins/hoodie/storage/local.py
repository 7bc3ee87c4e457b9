"""Local (POSIX) files."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from stat import S_ISDIR
from typing import BinaryIO

import pyarrow as pa

from hoodie.errors import CorruptTableError, UnsafeDeleteError, UnsafePathError
from hoodie.storage.base import File, FileInfo, Listing, inside, join
from hoodie.storage.content import same_content
from hoodie.storage.disk import full_disk, is_full

_TEMPORARY = ".tmp-"  # no name of the format begins so: readers of every implementation pass it over

_EDITORS = ".#"  # names of links by which Emacs says who edits a file

_NOWHERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)  # no file can have a name that is too long

_EMPTYINGS = 20  # times that a folder is emptied which others keep filling
_CREATIONS = 20  # times that a file is created in a folder that others delete
_GUARD_LOOKS, _GUARD_SECONDS = 200, 0.01  # what it is held for takes a few milliseconds


class LocalStorage:
    """A table on the local file system. Every write is flushed to the disk before it is promised."""

    def __init__(self, base_path: str) -> None:
        path = base_path.removeprefix("file://") if base_path.startswith("file://") else base_path.removeprefix("file:")
        self._root = Path(path).absolute()
        self._base_path = str(self._root)
        self._prefix = f"{self._base_path.rstrip('/')}/"

    @property
    def base_path(self) -> str:
        return self._base_path

    def _at(self, path: str) -> str:
        return self._prefix + inside(self._base_path, path)

    def _own(self, path: str, folder: str) -> Path:
        """The place of `path`, which is to go from `folder`. Raises UnsafeDeleteError when a link leads to a table from there."""
        problem = self._foreign(folder)
        if problem is not None:
            raise UnsafeDeleteError(
                f"Refused to delete {path!r} of table {self.base_path}",
                found=problem,
                fix=f"nothing was deleted there; remove the link at {self._at(folder)} or above, then run it again",
            )
        return Path(self._at(path))

    def _new(self, path: str) -> Path:
        """The place of `path`, which is to be written. Raises UnsafePathError when a link leads to a table from its folder."""
        folder = _parent(path)
        problem = self._foreign(folder)
        if problem is not None:
            raise UnsafePathError(
                f"Refused to write {path!r} of table {self.base_path}",
                found=problem,
                fix=f"nothing was written there; remove the link at {self._at(folder)} or above, then run it again",
            )
        return Path(self._at(path))

    def _foreign(self, folder: str) -> str | None:
        """The place in a table to which links lead from `folder`, in words; None where they lead to none."""
        if not any(os.path.islink(self._prefix + above) for above in _ancestry(folder)):
            return None
        root, real = Path(os.path.realpath(self._root)), Path(os.path.realpath(self._at(folder)))
        table = root if real.is_relative_to(root) else _table_around(real)
        return None if table is None else f"its folder is a link to {real}, which lies in table {table}"

    def list(self, folder: str) -> Listing:
        try:
            with os.scandir(self._at(folder)) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            if error.errno in _NOWHERE:
                return Listing(dangling=self._dangling(folder))
            raise
        prefix = f"{folder}/" if folder else ""
        files, folders, dangling = [], [], []
        for (
            entry
        ) in ordered:  # from the last name on: an archiver deletes the other way, and its reader must find no gap
            if self._is_folder(entry):
                folders.append(prefix + entry.name)
            elif not entry.name.startswith(_TEMPORARY):
                if entry.is_symlink():
                    self._refuse_foreign(entry)
                try:
                    stat = entry.stat()
                except FileNotFoundError:
                    if os.path.islink(entry.path) and not entry.name.startswith(_EDITORS):
                        dangling.append(prefix + entry.name)
                    continue  # else deleted by a cleaner since the scan
                files.append(FileInfo(prefix + entry.name, stat.st_size, stat.st_mtime_ns // 1_000_000))
        return Listing(tuple(reversed(files)), tuple(reversed(folders)), tuple(reversed(dangling)))

    def _refuse_foreign(self, entry: os.DirEntry[str]) -> None:
        """Raises CorruptTableError for a link to a file in a table: another one's, or a second name of a file of this one."""
        target = Path(os.path.realpath(entry.path))
        table = _table_around(target.parent) if target.is_file() else None
        if table is not None:
            raise CorruptTableError(
                f"The file {entry.path} in {self.base_path} is a link into a table",
                found=f"it leads to {target}, which lies in table {table}",
                fix="restore the file from a backup in place of the link; nothing was changed",
            )

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Raises CorruptTableError for a link that leads to itself or to a folder above it: all below would be there twice."""
        try:
            if entry.is_symlink() and entry.is_dir():
                target, place = os.path.realpath(entry.path), os.path.realpath(os.path.dirname(entry.path))
                if os.path.commonpath([target, place]) == target:
                    raise OSError(errno.ELOOP, f"it leads to {target}")
            return entry.is_dir()
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise CorruptTableError(
                f"The link {entry.path} in {self.base_path} leads into itself",
                found=error.strerror,
                fix="remove the link; nothing was changed",
            ) from error

    def _dangling(self, folder: str) -> tuple[str, ...]:
        """The folder, or the one above it, if it is a link without a target. A base path that is such a link has no table."""
        return tuple(
            path for path in _ancestry(folder) if os.path.islink(self._at(path)) and not os.path.exists(self._at(path))
        )

    def info(self, path: str) -> FileInfo | None:
        try:
            stat = os.stat(self._at(path))
        except OSError as error:
            if error.errno in _NOWHERE:
                return None
            raise
        if S_ISDIR(stat.st_mode):
            return None
        return FileInfo(path, stat.st_size, stat.st_mtime_ns // 1_000_000)

    def read(self, path: str) -> bytes:
        with open(self._at(path), "rb", buffering=0) as file:
            return file.readall()

    def open_input(self, path: str) -> File:
        return pa.OSFile(self._at(path), "rb")

    @contextmanager
    def open_output(self, path: str) -> Iterator[File]:
        target = self._new(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise FileExistsError(errno.EEXIST, "File exists", str(target))
        with _owned(target.parent, _unfinished(target.name), 1 << 20) as (unfinished, sink):
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
            os.link(unfinished, target)

    def create(self, path: str, data: bytes) -> None:
        """Another process may delete the folder at the same time: a rollback deletes that of the markers."""
        target = self._new(path)
        for tries_left in reversed(range(_CREATIONS)):
            try:
                _create(target, data)
                break
            except FileNotFoundError:
                if not tries_left:
                    raise
                target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the folder went after that, with the file
            _sync_folder(target.parent)

    def replace(self, path: str, old: bytes, new: bytes) -> bool:
        """Writers that replace the file at the same time wait for each other by a lock of the kernel on a file beside it."""
        target = self._new(path)
        if not target.exists():
            return False
        with _alone(target.with_name(f".{target.name}.guard")):
            try:
                content = target.read_bytes()
            except FileNotFoundError:  # deleted since: deletes ask no guard
                return False
            if content != old:
                return False
            with _owned(target.parent, _TEMPORARY, size=len(new)) as (temporary, sink):
                sink.write(new)
                sink.flush()
                os.fsync(sink.fileno())
                os.replace(temporary, target)
            _sync_folder(target.parent)
        return True

    def touch(self, path: str) -> None:
        target = self._new(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()

    def delete(self, path: str) -> bool:
        target = self._own(path, _parent(path))
        try:
            os.unlink(target)
        except (FileNotFoundError, NotADirectoryError):  # the latter: what should be its folder is a file
            for unfinished in target.parent.glob(f"{_unfinished(target.name)}*"):
                unfinished.unlink(missing_ok=True)
            return False
        return True

    def move(self, path: str, to: str) -> bool:
        source, target = self._own(path, _parent(path)), self._own(to, _parent(to))
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)  # fails when the target exists, where a renaming would replace it
        except FileNotFoundError:
            return False
        except FileExistsError:
            if not source.exists():
                return False
            if not target.samefile(source) and not same_content(self, path, to):
                raise
        _sync_folder(target.parent)
        source.unlink(missing_ok=True)  # another process that moves it, too, may have come first
        return True

    def sweep(self, folders: Sequence[str]) -> None:
        for folder in folders:
            for temporary in self._own(folder, folder).glob(f"{_TEMPORARY}*"):
                _delete_abandoned(temporary)

    def delete_folder(self, folder: str) -> None:
        target = self._own(folder, folder)
        if target == self._root:
            raise UnsafePathError(f"Refused to delete all of {self.base_path}", fix="nothing was deleted")
        for tries_left in reversed(range(_EMPTYINGS)):
            try:
                shutil.rmtree(target, ignore_errors=False, onerror=_ignore_absent)
                break
            except (
                OSError
            ) as error:  # another process, such as a task that outlives its write, puts a file there at the same time
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not tries_left:
                    raise


def _create(target: Path, data: bytes) -> None:
    if not data:  # whole at once: no other file beside a marker, or Hudi's rollback deletes nothing
        target.open("xb").close()
        return
    with _owned(target.parent, _TEMPORARY, size=len(data)) as (temporary, sink):
        sink.write(data)
        sink.flush()
        os.fsync(sink.fileno())
        os.link(temporary, target)  # fails when the target exists: the one atomic create-with-content of POSIX


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _ancestry(folder: str) -> Iterator[str]:
    """The folders on the way from the base path to `folder`, and `folder` itself."""
    return accumulate(folder.split("/"), join) if folder else iter(())


def _table_around(place: Path) -> Path | None:
    """The base path of the table in which the place lies; None: it lies in no table."""
    return next((folder for folder in (place, *place.parents) if (folder / ".hoodie").is_dir()), None)


def _unfinished(name: str) -> str:
    """How the names begin under which a file is written until it is whole: so a killed writer leaves no torn one, and deleting
    the file, where it is not there, deletes what was to become it.

    Nothing of the file's own name is in them, lest a reader of the format takes them for one; each writer has one of its own.
    """
    return f"{_TEMPORARY}{hashlib.sha256(name.encode()).hexdigest()[:32]}-"


@contextmanager
def _owned(folder: Path, name: str, buffering: int = -1, size: int | None = None) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file to be written and linked under its own name, held by a lock of the kernel: it ends with the process. Raises
    StorageError where it does not fit; `size` is that of the file, in bytes, if it is known."""
    while True:
        path = folder / f"{name}{uuid.uuid4()}"
        with open(path, "xb", buffering=buffering) as sink:
            with suppress(OSError):  # a file system without locks: there nothing is taken for abandoned
                fcntl.flock(sink, fcntl.LOCK_SH)
            if os.fstat(sink.fileno()).st_nlink == 0:  # swept before it was locked
                continue
            try:
                yield path, sink
            except OSError as error:
                if not is_full(error):
                    raise
                written = os.fstat(sink.fileno()).st_size
                with suppress(OSError):
                    os.ftruncate(sink.fileno(), 0)  # what is free then is free without this file
                raw = getattr(sink, "raw", sink)
                raw.close()  # `sink` would write its buffer again, and fail again
                raise full_disk(folder, error, written, size) from error
            finally:
                path.unlink(missing_ok=True)
            return


@contextmanager
def _alone(guard: Path) -> Iterator[None]:
    """Hold the kernel's lock on `guard`, a file that stays. Raises TimeoutError when a process that has it does not go on."""
    with open(guard, "ab") as guard_file:
        for _ in range(_GUARD_LOOKS):
            try:
                fcntl.flock(guard_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_GUARD_SECONDS)
            else:
                yield
                return
    raise TimeoutError(errno.ETIMEDOUT, "A process that has been stopped holds it", str(guard))


def _delete_abandoned(path: Path) -> None:
    """Delete the unfinished file if no process has it any more; a writer that is about to lock it finds it gone."""
    with suppress(OSError), open(path, "rb") as file:  # finished since, held, or a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _ignore_absent(_function: object, _path: object, problem: tuple[type, BaseException, object]) -> None:
    if not isinstance(problem[1], FileNotFoundError):
        raise problem[1]
