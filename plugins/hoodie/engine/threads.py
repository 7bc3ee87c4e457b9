"""Work on threads that stay for the next work: starting threads takes longer than most of what they do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_MOST_THREADS = 512  # threads of a process. A call that finds all of them busy does its work alone


def map_on_threads(function: Callable[[T], R], items: Sequence[T], at_once: int) -> list[R]:
    """The results of the items, in their order. At most `at_once` threads work, and the calling one is among them.

    Raises the error of the first item that failed, when no thread works on another one. Items after it may be left out.
    """
    if at_once == 1 or len(items) <= 1:
        return [function(item) for item in items]
    work = _Work(function, items)
    helpers: list[Future[None]] = []
    try:
        helpers.extend(_threads().submit(work.run) for _ in range(min(at_once, len(items)) - 1))
        work.run()
        wait(_running_helpers(helpers))
    finally:  # an interrupt, too, waits for what is in work
        work.stop()
        wait(_running_helpers(helpers))
    return work.results()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="hoodie")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a fork has none of its parent's threads


def _running_helpers(helpers: Sequence[Future[None]]) -> list[Future[None]]:
    return [helper for helper in helpers if not helper.cancel()]


class _Work(Generic[T, R]):
    """Items that threads take one after the other."""

    def __init__(self, function: Callable[[T], R], items: Sequence[T]) -> None:
        self._function = function
        self._items = items
        # Numbers of items that no thread has taken: `next` of a range is atomic.
        self._numbers = iter(range(len(items)))
        self._results: dict[int, R] = {}
        self._errors: dict[int, BaseException] = {}
        self._stopped = False

    def run(self) -> None:
        """Take items until none is left or one failed."""
        for number in self._numbers:
            if self._stopped:
                return
            try:
                self._results[number] = self._function(self._items[number])
            except BaseException as error:  # noqa: BLE001 - `results` raises it
                self._errors[number] = error
                self.stop()

    def stop(self) -> None:
        """Let no thread take another item."""
        self._stopped = True

    def results(self) -> list[R]:
        """Raises the first error, and an interrupt before all others."""
        if self._errors:
            raise self._errors[
                min(self._errors, key=lambda number: (isinstance(self._errors[number], Exception), number))
            ]
        return [self._results[number] for number in range(len(self._items))]
