"""HoodieTable: open, create, and the facade that the rest of the world uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, overload

import pyarrow as pa
import pyarrow.compute as pc

from hoodie.clock import Clock, SystemClock
from hoodie.config import CREATE_KEYS, WRITE_KEYS, own_options, select_keys
from hoodie.config.groups import WRITE_OPTIONS
from hoodie.config.key import resolve
from hoodie.config.operations import operation_named
from hoodie.config.table import TableProperties
from hoodie.engine import Engine, LocalEngine, arrow_splits
from hoodie.errors import ConfigError, SchemaConflictError
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.read.execute import execute_read
from hoodie.read.plan import ReadPlan, current_slices, plan_read
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.read.times import resolve_as_of
from hoodie.services.after_write import AfterWrite
from hoodie.services.decision import Decision
from hoodie.services.service import Decides, Scheduled, Service, execute_waiting, schedule, waiting
from hoodie.storage import Storage, open_storage
from hoodie.timeline import Timeline
from hoodie.transaction.create import create_table
from hoodie.view import TableState, load_state
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult, execute_write
from hoodie.write.plan import chosen_operation
from hoodie.write.sizing import input_tasks

P = TypeVar("P")
R = TypeVar("R")


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
        create_table(storage, select_keys(own_options(options, WRITE_OPTIONS), CREATE_KEYS), schema)
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

    def explain(self, service: Decides[P], options: Mapping[str, object] | None = None) -> Decision[P]:
        """What a service (`hoodie.CLEAN`, `hoodie.COMPACTION` …) would do now, and why. Changes nothing.

        `options` are those that the service takes; others of Hudi's are passed over or refused, as `own_options` says.
        """
        return service.decide(self.state(), own_options(options or {}, service.options), self.clock)

    def schedule(
        self, service: Scheduled[Any, Any], options: Mapping[str, object] | None = None, *, force: bool = False
    ) -> str | None:
        """Put a plan of the service on the timeline if one is due, or at once with `force`. Returns its instant."""
        instant, _ = schedule(self.access, service, own_options(options or {}, service.options), force=force)
        return instant.time if instant is not None else None

    @overload
    def run(self, service: Service[Any, R], options: Mapping[str, object] | None = None) -> R: ...
    @overload
    def run(
        self,
        service: Scheduled[Any, R],
        options: Mapping[str, object] | None = None,
        *,
        time: str | None = None,
    ) -> list[R]: ...
    def run(
        self,
        service: Service[Any, R] | Scheduled[Any, R],
        options: Mapping[str, object] | None = None,
        *,
        time: str | None = None,
    ) -> R | list[R]:
        """Run a service: it decides, and does it. Of one that schedules plans, carry out those that wait, the oldest first.

        Only the plan of instant `time`, if it is given; raises PendingInstantError when it does not wait. Writers may go on
        meanwhile. What the service raises is raised here.
        """
        own = own_options(options or {}, service.options)
        if not isinstance(service, Scheduled):
            if time is not None:
                raise ConfigError(
                    f"The service {service.name} has no plans that wait, at {time} or ever", fix="leave time out"
                )
            return service.run(self.access, own)
        if time is not None:
            return [service.execute(self.access, Time.of(time), own)]
        return list(execute_waiting(self.access, waiting(self.state(), service), [service], own).values())


def _storage(base_path: str | Storage) -> Storage:
    return open_storage(base_path) if isinstance(base_path, str) else base_path
