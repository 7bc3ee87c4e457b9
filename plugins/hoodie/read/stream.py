"""The rows of a read plan as they come, in bounded memory: for engines that take batches and may stop early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue

import pyarrow as pa

from hoodie.model.files import FileSlice
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan
from hoodie.storage.base import Storage

_AHEAD = 2  # batches of each thread that wait to be taken
_POLL_S = 0.05


def stream_rows(plan: ReadPlan, storage: Storage, threads: int) -> Iterator[pa.RecordBatch]:
    """Batches of the plan's rows, of its schema, in no order. `threads` file slices are read at a time.

    Raises what the reading of a slice raises, as soon as that is known. Closing the iterator ends the reading.
    """
    task = ReadSlice(storage, plan.of_slice)
    if threads <= 1 or len(plan.slices) <= 1:
        for file_slice in plan.slices:
            for table in task.batches(file_slice):
                yield from table.to_batches()
        return
    yield from _Readers(task, plan.slices, min(threads, len(plan.slices))).batches()


class _Readers:
    def __init__(self, task: ReadSlice, slices: tuple[FileSlice, ...], threads: int) -> None:
        self._task = task
        self._slices = Queue[FileSlice]()
        for file_slice in slices:
            self._slices.put(file_slice)
        self._read = Queue[pa.Table | BaseException | None](threads * _AHEAD)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._work, name="hoodie-read", daemon=True) for _ in range(threads)]

    def batches(self) -> Iterator[pa.RecordBatch]:
        for thread in self._threads:
            thread.start()
        at_work = len(self._threads)
        try:
            while at_work:
                item = self._read.get()
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    at_work -= 1
                else:
                    yield from item.to_batches()
        finally:
            self._stopped.set()
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    file_slice = self._slices.get_nowait()
                except Empty:
                    break
                for table in self._task.batches(file_slice):
                    if not self._give(table):
                        return
            self._give(None)
        except BaseException as error:  # noqa: BLE001 - raised where the rows are wanted
            self._give(error)

    def _give(self, item: pa.Table | BaseException | None) -> bool:
        """False when the consumer has stopped."""
        while not self._stopped.is_set():
            try:
                self._read.put(item, timeout=_POLL_S)
            except Full:
                continue
            return True
        return False
