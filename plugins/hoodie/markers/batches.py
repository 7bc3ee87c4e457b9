"""The markers of an instant in batches: what the timeline server does with them, without the network (decision 38).

Requests wait together for some milliseconds; then one of the files `MARKERS0` … takes them all. Each is rewritten whole, by one
thread at a time. A request is answered when its marker is on the storage: the next process after one that was killed finds every
marker that was answered. A file that is not as it was left, or is gone, is another process's work, such as one that began the
instant again: then all is read again, and no earlier knowledge answers a request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

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
from hoodie.storage.idempotent import create_own, replace_own

Check = Callable[[Sequence[str]], None]
"""Looks at markers before they are written, and raises an error against them."""
_MOST_LOSSES = 20  # that others are quicker so often in a row is no matter of chance any more


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
    busy: bool = False  # a thread writes it


@dataclass(frozen=True)
class _MarkerRequest:
    """A marker that is asked for, and how often another process was quicker when it was to be written."""

    marker: str
    answer: Future[None]
    losses: int = 0


class MarkerBatches:
    """The markers of one instant. Use it in a `with`: at its end the requests that wait are still answered."""

    def __init__(
        self, storage: ReplacingStorage, instant: Time, batching: Batching, check: Check = lambda markers: None
    ) -> None:
        self.storage = storage
        self.instant = instant
        self._batching = batching
        self._check = check
        self._files: Sequence[_File] = ()
        self._stale = True  # what is on the storage is to be read first
        self._answers: dict[str, Future[None]] = {}
        self._requests: list[_MarkerRequest] = []
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
        """Have a marker (its path below the instant's folder) written; done when it is on the storage. A known marker, or one
        on its way, gets the same answer. Raises UnsafePathError; the future raises what the storage or the check raises."""
        check_marker(marker)
        with self._changed:
            if marker in self._answers:
                return self._answers[marker]
            answer: Future[None] = Future()
            if self._closed:
                answer.set_exception(StorageError(f"Marker {marker} came too late", found="the write has ended"))
                return answer
            self._answers[marker] = answer
            self._requests.append(_MarkerRequest(marker, answer))
            self._changed.notify_all()
            return answer

    def _dispatch(self) -> None:
        last = float("-inf")
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._requests or (self._closed and not self._busy))
                if not self._requests:
                    return
                seconds_left = last + self._batching.interval_ms / 1000 - time.monotonic()
                if seconds_left > 0:  # others may come in this time
                    self._changed.wait_for(lambda: self._closed, seconds_left)
            last = time.monotonic()
            self._send()

    def _send(self) -> None:
        """Write the waiting requests to a file that no thread writes, as soon as there is one."""
        batch: list[_MarkerRequest] = []
        try:
            with self._changed:
                self._changed.wait_for(lambda: not self._busy if self._stale else self._busy < len(self._files))
                if self._stale:
                    self._files = self._read()
                    self._stale = False
                free = min((file for file in self._files if not file.busy), key=_size)
                batch = self._take_batch()
            if batch:
                self._check([request.marker for request in batch])
                free.busy = True
                self._pool.submit(self._write, free, batch)
        except BaseException as error:  # noqa: BLE001 - the caller of the request gets it
            self._fail(batch or self._take_batch(), error)

    @property
    def _busy(self) -> int:
        return sum(file.busy for file in self._files)

    def _take_batch(self) -> list[_MarkerRequest]:
        """Take the waiting requests, but for markers that the storage turned out to have."""
        with self._changed:
            batch, self._requests = self._requests, []
        return [request for request in batch if not request.answer.done()]

    def _write(self, file: _File, batch: Sequence[_MarkerRequest]) -> None:
        """Runs in a thread of the pool."""
        try:
            content = _after(file.content, "".join(f"{request.marker}\n" for request in batch).encode())
            if self._put(file, content):
                file.content = content
                for request in batch:
                    request.answer.set_result(None)
            else:
                self._request_again(batch)
        except BaseException as error:  # noqa: BLE001 - the caller of the request gets it
            self._fail(batch, error)
        finally:
            with self._changed:
                file.busy = False
                self._changed.notify_all()

    def _put(self, file: _File, content: bytes) -> bool:
        """Write the file if it is as it was left, or not there yet; False otherwise."""
        try:
            if file.content is not None:
                return replace_own(self.storage, file.path, file.content, content)
            create_own(self.storage, file.path, content)
        except (FileExistsError, FileNotFoundError):
            return False
        try:  # a process that deleted the folder took its type along, without which Hudi reads no files of markers
            return self.storage.info(f"{marker_folder(self.instant)}/{BATCH_TYPE}") is not None
        except OSError:
            return False

    def _request_again(self, batch: Sequence[_MarkerRequest]) -> None:
        """All is read again, and the batch waits for that, unless it has lost too often."""
        given_up = [request for request in batch if request.losses == _MOST_LOSSES]
        with self._changed:
            self._stale = True
            self._answers = {marker: answer for marker, answer in self._answers.items() if not answer.done()}
            self._requests += [
                replace(request, losses=request.losses + 1) for request in batch if request.losses < _MOST_LOSSES
            ]
        self._fail(
            given_up,
            StorageError(
                f"Markers of instant {self.instant} of {self.storage.base_path} cannot be written",
                found=f"another process has changed their files {_MOST_LOSSES} times during the write",
                fix="let one timeline server take the markers of a table",
            ),
        )

    def _fail(self, batch: Sequence[_MarkerRequest], error: BaseException) -> None:
        """A marker that was not written may be asked for again."""
        with self._changed:
            for request in batch:
                del self._answers[request.marker]
        for request in batch:
            request.answer.set_exception(error)

    def _read(self) -> list[_File]:
        """Files of an earlier process, at the first request. Files with higher numbers are read and left alone."""
        files = {info.name: info.path for info in self.storage.list(marker_folder(self.instant)).files}
        if BATCH_TYPE not in files:
            create_own(self.storage, f"{marker_folder(self.instant)}/{BATCH_TYPE}", BATCHED)
        result: dict[str, bytes] = {}
        for path in (path for name, path in files.items() if batch_number(name) is not None):
            with suppress(FileNotFoundError):  # `_put` finds that the folder's type is gone, too
                result[path] = self.storage.read(path)
        with self._changed:
            for marker in (line for content in result.values() for line in batch_lines(content)):
                answer = self._answers.setdefault(marker, Future())
                if not answer.done():
                    answer.set_result(None)
        paths = (batch_path(self.instant, n) for n in range(self._batching.threads))
        return [_File(path, result.get(path)) for path in paths]


def _size(file: _File) -> int:
    return len(file.content or b"")


def _after(content: bytes | None, lines: bytes) -> bytes:
    """The lines below the content, whose last one may be torn."""
    torn = content and not content.endswith(b"\n")
    return (content or b"") + (b"\n" if torn else b"") + lines
