"""The markers of an instant in batches: what the timeline server does with them, without the network (docs/decisions/0038).

Requests wait together for some milliseconds; then one of the files `MARKERS0` … takes them all. Each is rewritten whole, by
one thread at a time, and by nobody but this object. A request is answered when its marker is on the storage: who comes after a
process that was killed finds every marker that was answered.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from hoodie.errors import StorageError
from hoodie.markers.names import (
    BATCH_TYPE,
    BATCHED,
    batch_lines,
    batch_number,
    batch_path,
    check_marker,
    marker_folder,
)
from hoodie.model.time import Time
from hoodie.storage.base import ReplacingStorage
from hoodie.storage.once import create_own, replace_own

Check = Callable[[Sequence[str]], None]
"""Looks at markers before they are written, and raises what stands against it."""
_Waiting = tuple[str, "Future[None]"]


@dataclass(frozen=True)
class Batching:
    """How markers are gathered: ms from one batch to the next, and how many files, each with a thread, take them."""

    interval_ms: int = 50
    threads: int = 20


@dataclass
class _File:
    """One file of markers and what it holds; None: it is not there yet."""

    path: str
    content: bytes | None = None
    busy: bool = False  # a thread writes it, or its content is another's by now


class MarkerBatches:
    """The markers of one instant. Use it in a `with`: at its end the requests that wait are still answered."""

    def __init__(
        self, storage: ReplacingStorage, instant: Time, batching: Batching, check: Check = lambda markers: None
    ) -> None:
        self.storage = storage
        self.instant = instant
        self._batching = batching
        self._check = check
        self._files: list[_File] | None = None  # not read yet
        self._known: dict[str, Future[None]] = {}
        self._waiting: list[_Waiting] = []
        self._changed = threading.Condition()
        self._closed = False
        self._pool = ThreadPoolExecutor(batching.threads, thread_name_prefix=f"markers-{instant}")
        self._dispatcher = threading.Thread(target=self._dispatch, name=f"markers-{instant}", daemon=True)
        self._dispatcher.start()

    def __enter__(self) -> MarkerBatches:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Answer what waits, and take no more requests."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._dispatcher.join()
        self._pool.shutdown()

    def request(self, marker: str) -> Future[None]:
        """Have a marker (its path below the instant's folder) written; done when it is on the storage. Of one that is known, or
        on its way, the same answer. Raises UnsafePathError; the future raises what the storage or the check raises."""
        check_marker(marker)
        with self._changed:
            if marker in self._known:
                return self._known[marker]
            answer: Future[None] = Future()
            if self._closed:
                answer.set_exception(StorageError(f"Marker {marker} came too late", found="the write has ended"))
                return answer
            self._known[marker] = answer
            self._waiting.append((marker, answer))
            self._changed.notify_all()
            return answer

    def _dispatch(self) -> None:
        last = float("-inf")
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                rest = last + self._batching.interval_ms / 1000 - time.monotonic()
                if rest > 0:  # others may come meanwhile
                    self._changed.wait_for(lambda: self._closed, rest)
            last = time.monotonic()
            self._send()

    def _send(self) -> None:
        """Hand what waits to a file that nobody writes, as soon as there is one."""
        batch: list[_Waiting] = []
        try:
            files = self._files = self._read() if self._files is None else self._files
            with self._changed:
                self._changed.wait_for(lambda: not files or not all(file.busy for file in files))
                batch = self._taken()
                free = min((file for file in files if not file.busy), key=_size, default=None)
            if free is None:
                raise StorageError(
                    f"No file takes markers of instant {self.instant} of {self.storage.base_path} any more",
                    found="another process has changed all of them",
                )
            if batch:
                self._check([marker for marker, _ in batch])
                free.busy = True
                self._pool.submit(self._write, files, free, batch)
        except BaseException as error:  # noqa: BLE001 - whoever asked gets it
            self._fail(batch or self._taken(), error)

    def _taken(self) -> list[_Waiting]:
        """What waits, but for what the storage turned out to have."""
        with self._changed:
            batch, self._waiting = self._waiting, []
        return [(marker, answer) for marker, answer in batch if not answer.done()]

    def _write(self, files: list[_File], file: _File, batch: Sequence[_Waiting]) -> None:
        """Runs in a thread of the pool."""
        lines = "".join(f"{marker}\n" for marker, _ in batch).encode()
        try:
            content = _after(file.content, lines)
            if file.content is None:
                create_own(self.storage, file.path, content)
            elif not replace_own(self.storage, file.path, file.content, content):
                raise FileExistsError(errno.EEXIST, "Another process has changed it", file.path)
        except BaseException as error:  # noqa: BLE001 - whoever asked gets it
            self._free(files, file, lost=isinstance(error, FileExistsError))
            self._fail(batch, error)
        else:
            file.content = content
            self._free(files, file)
            for _, answer in batch:
                answer.set_result(None)

    def _free(self, files: list[_File], file: _File, *, lost: bool = False) -> None:
        with self._changed:
            file.busy = False
            if lost:
                files.remove(file)
            self._changed.notify_all()

    def _fail(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        """A marker that was not written may be asked for again."""
        with self._changed:
            for marker, _ in batch:
                del self._known[marker]
        for _, answer in batch:
            answer.set_exception(error)

    def _read(self) -> list[_File]:
        """What an earlier process has left, at the first request. Files with higher numbers are read and left alone."""
        numbers = {batch_number(info.name): info.path for info in self.storage.list(marker_folder(self.instant)).files}
        if BATCH_TYPE not in {path.rpartition("/")[2] for path in numbers.values()}:
            create_own(self.storage, f"{marker_folder(self.instant)}/{BATCH_TYPE}", BATCHED)
        found = {n: self.storage.read(path) for n, path in numbers.items() if n is not None}
        with self._changed:
            for marker in (line for content in found.values() for line in batch_lines(content)):
                answer = self._known.setdefault(marker, Future())
                if not answer.done():
                    answer.set_result(None)
        return [_File(batch_path(self.instant, n), found.get(n)) for n in range(self._batching.threads)]


def _size(file: _File) -> int:
    return len(file.content or b"")


def _after(content: bytes | None, lines: bytes) -> bytes:
    """The lines below the content, whose last one may be torn."""
    torn = content and not content.endswith(b"\n")
    return (content or b"") + (b"\n" if torn else b"") + lines
