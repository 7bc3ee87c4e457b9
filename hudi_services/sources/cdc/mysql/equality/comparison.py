"""The rows of a table at the server against those of its Hudi table, each at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from hoodie.dataset import HoodieDataset
from hoodie.engine import Engine
from hoodie.schema import conform
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hudi_services.sources.cdc.lake_columns import SERVER_COLUMNS, LakeColumns
from hudi_services.sources.cdc.mysql.equality.chunks import ChunkSums, Digests, chunk_expression, server_sums
from hudi_services.sources.cdc.mysql.equality.row_changes import later_rows
from hudi_services.sources.cdc.mysql.equality.row_difference import RowDifference, row_difference, without_keys
from hudi_services.sources.cdc.mysql.equality.spool import PARTS, Spool, spooled
from hudi_services.sources.cdc.mysql.snapshot import Snapshot

BATCH_BYTES = 64 << 20  # bytes of rows that are compared at a time
_LISTED = 16_384  # chunks of a condition: of more the server reads all rows


@dataclass(frozen=True)
class LakeRows:
    """The rows of a Hudi table in one state of it, with the columns of the server's table.

    Other columns are left out, and those that it lacks are null.
    """

    state: TableState
    engine: Engine
    schema: pa.Schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, once more each time.

        Raises SchemaConflictError for values that do not fit the type of the server's column, StaleSnapshotError where a clean
        has removed files of this state.
        """
        table = HoodieTable.open(self.state.storage, engine=self.engine)
        dataset = HoodieDataset(table, state=self.state)
        columns = [name for name in dataset.schema.names if name in self.schema.names]
        for batch in dataset.to_batches(columns):
            count = max(1, batch.num_rows * BATCH_BYTES // max(1, batch.nbytes))
            for start in range(0, batch.num_rows, count):
                rows = pa.Table.from_batches([batch.slice(start, count)])
                yield from conform(rows, self.schema).to_batches()


@dataclass(frozen=True)
class Comparison:
    """The rows of a snapshot against `lake`, whose columns are `columns` of the server's. `key` are those of the record key.

    Checksums are of the server's values, so only rows that keep them have equal ones.
    """

    snapshot: Snapshot
    lake: LakeRows
    key: tuple[str, ...]
    digests: Digests
    columns: LakeColumns = SERVER_COLUMNS

    def sums(self) -> tuple[ChunkSums, ChunkSums]:
        """Return the checksums of the server's rows and of the lake's."""
        with ThreadPoolExecutor(1) as pool:  # the server works while rows of the lake are read
            of_server = pool.submit(server_sums, self.snapshot, self.key, self.digests.hash_function)
            of_lake = self.digests.sums(self.lake.batches())
            return of_server.result(), of_lake

    def rows(self, chunks: np.ndarray | None, folder: Path) -> ComparedRows:
        """Take the rows of these chunks (None: all) of both sides into files in `folder`."""
        table = self.snapshot.table
        condition = ""
        if chunks is not None and len(chunks) <= _LISTED:
            condition = (
                f"{chunk_expression(table, self.key, self.digests.hash_function)} IN ({', '.join(map(str, chunks))})"
            )
        server, lake = (
            spooled(self.digests, self.lake.schema, batches, chunks, folder / name)
            for name, batches in (
                ("server", map(self._of_lake, self.snapshot.rows_where(condition))),
                ("lake", self.lake.batches()),
            )
        )
        return ComparedRows(server, lake, self.key, not self.keeps_values)

    def updated(self, compared: ComparedRows, now: TableState, folder: Path) -> ComparedRows:
        """Return the rows with those of the lake as it is `now`. Raises what `later_rows` raises."""
        before, after = (
            spooled(self.digests, self.lake.schema, rows.to_batches(), None, folder / name)
            for name, rows in zip(
                ("before", "after"), later_rows(self.lake.state, now, self.lake.engine, self.lake.schema), strict=True
            )
        )
        return replace(compared, before=before, after=after)

    @property
    def keeps_values(self) -> bool:
        """True where the rows of both sides have the values of the server."""
        return self.columns.keep_values(self.snapshot.table.schema)

    def _of_lake(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return rows if self.keeps_values else self.columns.batch(rows)


@dataclass(frozen=True)
class ComparedRows:
    """Rows of both sides in local files: as the server has them, or `of_lake`, as the Hudi table gets them."""

    server: Spool
    lake: Spool
    key: tuple[str, ...]
    of_lake: bool
    before: Spool | None = None  # rows of the lake that others have changed or deleted since it was read
    after: Spool | None = None  # those that they wrote

    def differences(self) -> Iterator[RowDifference]:
        """Yield the differences, part by part. Parts without any are left out."""
        for number in range(PARTS):
            server, lake = self.server.part(number), self._of_lake(number)
            if not server.num_rows and not lake.num_rows:
                continue
            difference = row_difference(server, lake, self.key)
            if difference.count:
                yield difference

    def _of_lake(self, number: int) -> pa.Table:
        rows = self.lake.part(number)
        if self.before is None or self.after is None:
            return rows
        after = self.after.part(number)
        kept = without_keys(without_keys(rows, self.before.part(number), self.key), after, self.key)
        return pa.concat_tables([kept, after])
