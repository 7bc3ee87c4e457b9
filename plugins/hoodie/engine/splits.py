"""Inputs that any engine can read: Arrow tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class ArrowSplit:
    """A table, or a slice of one, that is in memory already."""

    table: pa.Table

    @property
    def size(self) -> int:
        return int(self.table.nbytes)

    @property
    def files(self) -> int:
        """None."""
        return 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        return iter(self.table.to_batches())

    def narrowed(self, columns: Sequence[str]) -> ArrowSplit:
        return ArrowSplit(self.table.select(list(columns)))


def arrow_splits(table: pa.Table, count: int) -> list[ArrowSplit]:
    """`table` as at most `count` slices of about equal rows, in order; one split, if empty, for its schema."""
    rows = max(1, -(-table.num_rows // count))
    return [ArrowSplit(table.slice(start, rows)) for start in range(0, max(1, table.num_rows), rows)]
