"""Tables of a server against the one Hudi table that has their rows, in one transaction of the server.

Checksums of all tables are computed in one pass over the Hudi table. Then the rows of chunks that differ are compared, all in one
second pass, so that a thousand tables do not read it a thousand times.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hoodie.clock import SystemClock
from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.errors import HoodieError, SourceError
from hoodie.services.inline import InlineServices
from hoodie.view import TableState
from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.columns import DeclaredTable, declared_table
from hudi_services.sources.cdc.mysql.equality.chunks import digests, row_hash, server_sums
from hudi_services.sources.cdc.mysql.equality.comparison import ComparedRows
from hudi_services.sources.cdc.mysql.equality.proof import Proof, keep_proof
from hudi_services.sources.cdc.mysql.equality.repair import write_differences, write_place
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport, Reporter, TableCounts
from hudi_services.sources.cdc.mysql.equality.shard_sums import Layouts, ShardSums, layouts
from hudi_services.sources.cdc.mysql.equality.shards import Shard, ShardRows, rows_by_table
from hudi_services.sources.cdc.mysql.equality.shared_keys import SharedKeyRows, names_of
from hudi_services.sources.cdc.mysql.equality.spool import spooled
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.table_source import DATABASE_COLUMN, TABLE_COLUMN, TableSource
from hudi_services.sources.cdc.mysql.target import unique_keys
from hudi_services.sources.cdc.mysql.target_table import TargetTable

if TYPE_CHECKING:
    from pymysql.connections import Connection


@dataclass(frozen=True)
class ShardComparison:
    """Tables of `target` in the transaction of `connection`, against a state of it that has all their changes up to `at`.

    `at` is the place of the transaction, `stored` the position that the state has. `left` are tables that are not compared, and
    why. No table begins once the time `is_over`. `limit` keys that differ are listed, with their `values` where asked for.
    `reached` is the position that a repair gives the tables. None: they keep theirs.
    """

    target: TargetTable
    state: TableState
    stored: StoredPosition
    connection: Connection[Any]
    at: StoredPosition
    left: dict[str, str] = field(default_factory=dict)
    is_over: Callable[[], bool] = lambda: False
    limit: int = 0
    values: bool = False
    reached: StoredPosition | None = None

    def run(self, sources: tuple[TableSource, ...], *, repair: bool = False) -> EqualityReport:
        """Compare these tables, the first ones first. With `repair` write what differs, in one commit. `left` gets more tables.

        The Hudi table gets a proof if all its tables are equal. Raises PendingInstantError where others changed rows after the
        state, SourceError where tables with a new position have rows of one shared key, and HoodieError where the lake cannot be
        read.
        """
        masks, is_whole = self.target.masks, {*self.left, *(source.full_name for source in sources)} >= self._names
        report = EqualityReport(self.target.source.source, self.at.position, _instant(self.state))
        shards = tuple(self._declared(sources))
        if shards:
            rows = ShardRows(self.target, self.state, shards)
            named = {name: masks.of(name) for name in {name for shard in shards for name in shard.table.schema.names}}
            report.masked = {name: str(mask) for name, mask in sorted(named.items()) if mask is not None}
            with layouts(rows, row_hash(self.connection)) as shared_layouts:
                _Run(self, rows, shared_layouts, report, is_whole).run(repair=repair)
        report.left = dict(self.left)
        is_of_moment = self.reached is None or self.reached.snapshot is None
        if report.is_proof and is_of_moment and report.tables.keys() == self._names:
            now = SystemClock().now().isoformat()
            proof = Proof(report.source, self.at.position, self.at.log, report.instant, report.rows, now)
            keep_proof(self.state.storage, proof)
        return report

    @property
    def _names(self) -> set[str]:
        return {source.full_name for source in self.target.source.tables}

    def _declared(self, sources: tuple[TableSource, ...]) -> Iterator[Shard]:
        fields = set(self.state.properties.record_key_fields) - {DATABASE_COLUMN, TABLE_COLUMN}
        for source in sources:
            try:
                table = declared_table(self.connection, source.database, source.name, source.choices)
                keys = unique_keys(self.connection, source.database, source.name)
                key = self.target.key_by(self.state.properties, keys)
            except HoodieError as error:
                self.left[source.full_name] = reason_of(error)
                continue
            if missing := sorted(fields - set(table.schema.names)):
                self.left[source.full_name] = f"it has no column {', '.join(missing)}, the record key of the Hudi table"
                continue
            yield Shard(source, table, key)


@dataclass
class _Run:
    """A comparison of `rows`, whose result is `report`. It `is_whole` if no other table has rows in the Hudi table."""

    comparison: ShardComparison
    rows: ShardRows
    layouts: Layouts
    report: EqualityReport
    is_whole: bool
    _others: Counter[str] = field(default_factory=Counter)

    def run(self, *, repair: bool) -> None:
        """Fill the report. With `repair` write what differs."""
        chosen = self._chosen() if self.rows.keeps_values else None
        if chosen is None or chosen.any():
            self._compare(chosen, repair=repair)
        elif repair and (after := self._after()) != self.comparison.stored:
            target, comparison, schema = self.comparison.target, self.comparison, self.rows.schema
            self.report.instant = write_place(target, schema, comparison.state, comparison.stored, after)
        if self.is_whole:
            known = self._known
            for name, count in sorted(self._others.items()):
                if name not in known:
                    (self.report.removed if name in self.comparison.stored.tables else self.report.others)[name] = count

    def _compare(self, chosen: np.ndarray | None, *, repair: bool) -> None:
        """Compare the rows of these chunks (None: all)."""
        target = self.comparison.target
        spill = InlineServices.of(target.options).options[SPILL_FOLDER] or None
        with tempfile.TemporaryDirectory(prefix="hoodie-verify-", dir=spill) as folder:
            compared = self._compared(chosen, Path(folder))
            self._note(compared)
            stored, after = self.comparison.stored, self._after()
            if repair and (self.report.differing or after != stored):
                write_differences(target, compared, self.report, self.comparison.state, None, stored, after)

    def _after(self) -> StoredPosition:
        """The position of the Hudi table after a repair."""
        comparison, counts = self.comparison, self.report.tables
        reached, stored = comparison.reached, comparison.stored
        if reached is None:
            return stored
        compared = [shard.source for shard in self.rows.shards if shard.name in counts]
        if comparison.target.shares_keys:
            missing = {name for name in self._known if name in stored.tables} - {
                source.full_name for source in compared
            }
            _check_shared(missing, sum(table.shared for table in counts.values()))
        places = {source.full_name: replace(reached, source=source.source) for source in compared}
        return comparison.target.joined(stored, places) if places else stored

    def _chosen(self) -> np.ndarray:
        """Compare checksums. Return the chunks that differ, for each table."""
        with ThreadPoolExecutor(1) as pool:  # the server works while rows of the lake are read
            pending_sums = pool.submit(self._server_sums)
            of_lake = self.layouts.sums(self.rows.of_lake(self._sources))
            of_server, is_read = pending_sums.result()
        self._others = of_lake.others
        for number, shard in enumerate(self.rows.shards):
            if is_read[number]:
                at_server, in_lake = (int(side.rows[number].sum()) for side in (of_server, of_lake))
                counts = TableCounts(at_server, in_lake, unasked=dict(of_lake.unasked.get(number, {})))
                self.report.tables[shard.name] = counts
                self.report.rows += counts.rows
                self.report.lake_rows += counts.lake_rows
        differing = of_server.differing(of_lake) & is_read[:, None]
        if self.comparison.target.shares_keys:  # a row may be that of another table
            chunks = (
                differing.any(axis=0) if self.layouts.share_chunks else np.full(differing.shape[1], differing.any())
            )
            differing = is_read[:, None] & chunks[None, :]
        return np.asarray(differing)

    def _server_sums(self) -> tuple[ShardSums, np.ndarray]:
        """The checksums of the server, and of which tables they are."""
        comparison, shards = self.comparison, self.rows.shards
        sums, is_read = ShardSums.of(len(shards)), np.zeros(len(shards), bool)
        for number, shard in enumerate(shards):
            if comparison.is_over():
                comparison.left[shard.name] = TIME_IS_OVER
                continue
            try:
                sums.put(number, server_sums(self._snapshot(shard), self.rows.table_key, self.layouts.hash_function))
                is_read[number] = True
            except HoodieError as error:
                comparison.left[shard.name] = reason_of(error)
        return sums, is_read

    def _compared(self, chosen: np.ndarray | None, folder: Path) -> ComparedRows:
        """Take the rows of these chunks (None: all) of both sides into files."""
        rows, counts = self.rows, self.report.tables
        if chosen is None:
            counts.update({shard.name: TableCounts() for shard in rows.shards})

        def of_server() -> Iterator[pa.RecordBatch]:
            for number, shard in enumerate(rows.shards):
                if chosen is None or chosen[number].any():
                    condition = self.layouts.condition(number, chosen[number]) if chosen is not None else ""
                    for batch in rows.of_server(number, self._snapshot(shard), condition):
                        if chosen is None:
                            counts[shard.name].rows += batch.num_rows
                        yield batch

        def of_lake() -> Iterator[tuple[pa.RecordBatch, np.ndarray]]:
            for batch, numbers in rows.of_lake(self._sources):
                if chosen is None:
                    for name, count in rows_by_table(batch.filter(pa.array(numbers >= 0))).items():
                        counts[name].lake_rows += count
                    self._others += rows_by_table(batch.filter(pa.array(numbers < 0)))
                yield batch, numbers

        selected = self.layouts.selected(of_lake(), chosen, others=self.comparison.target.shares_keys)
        with digests(_key_table(rows.key), rows.key) as computed:
            server, lake = (
                spooled(computed, rows.schema, batches, None, folder / name)
                for name, batches in (("server", of_server()), ("lake", selected))
            )
        self.report.rows_read = server.rows
        if chosen is None:
            self.report.rows = sum(table.rows for table in counts.values())
            self.report.lake_rows = sum(table.lake_rows for table in counts.values())
        compared = ComparedRows(server, lake, rows.key, chosen is None)
        if not self.comparison.target.shares_keys:
            return compared
        own = [shard.source for shard in rows.shards if shard.name in counts]
        unread = [source for name, source in self._known.items() if name not in counts]
        return SharedKeyRows(server, lake, rows.key, chosen is None, compared=names_of(own), unread=names_of(unread))

    def _note(self, compared: ComparedRows) -> None:
        comparison, tables = self.comparison, self.report.tables
        shown = tuple(dict.fromkeys((DATABASE_COLUMN, TABLE_COLUMN, *compared.key)))
        reporter = Reporter(self.report, shown, comparison.limit, comparison.values)
        for difference in compared.differences():
            reporter.add(difference)
            kinds = (
                ("missing", difference.missing),
                ("surplus", difference.surplus),
                ("changed", difference.server),
                ("copied", difference.copies),
            )
            for kind, rows in kinds:
                for name, count in rows_by_table(rows).items():
                    table = tables.setdefault(name, TableCounts())
                    setattr(table, kind, getattr(table, kind) + count)
        if isinstance(compared, SharedKeyRows):
            for name, count in compared.shared().items():
                tables[name].shared = count

    @property
    def _known(self) -> dict[str, TableSource]:
        return {source.full_name: source for source in self.comparison.target.source.tables}

    @property
    def _sources(self) -> list[TableSource] | None:
        """The tables whose rows of the lake are read, None for all rows."""
        if self.is_whole or self.comparison.target.shares_keys:
            return None
        return [shard.source for shard in self.rows.shards]

    def _snapshot(self, shard: Shard) -> Snapshot:
        return Snapshot(shard.table, self.comparison.at.place, True, self.comparison.connection)


def _check_shared(missing: Collection[str], rows: int) -> None:
    """Raise SourceError where rows of shared keys would be lost, as tables that have them come to other places or lose theirs."""
    if missing or rows:
        raise SourceError(
            "Tables of the server share keys, so they cannot get one new place",
            found=f"no comparison of {', '.join(sorted(missing)):.200}"
            if missing
            else f"{rows:,} rows of one key in two tables",
            fix="run again when each row is in one table and all tables are there. Until then `hudi-services cdc verify … "
            "--repair` corrects the other rows",
        )


TIME_IS_OVER = "the time was over: the next run begins with it"


def reason_of(error: HoodieError) -> str:
    """Return why a table is not compared."""
    return f"{error.what}: {error.found}" if error.found else error.what


def _key_table(key: tuple[str, ...]) -> DeclaredTable:
    """The columns of a record key, of which chunks are made. Both sides have them in the same types."""
    return DeclaredTable("", "", tuple(LoggedColumn(Code.VARCHAR, 0, name) for name in key), key, {})


def _instant(state: TableState) -> str:
    last = state.timeline.last_commit
    return last.time if last is not None else ""
