"""Slices dealt out to the tasks that read their keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hoodie.model.files import FileSlice

_SHARES_A_WORKER = 2
_SHARE_BYTES = 512 * 1024 * 1024  # bytes of base files per share: the keys are a small part of them


def shares(
    slices: Sequence[FileSlice], parallelism: int, places: Collection[int] | None = None
) -> list[tuple[tuple[int, FileSlice], ...]]:
    """The slices at `places` (None: each), with their places in `slices`, in shares of about equal size.

    Each worker gets a few: a task of its own for each of a thousand small files would cost more than reading it.
    """
    items = [item for item in enumerate(slices) if places is None or item[0] in places]
    ordered = sorted(items, key=lambda item: item[1].size, reverse=True)
    most = -(-sum(file_slice.size for _, file_slice in ordered) // _SHARE_BYTES)
    count = min(len(ordered), max(parallelism * _SHARES_A_WORKER, most))
    return [tuple(ordered[start::count]) for start in range(count)]
