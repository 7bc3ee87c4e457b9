"""Carrying out a compaction plan, full or of logs only: no lock is held while it works (format notes, section 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.key import Options, resolve
from hoodie.config.keys.compaction import COMPACTION_KEYS
from hoodie.config.options import RawOptions
from hoodie.display import Shown, Shows, counted
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.schema import arrow_to_avro
from hoodie.services.rewrite.checks import planned_slices
from hoodie.timeline import Action, Instant
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency import pending_plan
from hoodie.transaction.data_file import OpenDataFile
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.transaction import execution
from hoodie.view import TableState, TableView, compaction_plan
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema


@dataclass(frozen=True, repr=False)
class CompactionResult(Shows):
    """A finished compaction or log compaction; `merged` are the file slices that it read."""

    instant: Instant
    metadata: CommitMetadata
    merged: tuple[FileSlice, ...] = ()

    def shown(self) -> Shown:
        """Its counts."""
        files, rows = len(self.metadata.stats), sum(stat.num_writes for stat in self.metadata.stats)
        written = f"{counted(rows, 'row')} in {counted(files, 'file')}, {self.metadata.bytes_written:,} bytes"
        return Shown(f"CompactionResult({self.instant.time} {self.metadata.operation}: {written})")


@dataclass(frozen=True)
class CompactionWork:
    """Steps in which full and log compactions differ."""

    action: Action
    operation: str  # as the commit names it
    check: Callable[[TableView, CompactionPlan, Instant], CompactionPlan]  # what of the plan is to be done, or an error
    leftovers: Callable[
        [TableState, Instant, CompactionPlan], Iterable[str]
    ]  # data files of attempts that did not complete
    # The state, the table's data columns, what tasks have to know, the slices, the options.
    merge: Callable[[TableState, pa.Schema, OpenDataFile, Sequence[FileSlice], Options], Sequence[WriteStat]]


def run_compaction(access: TableAccess, time: Time, raw_options: RawOptions, work: CompactionWork) -> CompactionResult:
    """Execute the plan of instant `time`, by any writer.

    Safe to kill at any point: files of an earlier attempt are deleted first. Raises PendingInstantError when there is no such
    plan or it was rolled back during the run, LockHeldError when another process executes it, MissingFileError when a file of the
    plan is missing, and what `work` raises.
    """
    options = resolve(raw_options, COMPACTION_KEYS)
    locking, marking = Locking.of(options), MarkerOptions.of(options)
    with execution(access.storage, access.clock, time, work.action, locking, marking) as tx:
        instant = pending_plan(tx.state, time, work.action)
        planned = compaction_plan(tx.state, instant)
        slices = _slices(tx.state, planned, instant, work)
        tx.resume(instant, lambda state: work.leftovers(state, instant, planned))
        # The file is found by the instant's time, and so are the names of its columns.
        schema = table_schema(tx.state, time if tx.state.schemas else None)
        assert schema is not None, "a table with logs has commits"
        stats = work.merge(tx.state, schema, tx.writing(instant, access.engine), slices, options)
        extra = {SCHEMA_KEY: arrow_to_avro(schema, tx.state.properties.name)}
        metadata = CommitMetadata(work.operation, tuple(stats), extra, compacted=True)
        (completed,) = tx.commit(Change(instant, metadata))
        return CompactionResult(completed.instant, completed.metadata, tuple(slices))


def _slices(state: TableState, planned: CompactionPlan, instant: Instant, work: CompactionWork) -> list[FileSlice]:
    view = TableView(state, planned.partitions)
    return planned_slices(view, work.check(view, planned, instant), instant)
