"""A table whose small files a clustering packs together."""

from __future__ import annotations

from pathlib import Path

from tests.support.tables import SMALL_BLOOM

NO_SMALL_FILES = {**SMALL_BLOOM, "hoodie.parquet.small.file.limit": 0}
PLAN = "hoodie.clustering.plan.strategy."
CONTENT = {"a": ("p", 2, 3), "b": ("p", 1, 7), "c": ("p", 1, 8), "e": ("p", 1, None), "z": ("q", 1, 1)}


def groups(table, partition="part=p"):
    """The file slices of a partition."""
    return [each for each in table.file_slices() if each.partition == partition]


def files_of(table, time):
    """Base files of an instant."""
    return [p for p in Path(table.base_path).rglob("*.parquet") if time in p.name]
