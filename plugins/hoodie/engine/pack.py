"""Dealing work out to tasks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def packed(items: Sequence[T], count: int, size: Callable[[T], int]) -> tuple[tuple[T, ...], ...]:
    """All items in at most `count` groups of about equal size: the largest come first, each joins the smallest group."""
    groups: list[list[T]] = [[] for _ in range(min(count, len(items)))]
    smallest = [(0, 0, number) for number in range(len(groups))]  # bytes, items: items without bytes are dealt out too
    for item in sorted(items, key=size, reverse=True):
        total, held, number = smallest[0]
        groups[number].append(item)
        heapq.heapreplace(smallest, (total + size(item), held + 1, number))
    return tuple(tuple(group) for group in groups)
