"""How a data file of an instant is written: its marker, then its bytes, then a look whether the instant still wants it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hoodie.markers import Markers, MarkerType
from hoodie.model.time import Time
from hoodie.storage.base import File, Storage
from hoodie.transaction.early_conflicts import EarlyDetection
from hoodie.transaction.fencing import only_while_pending


@dataclass
class DataFile:
    """A data file that is being written; `size` (bytes) and `millis` are known when it is done."""

    path: str
    sink: File
    size: int = 0
    millis: int = 0
    _started: float = field(default_factory=time.monotonic)

    def finish(self) -> None:
        """End the writing. The writer knows the size of its file, so the storage is not asked for it."""
        self.size = int(self.sink.tell())

    def close(self) -> None:
        """The file is durable."""
        self.millis = int((time.monotonic() - self._started) * 1000)


@dataclass(frozen=True)
class OpenDataFile:
    """Access of tasks that write data files to their instant. It travels to the workers."""

    markers: Markers
    inflight: str  # path of the file that is there as long as the instant may still be completed
    write_token: Callable[[int], str]  # a task's, by its number
    early: EarlyDetection | None = (
        None  # check before a task writes to a file group; None: no check, or a server does it
    )

    @property
    def storage(self) -> Storage:
        return self.markers.storage

    @property
    def instant(self) -> Time:
        return self.markers.instant

    @contextmanager
    def open(self, path: str, kind: MarkerType) -> Iterator[DataFile]:
        """A new data file at `path` (relative to the base path), for the time of the block.

        Raises FileExistsError when the file exists; PendingInstantError, and deletes the file, when the instant was rolled back
        or completed in the meantime. EarlyConflictError: see `EarlyDetection`.
        """
        if self.early is not None:
            self.early.check(path, kind)
        with only_while_pending(self.storage, self.inflight, path):
            self.markers.create(path, kind)
            with self.storage.open_output(path) as sink:
                file = DataFile(path, sink)
                yield file
                file.finish()
        file.close()
