"""Dealing work out to tasks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_TASKS_A_WORKER = 4  # tasks that small pieces of work are dealt to: the last ones then end at about the same time
_TASK_BYTES = 32 * 1024 * 1024  # bytes of small pieces in one task: it holds their rows, and a lost task does all again


def packed(items: Sequence[T], count: int, size: Callable[[T], int]) -> tuple[tuple[T, ...], ...]:
    """All items in at most `count` groups of about equal size: the largest come first, each joins the smallest group."""
    groups: list[list[T]] = [[] for _ in range(min(count, len(items)))]
    smallest = [(0, 0, number) for number in range(len(groups))]  # bytes, items: items without bytes are dealt out too
    for item in sorted(items, key=size, reverse=True):
        total, items_in_pack, number = smallest[0]
        groups[number].append(item)
        heapq.heapreplace(smallest, (total + size(item), items_in_pack + 1, number))
    return tuple(tuple(group) for group in groups)


def shares(sizes: Sequence[int], workers: int) -> tuple[tuple[int, ...], ...]:
    """The numbers of pieces of work by the task that does them, the largest tasks first; `sizes` in bytes.

    A large piece has a task of its own; small ones share one, since to start it would cost more than to do them.
    """
    alone = [(number,) for number, size in enumerate(sizes) if size >= _TASK_BYTES]
    small = [number for number, size in enumerate(sizes) if size < _TASK_BYTES]
    count = max(
        workers, _TASKS_A_WORKER * workers - len(alone), -(-sum(sizes[number] for number in small) // _TASK_BYTES)
    )
    dealt = [*alone, *packed(small, count, sizes.__getitem__)]
    return tuple(sorted(dealt, key=lambda share: sum(sizes[number] for number in share), reverse=True))
