"""Comparing rows of different readers."""

from __future__ import annotations

import pyarrow as pa

META = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)


def rows(table: pa.Table, columns: list[str] | None = None) -> list[tuple]:
    """The data columns (or `columns`) as sorted tuples; maps as sorted pairs."""
    names = columns or sorted(name for name in table.schema.names if name not in META)
    return sorted((tuple(_plain(row[name]) for name in names) for row in table.select(names).to_pylist()), key=repr)


def _plain(value):
    if isinstance(value, dict):
        return tuple((key, _plain(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    return value
