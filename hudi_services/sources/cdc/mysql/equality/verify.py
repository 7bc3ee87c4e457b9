"""Verify: is a Hudi table equal to that of the server at one place of its log? Repair: make it so. Resync: both, row by row."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoodie.clock import SystemClock
from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.errors import ConfigError, PendingInstantError, SourceError
from hoodie.services.inline import InlineServices
from hoodie.view import TableState
from hudi_services.sources.cdc.mysql.connection import connected
from hudi_services.sources.cdc.mysql.equality.chunks import digests, row_hash
from hudi_services.sources.cdc.mysql.equality.comparison import ComparedRows, Comparison, LakeRows
from hudi_services.sources.cdc.mysql.equality.proof import Proof, keep_proof
from hudi_services.sources.cdc.mysql.equality.repair import PartlyRepairedError, write_differences
from hudi_services.sources.cdc.mysql.equality.report import EqualityReport, Reporter
from hudi_services.sources.cdc.mysql.facts import server_facts
from hudi_services.sources.cdc.mysql.failover import located
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.log_positions import LogPositions
from hudi_services.sources.cdc.mysql.snapshot import Snapshot, snapshot
from hudi_services.sources.cdc.mysql.snapshot_place import QUIET_TRIES
from hudi_services.sources.cdc.mysql.source_check import check_server, check_table
from hudi_services.sources.cdc.mysql.table_load import TableLoad
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, unique_keys
from hudi_services.sources.cdc.mysql.target_table import TargetTable

if TYPE_CHECKING:
    from pymysql.connections import Connection

_PAUSES = (0, 1, 2, 4, 8, 16)  # seconds until a resync tries again where another load was faster, or is at work
_TRIES = 5  # for a moment at which no other load is ahead of the snapshot


@dataclass(frozen=True)
class EqualityCheck:
    """Compares the Hudi table of a load with its source, and repairs it.

    `limit` is how many keys that differ are listed, with their `values` only where they are asked for.
    """

    load: TableLoad
    limit: int = 20
    values: bool = False

    def verify(self, *, repair: bool = False) -> EqualityReport:
        """Compare checksums of all rows, then the rows of chunks that differ. With `repair` write what differs, in one commit.

        The rows of a table with masks or a filter are compared one by one, after both: its values are not those of the server.

        Changes up to the moment of the comparison are applied before. The commit keeps the position of the table. Raises
        ConfigError for a table that was not loaded yet and for a MySQL that is never quiet or has no GTIDs,
        PendingInstantError where others commit during each of several tries, which begin with a new comparison, and what a load
        raises.
        """
        self._stored()
        failure: PendingInstantError | None = None
        for pause in _PAUSES[:_TRIES]:
            time.sleep(pause if failure is not None else 0)
            with self._snapshot(QUIET_TRIES) as rows:
                if not rows.is_exact:
                    raise ConfigError(
                        f"The table {self._source.source} cannot be verified",
                        found="a MySQL without GTIDs, or one that commits all the time",
                        fix="set gtid_mode=ON, or run again when the server is quiet. Otherwise compare and repair all rows: "
                        "`hudi-services cdc resync`",
                    )
                if (at := self._brought_to(rows)) is not None:
                    try:
                        return self._verified(rows, *at, repair=repair)
                    except PendingInstantError as error:
                        failure = failure if isinstance(failure, PartlyRepairedError) else error
        if isinstance(failure, PartlyRepairedError):
            raise failure
        raise PendingInstantError(
            f"Other loads of {self._target.base_path} are ahead of each comparison"
            if failure is None
            else f"Others commit to {self._target.base_path} during each repair, so nothing was repaired",
            found=failure.what if failure is not None else None,
            fix="pause them, then run again",
        ) from failure

    def compare(self, rows: Snapshot, state: TableState, stored: StoredPosition) -> EqualityReport:
        """Compare a state of the Hudi table, which has all changes up to `rows`, and no later ones. It writes a proof only.

        Raises what `verify` raises.
        """
        return self._verified(rows, state, stored, repair=False)

    def resync(self) -> EqualityReport:
        """Compare all rows as they are now, and write what differs in one commit, which holds the position of that moment.

        The log since the position of the table is not read, so this also repairs a table whose load cannot go on. Other loads may
        commit in the meantime: the rows that they changed are compared again, and they go on from the position of the moment.
        Raises what `verify` raises.
        """
        state, stored = self._stored()
        with self._snapshot() as rows:
            position, key = self._place(rows)
            with self._comparison(rows, state) as (comparison, folder):
                compared = comparison.rows(None, folder)
                report = self._resynced(rows, compared, state, key, stored, position)
                for number in range(len(_PAUSES)):
                    if report is not None:
                        break
                    time.sleep(_PAUSES[number])
                    now, stored = self._stored()
                    compared = comparison.updated(compared, now, folder / f"later-{number}")
                    report = self._resynced(rows, compared, now, key, stored, position, last=number == len(_PAUSES) - 1)
        assert report is not None, "the last try returns or raises"
        self._keep(state, report, position)
        return report

    def _resynced(
        self,
        rows: Snapshot,
        compared: ComparedRows,
        state: TableState,
        key: UniqueKey | None,
        stored: StoredPosition,
        position: StoredPosition,
        *,
        last: bool = False,
    ) -> EqualityReport | None:
        """Write what differs from this state. None: others committed after it. Raises PendingInstantError for that in the `last`
        try, and where a part of the rows is written."""
        report = self._report(position, state, rows)
        self._note(report, compared, are_all=True)
        if report.differing or position != stored:
            try:
                write_differences(self._target, compared, report, state, key, stored, position)
            except PartlyRepairedError:
                raise
            except PendingInstantError:
                if last:
                    raise
                return None
        return report

    @property
    def _target(self) -> TargetTable:
        return self.load.target

    @property
    def _source(self) -> TableSource:
        return self.load.target.table

    def _stored(self) -> tuple[TableState, StoredPosition]:
        stored = self._target.stored()
        if stored is None:
            raise ConfigError(
                f"The table {self._target.base_path} has no rows of {self._source.source} to compare",
                fix=f"load it: `hudi-services cdc load {self._source.server} {self._source.full_name} --target-base-path …`",
            )
        return stored

    def _snapshot(self, tries: int = 1) -> AbstractContextManager[Snapshot]:
        source, load = self._source, self.load
        return snapshot(source.server, load.server, load.environ, source.database, source.name, source.choices, tries)

    def _brought_to(self, rows: Snapshot) -> tuple[TableState, StoredPosition] | None:
        """Apply the changes up to the snapshot. None: another load is ahead of it, or chunks of the table are of later places."""
        try:
            self.load.run(until=rows.position)
        except PendingInstantError:
            return None  # it may be at the place, or ahead
        state, stored = self._stored()
        with self._connected() as control:
            place = located(control, stored, self._positions).place
        return (state, stored) if place <= rows.position and stored.snapshot is None else None

    def _verified(self, rows: Snapshot, state: TableState, stored: StoredPosition, *, repair: bool) -> EqualityReport:
        position, key = self._place(rows)
        report = self._report(position, state, rows)
        with self._comparison(rows, state) as (comparison, folder):
            chunks = None
            if comparison.keeps_values:
                of_server, of_lake = comparison.sums()
                report.rows, report.lake_rows = of_server.total, of_lake.total
                chunks = of_server.differing(of_lake)
            if chunks is None or len(chunks):
                compared = comparison.rows(chunks, folder)
                self._note(report, compared, are_all=chunks is None)
                if report.differing and repair:
                    write_differences(self._target, compared, report, state, key, stored, stored)
        if report.is_equal:
            self._keep(state, report, position)
        return report

    def _place(self, rows: Snapshot) -> tuple[StoredPosition, UniqueKey | None]:
        """The place of the snapshot, and the key of the server that makes record keys differ."""
        source, load = self._source, self.load
        with self._connected() as control:
            facts = server_facts(control, (source.database,), SystemClock(), source.name)
            check_server(source.server, load.server, load.environ, facts)
            check_table(facts, source)
            key = self._target.key(unique_keys(control, source.database, source.name))
            return self._positions.stored_position(control, source.source, rows.position), key

    def _connected(self) -> AbstractContextManager[Connection[Any]]:
        return connected(self._source.server, self.load.server, self.load.environ)

    @property
    def _positions(self) -> LogPositions:
        return LogPositions(self._source.server, self.load.server, self.load.environ)

    @contextmanager
    def _comparison(self, rows: Snapshot, state: TableState) -> Iterator[tuple[Comparison, Path]]:
        """The comparison, and a folder for its rows that goes with the block."""
        key, columns = state.properties.record_key_fields, self._target.columns(self._target.schema)
        schema = rows.table.schema
        if not columns.keep_values(schema):
            schema = columns.schema(schema)
        if missing := [name for name in key if name not in schema.names]:
            raise SourceError(
                f"The table {self._source.source} has no column {', '.join(missing)} any more, the record key of its Hudi table",
                fix="load it into a new path: `hudi-services cdc load`",
            )
        spill = InlineServices.of(self._target.options).options[SPILL_FOLDER] or None
        with (
            digests(rows.table, key, row_hash(rows.connection)) as computed,
            tempfile.TemporaryDirectory(prefix="hoodie-verify-", dir=spill) as folder,
        ):
            lake = LakeRows(state, self._target.engine, schema)
            yield Comparison(rows, lake, tuple(key), computed, columns), Path(folder)

    def _report(self, position: StoredPosition, state: TableState, rows: Snapshot) -> EqualityReport:
        masks = {name: self._target.masks.of(name) for name in rows.table.schema.names}
        masked = {name: str(mask) for name, mask in masks.items() if mask is not None}
        return EqualityReport(self._source.source, position.position, _instant(state), masked=masked)

    def _note(self, report: EqualityReport, compared: ComparedRows, *, are_all: bool) -> None:
        report.rows_read = compared.server.rows
        if are_all:
            report.rows, report.lake_rows = compared.server.rows, compared.lake.rows
        reporter = Reporter(report, compared.key, self.limit, self.values)
        for difference in compared.differences():
            reporter.add(difference)

    def _keep(self, state: TableState, report: EqualityReport, position: StoredPosition) -> None:
        now = SystemClock().now().isoformat()
        proof = Proof(position.source, position.position, position.log, report.instant, report.rows, now)
        keep_proof(state.storage, proof)


def _instant(state: TableState) -> str:
    last = state.timeline.last_commit
    return last.time if last is not None else ""
