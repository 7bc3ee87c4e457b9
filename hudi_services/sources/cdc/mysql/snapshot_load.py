"""All rows of a table of a server into its Hudi table: in one transaction and one commit, or in chunks where they are many.

Chunks are of several moments, so the table is equal to its source only when it has all changes since the first of them, up to the
moment of the last one. Its commits say so (`SnapshotProgress`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.chunks import (
    ChunkedTable,
    ChunkRows,
    changed_definition,
    chunked_table,
    chunks,
    find_key,
    gone_meanwhile,
    key_values,
    read_chunk,
)
from hudi_services.sources.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.failover import located
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.server_filter import server_condition
from hudi_services.sources.cdc.mysql.session_pool import SessionPool
from hudi_services.sources.cdc.mysql.snapshot import Snapshot, snapshot_on
from hudi_services.sources.cdc.mysql.snapshot_estimate import SnapshotEstimate, SnapshotPace, snapshot_estimate
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, keys_now
from hudi_services.sources.cdc.row_filter import RowFilter

if TYPE_CHECKING:
    from pymysql.connections import Connection

_log = logging.getLogger(__name__)
GROUP_ROWS, GROUP_BYTES = 1_000_000, 512 << 20  # in a commit. A table with less is read in one transaction
CHUNK_ROWS, CHUNK_BYTES = 100_000, 32 << 20


class SnapshotTarget(Protocol):
    """The rows of one table of a server in a Hudi table, which may have those of others, too."""

    @property
    def table(self) -> TableSource: ...

    @property
    def filter(self) -> RowFilter: ...

    def opened_for(self, rows: Snapshot) -> object:
        """Make the Hudi table where it is not there, as `TargetTable.opened_for`."""

    def key(self, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys makes record keys differ, as `TargetTable.key`."""

    def write_rows(
        self,
        rows: pa.RecordBatchReader,
        key: UniqueKey | None,
        before: StoredPosition | None,
        after: Callable[[], StoredPosition],
        *,
        replace: bool = False,
    ) -> int:
        """Write rows in one commit, as `TargetTable.write_rows`."""

    def write_no_rows(self, before: StoredPosition, after: StoredPosition) -> None:
        """Take all rows of the table out, as `TargetTable.write_no_rows`."""


@dataclass
class SnapshotLoad:
    """The load of all rows of `target.table` by `sessions`.

    `report` gets lines about one that takes long, `read` the rows so far.
    """

    sessions: SessionPool
    positions: LogPositions
    target: SnapshotTarget
    result: LoadResult = field(default_factory=LoadResult)
    report: Callable[[str], None] = _log.info
    read: Callable[[int], None] = lambda _rows: None
    whole_bytes: int = GROUP_BYTES
    """A table with more is read in chunks."""

    def run(self, stored: StoredPosition | None, *, start_fresh: bool = False) -> StoredPosition:
        """Load the rows, or those that an earlier run did not reach. Return the position that the table has then.

        `stored` is its position before. `start_fresh` replaces all rows in one commit, so that readers see the old ones until all
        new ones are there. Raises HoodieError. Commits before the error stay.
        """
        self.read(0)
        if stored is not None and stored.is_loading and not start_fresh:
            return self._resume(stored)
        source = self.target.table
        if stored is not None and source.statements.drop == "apply" and self._is_gone():
            return self._empty(stored)
        with self._snapshot() as rows:
            self.target.opened_for(rows)
            key = self._key(rows.connection)
            position = self.positions.stored_position(rows.connection, source.source, rows.position)
            chunked = self._chunked(rows.connection, rows.table, key)
            estimate = snapshot_estimate(rows.connection, rows.table)
            last = (
                key_values(rows.connection, chunked.greatest)
                if chunked and self._is_large(rows.connection, chunked, estimate)
                else None
            )
            if chunked is None or last is None:
                selected = rows.rows_where(server_condition(self.target.filter, rows.table))
                batches = pa.RecordBatchReader.from_batches(selected.schema, self._noted(selected))
                count = self.target.write_rows(batches, key, stored, lambda: position, replace=stored is not None)
                self.result.committed(position, rows=count)
                return position
        progress = SnapshotProgress(position.place, chunked.digest, None, last)
        run = _ChunkedRun(self, chunked, key, replace(position, snapshot=progress), estimate)
        return run.run(stored, replace_all=stored is not None)

    @contextmanager
    def _snapshot(self) -> Iterator[Snapshot]:
        """The table in a transaction of one session, which others get after it."""
        source = self.target.table
        with self.sessions.session(source.full_name) as session:
            try:
                with snapshot_on(session.answering(), source.database, source.name, source.choices) as rows:
                    yield rows
            except BaseException:
                session.close()  # rows of a result may be left on it
                raise

    def _resume(self, stored: StoredPosition) -> StoredPosition:
        source = self.target.table

        def read_definition(connection: Connection[Any]) -> tuple[UniqueKey | None, DeclaredTable, ChunkedTable | None]:
            located(connection, stored, self.positions)
            key = self._key(connection)
            table = declared_table(connection, source.database, source.name, source.choices)
            return key, table, self._chunked(connection, table, key)

        key, table, chunked = self.sessions.run(source.full_name, read_definition)
        progress = stored.snapshot
        if chunked is None or progress is None or progress.last is None or chunked.digest != progress.digest:
            if source.statements.alter == "apply":
                return self.run(stored, start_fresh=True)
            raise changed_definition(table)
        estimate = self.sessions.run(source.full_name, lambda connection: snapshot_estimate(connection, table))
        return _ChunkedRun(self, chunked, key, stored, estimate).run(stored, replace_all=False)

    def _chunked(self, connection: Connection[Any], table: DeclaredTable, key: UniqueKey | None) -> ChunkedTable | None:
        chunked = chunked_table(connection, table, key, self.target.table.choices)
        condition = server_condition(self.target.filter, table)
        return replace(chunked, condition=condition) if chunked is not None else None

    def _is_large(self, connection: Connection[Any], source: ChunkedTable, estimate: SnapshotEstimate) -> bool:
        """Return True for more rows than a commit takes. The server's count of them is an estimate, so its index is asked."""
        if estimate.size > self.whole_bytes:
            return True
        return key_values(connection, source.step(None, None, GROUP_ROWS + 1)) is not None

    def _empty(self, stored: StoredPosition) -> StoredPosition:
        """Take all rows out of the Hudi table: the server has no table of this name."""
        source = self.target.table
        position = self.sessions.run(
            source.full_name,
            lambda connection: self.positions.stored_position(connection, source.source, end_of_log(connection)),
        )
        if not self._is_gone():  # it may have been there at the position
            raise gone_meanwhile(source.full_name)
        self.target.write_no_rows(stored, position)
        self.result.committed(position)
        return position

    def _noted(self, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            self.read(rows)
            yield batch

    def _is_gone(self) -> bool:
        return self.sessions.run(self.target.table.full_name, self._keys) is None

    def _keys(self, connection: Connection[Any]) -> tuple[UniqueKey, ...] | None:
        source = self.target.table
        return keys_now(connection, source.database, source.name)

    def _key(self, connection: Connection[Any]) -> UniqueKey | None:
        keys = self._keys(connection)
        if keys is None:
            raise gone_meanwhile(self.target.table.full_name)
        return self.target.key(keys)


@dataclass
class _ChunkedRun:
    """A load in chunks from `position`, whose progress says where it begins."""

    load: SnapshotLoad
    source: ChunkedTable
    key: UniqueKey | None
    position: StoredPosition
    estimate: SnapshotEstimate
    _chunk_rows: int = 1

    def run(self, before: StoredPosition | None, *, replace_all: bool) -> StoredPosition:
        """Commit chunks in groups, or all at once in place of the rows that the table has. Return the last position."""
        load = self.load
        self._chunk_rows = _chunk_rows(self.estimate.rows, self.estimate.size)
        earlier = self.position.snapshot.rows if self.position.snapshot is not None else 0
        pace = SnapshotPace(self.estimate, self.source.table.full_name, load.report, earlier)
        with closing(self._chunks()) as results:
            while self.position.is_loading:
                if before is not None and not replace_all:
                    self._check_log(before)
                group = self._group(results, replace_all)
                rows = pa.RecordBatchReader.from_batches(self.source.table.schema, group)
                count = load.target.write_rows(rows, self.key, before, lambda: self.position, replace=replace_all)
                before = self.position
                load.result.committed(before, rows=count)
                pace.committed(count)
        return self.position

    def _chunks(self) -> Generator[ChunkRows, None, None]:
        progress = self.position.snapshot
        if progress is None or progress.last is None:
            return
        load, table = self.load, self.source.table.full_name
        ranges = chunks(
            lambda query: load.sessions.run(table, lambda connection: find_key(connection, self.source, query)),
            self.source,
            lambda: self._chunk_rows,
            progress.done,
            progress.last,
        )
        yield from load.sessions.results(
            table, lambda connection, chunk: read_chunk(connection, self.source, chunk), ranges
        )

    def _check_log(self, stored: StoredPosition) -> None:
        """Raise SourceError where another server answers, or the log no longer has the begin of the snapshot."""
        load = self.load
        load.sessions.run(self.source.table.full_name, lambda connection: located(connection, stored, load.positions))

    def _group(self, results: Iterator[ChunkRows], whole: bool) -> Iterator[pa.RecordBatch]:
        """The rows of chunks until they fill a commit. The position has passed them when the last one is taken."""
        rows = size = 0
        while self.position.is_loading and (whole or (rows < GROUP_ROWS and size < GROUP_BYTES)):
            result = next(results)
            yield from result.rows.to_batches()
            rows += result.rows.num_rows
            size += result.rows.nbytes
            self._chunk_rows = _chunk_rows(result.rows.num_rows, result.rows.nbytes)
            assert self.position.snapshot is not None
            progress = self.position.snapshot.after(result.place, result.chunk.up_to, result.rows.num_rows)
            self.position = replace(self.position, snapshot=progress)
            self.load.read(progress.rows)


def _chunk_rows(rows: int, size: int) -> int:
    """Rows of a chunk, when as many have this size."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES * max(rows, 1) // max(size, 1)))
