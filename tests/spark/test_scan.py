"""Assignment of slices to the reading worker tasks."""

from __future__ import annotations

import pytest

from hoodie.model.files import BaseFile, FileSlice
from hoodie.spark.scan import tasks_of
from hoodie.storage.base import FileInfo

MB = 1 << 20


def slice_of(size: int) -> FileSlice:
    base = BaseFile("p", "f", "20260101000000000", FileInfo("p/f_0-0-0_20260101000000000.parquet", size, 0))
    return FileSlice("p", "f", base.instant, base)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([5], [[5]]),
        ([3, 1, 2, 4], [[4, 1], [3, 2]]),
        ([500, 100, 100, 100], [[500], [100], [100], [100]]),  # Spark's tasks have 128 MB of files
        ([100] * 6, [[100, 100], [100, 100], [100], [100]]),
    ],
)
def test_slices_are_spread_by_their_bytes(sizes, expected):
    tasks = tasks_of([slice_of(size * MB) for size in sizes], cores=2)
    assert [[each.size // MB for each in task] for task in tasks] == expected
