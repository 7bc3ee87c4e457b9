"""HoodieTable: open, create, and the facade that the rest of the world uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock, SystemClock
from hoodie.config import CREATE_KEYS, WRITE_KEYS, Service, own_options, select_keys
from hoodie.config.key import resolve
from hoodie.config.operations import operation_named
from hoodie.config.table import TableProperties
from hoodie.engine import Engine, LocalEngine, arrow_splits
from hoodie.errors import SchemaConflictError
from hoodie.model.clean import CleanPlan
from hoodie.model.files import FileSlice
from hoodie.read.execute import execute_read
from hoodie.read.plan import ReadPlan, current_slices, plan_read
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.read.times import resolve_as_of
from hoodie.services.after_write import AfterWrite
from hoodie.services.clean.execute import CleanRun, run_clean
from hoodie.services.clean.plan import CleanDecision, decide_clean
from hoodie.services.compaction.execute import execute_compaction, schedule_compaction
from hoodie.services.compaction.plan import decide_compaction
from hoodie.services.log_compaction.execute import execute_log_compaction, schedule_log_compaction
from hoodie.services.log_compaction.plan import decide_log_compaction
from hoodie.services.rewrite.plan import CompactionDecision
from hoodie.services.rewrite.run import CompactionResult, execute_waiting, pending_compactions
from hoodie.storage import Storage, open_storage
from hoodie.sync.model import SyncPlan
from hoodie.sync.run import explain_sync, run_sync
from hoodie.timeline import Action, Timeline
from hoodie.transaction.create import create_table
from hoodie.view import TableState, load_state
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult, execute_write
from hoodie.write.plan import chosen_operation
from hoodie.write.sizing import input_tasks


class HoodieTable:
    """A Hudi table at a base path. Every operation loads the table's state anew: what others committed is seen."""

    def __init__(self, storage: Storage, engine: Engine | None = None, clock: Clock | None = None) -> None:
        """Use `open` or `create`."""
        self.storage = storage
        self.engine: Engine = engine or LocalEngine()
        self.clock: Clock = clock or SystemClock()

    @classmethod
    def open(cls, base_path: str | Storage, *, engine: Engine | None = None, clock: Clock | None = None) -> HoodieTable:
        """The table at `base_path` (a path, a URL, or a storage).

        Raises TableNotFoundError, CorruptTableError, or UnsupportedTableError for a table version that is not known.
        """
        table = cls(_storage(base_path), engine, clock)
        table.state()
        return table

    @classmethod
    def create(
        cls,
        base_path: str | Storage,
        options: Mapping[str, object],
        schema: pa.Schema | None = None,
        *,
        engine: Engine | None = None,
        clock: Clock | None = None,
    ) -> HoodieTable:
        """Create an empty table. `options` are the `hoodie.*` keys of `hoodie.config.table_keys`.

        With a `schema` the table knows its columns at once; without, the first write decides. Raises TableExistsError,
        ConfigError or SchemaConflictError, and then nothing was created.
        """
        storage = _storage(base_path)
        create_table(storage, select_keys(own_options(options, Service.WRITE), CREATE_KEYS), schema)
        return cls(storage, engine, clock)

    @property
    def access(self) -> TableAccess:
        """How services reach the table."""
        return TableAccess(self.storage, self.clock, self.engine)

    def state(self) -> TableState:
        """Properties and timeline as they are now."""
        return load_state(self.storage, self.clock)

    @property
    def base_path(self) -> str:
        return self.storage.base_path

    @property
    def properties(self) -> TableProperties:
        return self.state().properties

    @property
    def version(self) -> int:
        """6, 8 or 9."""
        return self.properties.version

    @property
    def timeline(self) -> Timeline:
        """The active timeline: an iterable of Instant."""
        return self.state().timeline

    @property
    def schema(self) -> pa.Schema:
        """The data columns. Raises SchemaConflictError for a table that was created without a schema and never written."""
        found = table_schema(self.state())
        if found is None:
            raise SchemaConflictError(
                f"Table {self.base_path} has no schema yet", fix="write rows to it, or create it with a schema"
            )
        return found

    def write(
        self,
        rows: Any,
        operation: str | None = None,
        options: Mapping[str, object] | None = None,
        *,
        schema: pa.Schema | None = None,
        extra_metadata: Mapping[str, str] | None = None,
        hooks: WriteHooks | None = None,
    ) -> WriteResult:
        """Write rows in one commit: `insert`, `bulk_insert`, `upsert` (default) or `delete`.

        `rows` is an Arrow table, or anything that the engine takes as input together with its Arrow `schema`. For a delete
        the key and partition columns are enough. `options` are any of Hudi's: those of `hoodie.config.write_keys`, those of
        the table, which are compared with it, and those that ask for services after the commit (`hoodie.services.after_write`),
        whose outcome is in the result. Raises HoodieError of many kinds; whatever it is, nothing of the write is visible and
        the next write starts clean.
        """
        after = AfterWrite.of(options or {})
        operation = chosen_operation(operation, after.options)
        own = select_keys(after.options, (*CREATE_KEYS, *WRITE_KEYS))
        if isinstance(rows, pa.Table):
            chosen = resolve(select_keys(own, WRITE_KEYS), WRITE_KEYS)
            tasks = input_tasks(operation_named(operation), chosen, rows.nbytes, self.engine.parallelism)
            schema, rows = rows.schema, arrow_splits(rows, tasks)
        if schema is None:
            raise TypeError("rows that are not an Arrow table need their schema")
        result = execute_write(self.access, rows, schema, operation, own, extra_metadata or {}, hooks or WriteHooks())
        return replace(result, services=after.run(self.access))

    def plan_read(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        as_of: str | datetime | None = None,
        read_optimized: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> ReadPlan:
        """The files and columns that `read` would scan."""
        query = Query(columns, filter, Snapshot(as_of, read_optimized), options=options or {})
        return plan_read(self.state(), query)

    def read(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        as_of: str | datetime | None = None,
        read_optimized: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """A snapshot: the data columns, or the named ones (meta columns may be named), of the rows that pass `filter`.

        `as_of` is an instant, an ISO time or a datetime. `options` are the keys of `hoodie.config.read_keys`. Raises
        TimeTravelError, ConfigError, MissingFileError …
        """
        plan = self.plan_read(columns, filter, as_of, read_optimized, options)
        return execute_read(plan, self.storage, self.engine)

    def read_incremental(
        self,
        start: str | datetime | None,
        end: str | datetime | None = None,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        *,
        full_scan: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """The rows that commits completed after `start`, and not after `end`, wrote, as they are at the end of the range.

        `options` are the keys of `hoodie.config.read_keys`. What counts as after, and what `full_scan` is for: see
        `hoodie.read.query.Incremental`. Raises TimeTravelError when files that were current at `end` are cleaned.
        """
        query = Query(columns, filter, Incremental(start, end, full_scan), options=options or {})
        return execute_read(plan_read(self.state(), query), self.storage, self.engine)

    def file_slices(self, as_of: str | datetime | None = None) -> list[FileSlice]:
        """The slices that make up the table now, or at `as_of`."""
        state = self.state()
        return current_slices(state, resolve_as_of(state, as_of) if as_of is not None else None)

    def plan_clean(self, options: Mapping[str, object] | None = None) -> CleanPlan | None:
        """What the cleaner would remove now, and why; None when there is nothing to do. Changes nothing."""
        return self.explain_clean(options).plan

    def explain_clean(self, options: Mapping[str, object] | None = None) -> CleanDecision:
        """The same with the reason in words, and what was looked at."""
        return decide_clean(self.state(), own_options(options or {}, Service.CLEAN), self.clock)

    def clean(self, options: Mapping[str, object] | None = None) -> CleanRun:
        """Finish interrupted cleans, then plan and run a new one."""
        return run_clean(self.access, own_options(options or {}, Service.CLEAN))

    def explain_compaction(self, options: Mapping[str, object] | None = None) -> CompactionDecision:
        """Whether a compaction is due, what it would take, and what waits. Changes nothing."""
        return decide_compaction(self.state(), own_options(options or {}, Service.COMPACT), self.clock)

    def schedule_compaction(self, options: Mapping[str, object] | None = None, *, force: bool = False) -> str | None:
        """Put a compaction plan on the timeline if one is due (or at once, with `force`). Returns its instant."""
        instant, _ = schedule_compaction(self.access, own_options(options or {}, Service.COMPACT), force=force)
        return instant.time if instant is not None else None

    def explain_log_compaction(self, options: Mapping[str, object] | None = None) -> CompactionDecision:
        """The same for a log compaction."""
        return decide_log_compaction(self.state(), own_options(options or {}, Service.COMPACT))

    def schedule_log_compaction(self, options: Mapping[str, object] | None = None) -> str | None:
        """Put a plan to merge log blocks on the timeline if there are many. Returns its instant."""
        instant, _ = schedule_log_compaction(self.access, own_options(options or {}, Service.COMPACT))
        return instant.time if instant is not None else None

    def compact(self, time: str | None = None, options: Mapping[str, object] | None = None) -> list[CompactionResult]:
        """Execute the pending compaction or log compaction of instant `time`, or all of them, the oldest first.

        Writers may go on meanwhile. Raises PendingInstantError for a named one that is not pending.
        """
        own = own_options(options or {}, Service.COMPACT)
        pending = {instant.time: instant.action for instant in pending_compactions(self.state())}

        def execute(each: str) -> CompactionResult:
            run = execute_log_compaction if pending.get(each) is Action.LOG_COMPACTION else execute_compaction
            return run(self.access, each, own)

        return [execute(time)] if time is not None else execute_waiting(self.access, pending, execute)

    def explain_sync(self, options: Mapping[str, object] | None = None) -> SyncPlan:
        """What a Hive sync would change in the catalog; `options` are the keys of `hoodie.config.sync_keys`. Changes nothing."""
        return explain_sync(self.state(), own_options(options or {}, Service.SYNC))

    def sync(self, options: Mapping[str, object] | None = None) -> SyncPlan:
        """Make the catalog's entries of this table equal to it. Returns what was changed; the table is never touched."""
        return run_sync(self.state(), own_options(options or {}, Service.SYNC))


def _storage(base_path: str | Storage) -> Storage:
    return open_storage(base_path) if isinstance(base_path, str) else base_path
