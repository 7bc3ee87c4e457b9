"""All rows of many tables into one Hudi table, in few commits. A run that was killed goes on after the last one.

The tables of a commit are read at several moments. So each is equal to its source when it has all changes since the first of
them, up to the last one (`SnapshotProgress`). A table is read whole, in one transaction, and a large one in chunks, whose commits
are its own (`SnapshotLoad`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from hoodie.errors import HoodieError
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log
from hudi_services.sources.cdc.mysql.chunks import gone_meanwhile
from hudi_services.sources.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.connection import rows_of
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.server_filter import server_condition
from hudi_services.sources.cdc.mysql.session_pool import SessionPool
from hudi_services.sources.cdc.mysql.shard_target import ShardTarget
from hudi_services.sources.cdc.mysql.snapshot import record_batches
from hudi_services.sources.cdc.mysql.snapshot_load import SnapshotLoad
from hudi_services.sources.cdc.mysql.snapshot_place import begin_placed_snapshot
from hudi_services.sources.cdc.mysql.snapshot_progress import SnapshotProgress
from hudi_services.sources.cdc.mysql.source_columns import (
    as_changes,
    changes_schema,
    fitted_rows,
    schema_with_source,
    widest,
    widest_inputs,
)
from hudi_services.sources.cdc.mysql.stored_rows import shared_keys
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_key_values, keys_now
from hudi_services.sources.cdc.mysql.target_batch import TargetCommits
from hudi_services.sources.cdc.progress_report import SyncReport
from hudi_services.sources.cdc.row_filter import RowFilter

if TYPE_CHECKING:
    from pymysql.connections import Connection

R = TypeVar("R")
GROUP_ROWS, GROUP_BYTES = 1_000_000, 256 << 20  # in a commit
WHOLE_BYTES = 64 << 20  # the largest table that is read whole: several wait in memory


@dataclass(frozen=True)
class _Planned:
    source: TableSource
    table: DeclaredTable
    keys: tuple[UniqueKey, ...]
    key: UniqueKey | None = None
    """The one of `keys` that makes record keys differ, once the Hudi table is there."""


@dataclass(frozen=True)
class _Read:
    """Rows of a table (None: the server has no such table), read at a moment between two places of the log."""

    source: TableSource
    rows: pa.Table | None
    low: LogPosition
    high: LogPosition


@dataclass
class MergedLoad:
    """The load of all rows of tables whose Hudi table is that of `commits`.

    `results` are theirs by name, `large` the names of those with many rows by the server's estimate (`is_large`). `fail` takes
    one that cannot be loaded.
    """

    sessions: SessionPool
    positions: LogPositions
    commits: TargetCommits
    results: Mapping[str, LoadResult]
    fail: Callable[[TableSource, HoodieError], None]
    report: SyncReport
    large: Collection[str] = ()

    def run(self, sources: Sequence[TableSource], *, again: bool) -> None:
        """Load the rows of these tables, or those that an earlier run did not reach. `again` puts all rows in place of those that
        the Hudi table has of them.

        Raises HoodieError where no table can be loaded. Commits before the error stay.
        """
        resumed = [] if again else [source for source in sources if self._is_loading(source)]
        others = [source for source in sources if source not in resumed]
        planned, absent = self._ask(lambda connection: self._planned(connection, others))
        planned = self._joinable(planned)
        if planned:
            planned = list(self._keyed(planned, self._schema(planned)))
        small = [plan for plan in planned if plan.source.full_name not in self.large]
        large = [plan.source for plan in planned if plan not in small]
        if small or absent:
            final = self._schema(planned) if planned else self.commits.target.schema
            with closing(self._reads(small, final, large)) as reads:
                for group in _groups(chain(absent, reads)):
                    self._commit(group, final, again=again)
        for source in (*resumed, *large):
            self._load_alone(source, again=again)

    def _is_loading(self, source: TableSource) -> bool:
        place = self.commits.place(source)
        return place is not None and place.is_loading

    def _load_alone(self, source: TableSource, *, again: bool) -> None:
        """Load a table in chunks, after those that an earlier run has committed. Its error leaves the others alone."""
        load = SnapshotLoad(
            self.sessions,
            self.positions,
            ShardTarget(source, self.commits),
            self.results[source.full_name],
            read=partial(self.report.read, source.full_name),
            whole_bytes=WHOLE_BYTES,
        )
        try:
            load.run(self.commits.place(source), start_fresh=again)
        except HoodieError as error:
            self.fail(source, error)
        else:
            self.report.loaded(source.full_name)

    @property
    def _name(self) -> str:
        return self.commits.target.source.source

    def _ask(self, work: Callable[[Connection[Any]], R]) -> R:
        return self.sessions.run(self._name, work)

    def _planned(
        self, connection: Connection[Any], sources: Sequence[TableSource]
    ) -> tuple[list[_Planned], list[_Read]]:
        """The tables as the server has them. Those without one, whose policy says that they are empty then, come second."""
        planned: list[_Planned] = []
        absent: list[_Read] = []
        for source in sources:
            try:
                keys = keys_now(connection, source.database, source.name)
                if keys is None and source.statements.drop == "apply" and self.commits.place(source) is not None:
                    place = end_of_log(connection)
                    absent.append(_Read(source, None, place, place))
                    continue
                if keys is None:
                    raise gone_meanwhile(source.full_name)
                table = declared_table(connection, source.database, source.name, source.choices)
                schema_with_source(table.schema)
                planned.append(_Planned(source, table, keys))
            except HoodieError as error:
                self.fail(source, error)
        return planned, absent

    def _joinable(self, planned: Sequence[_Planned]) -> list[_Planned]:
        """The tables whose columns go together with those of the Hudi table. Without one, the columns of most tables count."""
        target = self.commits.target
        stored = target.schema if self.commits.stored is not None else None
        columns, read = target.columns(stored), None
        known = columns.carried(stored) if stored is not None else None
        common = Counter((plan.table.schema, plan.table.key) for plan in planned)
        joinable = []
        for plan in sorted(planned, key=lambda plan: -common[plan.table.schema, plan.table.key]):
            try:
                columns.check(plan.table.schema, plan.source.full_name)
                own = schema_with_source(plan.table.schema)
                unstored = columns.unstored(columns.carried(own))
                read, known = widest_inputs(read, columns.masked(own), unstored), widest(known, columns.carried(own))
                joinable.append(plan)
            except HoodieError as error:
                self.fail(plan.source, error)
        return joinable

    def _schema(self, planned: Sequence[_Planned]) -> pa.Schema:
        schema: pa.Schema | None = None
        for columns in dict.fromkeys(plan.table.schema for plan in planned):
            schema = widest(schema, schema_with_source(self.commits.target.columns().read(columns)))
        return schema

    def _keyed(self, planned: Sequence[_Planned], schema: pa.Schema) -> Iterator[_Planned]:
        """The tables whose key fits the Hudi table, which is made for the first one where it is not there."""
        target, properties = self.commits.target, None
        for plan in planned:
            try:
                if properties is None:
                    properties = target.opened(schema, plan.table.key, plan.table.full_name).properties
                yield replace(plan, key=target.key_by(properties, plan.keys))
            except HoodieError as error:
                self.fail(plan.source, error)

    def _reads(
        self, planned: Sequence[_Planned], schema: pa.Schema, large: list[TableSource]
    ) -> Generator[_Read, None, None]:
        """Yield the rows of each table. Those that have too many of them are added to `large`."""
        results = self.sessions.results(
            self._name,
            lambda connection, plan: _read(connection, plan, schema, self.commits.target.filter),
            iter(planned),
            ahead_of_each=1,  # a table of 64 MiB waits whole, beside those of the commit
        )
        for plan, result in zip(planned, results, strict=True):
            if isinstance(result, HoodieError):
                self.fail(plan.source, result)
            elif result is None:
                large.append(plan.source)
            else:
                yield result

    def _commit(self, group: Sequence[_Read], schema: pa.Schema, *, again: bool) -> None:
        target, stored = self.commits.target, self.commits.stored
        low, high = min(read.low for read in group), max(read.high for read in group)
        at = self._ask(lambda connection: self.positions.stored_position(connection, target.source.source, low))
        progress = SnapshotProgress(high) if high > low else None
        tables = {
            read.source.full_name: StoredPosition(read.source.source, at.position, at.log, progress) for read in group
        }
        after = target.joined(stored, tables)
        tables_of_rows = [read.rows for read in group if read.rows is not None]
        if again and stored is not None:
            target.write_batch(
                lambda: (as_changes(rows, "i", schema) for rows in tables_of_rows),
                changes_schema(schema),
                stored,
                after,
                [read.source for read in group],
                are_all=True,
            )
        else:
            rows = pa.RecordBatchReader.from_batches(
                schema, (batch for table in tables_of_rows for batch in table.to_batches())
            )
            if target.shares_keys:
                _refuse_shared(group, target.properties.record_key_fields)
            target.write_rows(rows, None, stored, lambda: after)
        self.commits.stored = after
        for read in group:
            count = read.rows.num_rows if read.rows is not None else 0
            self.results[read.source.full_name].committed(tables[read.source.full_name], rows=count)
            self.report.read(read.source.full_name, count)
            self.report.loaded(read.source.full_name)


def is_large(rows: int, size: int) -> bool:
    """Return True for a table that is read in chunks: it would take a commit of its own, or much memory."""
    return rows > GROUP_ROWS or size > WHOLE_BYTES


def _read(
    connection: Connection[Any], plan: _Planned, schema: pa.Schema, row_filter: RowFilter
) -> _Read | HoodieError | None:
    """Read the rows of a table that pass a filter, in a transaction of one moment, or return why they cannot be read.

    None: they are too many to be read whole, though the server's estimate was low.
    """
    import pymysql

    table, source = plan.table, plan.source
    try:
        place = begin_placed_snapshot(connection)
        high = place.position if place.is_exact else end_of_log(connection)
        condition = server_condition(row_filter, table)
        query = f"{table.query} WHERE {condition}" if condition else table.query
        batches: list[pa.RecordBatch] = []
        count = size = 0
        for batch in record_batches(connection, table, query):
            batches.append(batch)
            count, size = count + batch.num_rows, size + batch.nbytes
            if is_large(count, size):
                connection.close()  # the other rows are left on it
                return None
        rows = row_filter.table(pa.Table.from_batches(batches, table.schema))
        # No client can change the definition between the first row that a transaction reads and its end.
        if declared_table(connection, source.database, source.name, source.choices) != table:
            raise gone_meanwhile(source.full_name)
        rows_of(connection, "COMMIT")
        for batch in rows.to_batches():
            check_key_values(batch.to_struct_array(), plan.key)
        return _Read(source, fitted_rows(rows, source, schema), place.position, high)
    except HoodieError as error:
        if not connection.open:  # the server ended it, which says nothing of the table
            raise
        connection.close()  # rows of a result may be left on it
        return error
    except (pymysql.err.OperationalError, pymysql.err.InterfaceError):
        raise
    except pymysql.err.MySQLError:
        connection.close()
        return gone_meanwhile(source.full_name)


def _groups(reads: Iterator[_Read]) -> Iterator[list[_Read]]:
    """Yield what goes into a commit."""
    group: list[_Read] = []
    rows = size = 0
    for read in reads:
        group.append(read)
        rows += read.rows.num_rows if read.rows is not None else 0
        size += read.rows.nbytes if read.rows is not None else 0
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group


def _refuse_shared(group: Sequence[_Read], key: Sequence[str]) -> None:
    """Raise SourceError where two tables of a commit have a row of one key."""
    keys = pa.concat_tables(read.rows.select(list(key)) for read in group if read.rows is not None)
    distinct = keys.group_by(list(key)).aggregate([]).num_rows
    if distinct < keys.num_rows:
        raise shared_keys(f"{keys.num_rows - distinct:,} of {keys.num_rows:,} rows in {len(group):,} tables")
