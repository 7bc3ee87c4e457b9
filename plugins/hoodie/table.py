"""HoodieTable: open, create, and the facade that the rest of the world uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

import pyarrow as pa

from hoodie.clock import Clock
from hoodie.config import CREATE_KEYS, given_options, own_options, select_keys
from hoodie.config.groups import SAVEPOINT_OPTIONS, WRITE_OPTIONS
from hoodie.config.operations import Operation
from hoodie.config.options import RawOptions, options_for
from hoodie.consumer import Consumer
from hoodie.doctor.finding import Diagnosis
from hoodie.doctor.repair import decide_mending, mend
from hoodie.engine import Engine
from hoodie.error_boundary import call
from hoodie.errors import ConfigError
from hoodie.model.savepoint import Savepoint
from hoodie.schema.changes import SchemaChange
from hoodie.services.decision import Decision
from hoodie.services.inline import InlineServices
from hoodie.services.savepoint.execute import delete_savepoint, make_savepoint
from hoodie.services.savepoint.plan import SavepointRequest
from hoodie.services.service import (
    Decides,
    Scheduled,
    Service,
    check_service,
    checked_instant,
    execute_waiting,
    pending_plans,
    schedule,
)
from hoodie.storage import BasePath, storage_of
from hoodie.table_reader import TableReader
from hoodie.transaction.create import create_table
from hoodie.transaction.locks.owner import user_name
from hoodie.write.alter import alter_table
from hoodie.write.drop import drop_partitions, named_partitions
from hoodie.write.execute import WriteHooks, WriteResult, execute_write
from hoodie.write.input import Rows, write_input
from hoodie.write.plan import chosen_operation

P = TypeVar("P")
R = TypeVar("R")


class HoodieTable(TableReader):
    """A Hudi table at a base path. `TableReader` has the methods that change nothing."""

    @classmethod
    @call("opening a table")
    def open(cls, base_path: BasePath, *, engine: Engine | None = None, clock: Clock | None = None) -> HoodieTable:
        """The table at `base_path` (a path as text or `pathlib.Path`, a URL, or a storage).

        Raises TableNotFoundError, CorruptTableError, or UnsupportedTableError for a table version that is not known.
        """
        table = cls(storage_of(base_path), engine, clock)
        table.state()
        return table

    @classmethod
    @call("creating a table", changes=True)
    def create(
        cls,
        base_path: BasePath,
        options: Mapping[str, object],
        schema: pa.Schema | None = None,
        *,
        engine: Engine | None = None,
        clock: Clock | None = None,
    ) -> HoodieTable:
        """Create an empty table. `options` are the `hoodie.*` keys of `hoodie.config.keys.table`.

        With a `schema` the table knows its columns at once; without, the first write decides. Raises TableExistsError,
        ConfigError or SchemaConflictError, and then nothing was created.
        """
        storage = storage_of(base_path)
        create_table(storage, select_keys(own_options(options, WRITE_OPTIONS), CREATE_KEYS), schema)
        return cls(storage, engine, clock)

    @call("writing", changes=True)
    def write(
        self,
        rows: Rows,
        operation: str | Operation | None = None,
        options: RawOptions | None = None,
        *,
        schema: pa.Schema | None = None,
        deletions: str | None = None,
        extra_metadata: Mapping[str, str] | None = None,
        hooks: WriteHooks | None = None,
    ) -> WriteResult:
        """Write rows in one commit: `insert`, `bulk_insert`, `upsert` (default) or `delete`.

        Or in place of other rows: `insert_overwrite` of all that is in their partitions, `insert_overwrite_table` of all that is
        in the table. For `delete_partition` the rows only name partitions by their columns (see `delete_partitions`).

        `rows` is anything with the Arrow C stream: a pyarrow Table, RecordBatch or RecordBatchReader, a DataFrame of pandas or
        polars, a relation of DuckDB. Long input that is not a Table is read in pieces (see `hoodie.write.input`). Or it is the
        input of the engine, together with its Arrow `schema`. For a delete the key and partition columns are enough. For an
        upsert `deletions` names a boolean column, which is not stored: where it is true the row's key is deleted. `options` are
        any of Hudi's: those of `hoodie.config.keys.write`, those of the table, which are compared with it, and those that ask for
        services after the commit (`hoodie.services.inline`), whose outcome is in the result.

        Raises HoodieError of many kinds; after any of them nothing of the write is visible and the next write starts clean.
        """
        after = InlineServices.of(options)
        chosen = chosen_operation(operation, after.options)
        extra, hooks = {} if extra_metadata is None else extra_metadata, WriteHooks() if hooks is None else hooks
        names = named_partitions(chosen, after.options)
        if names is not None:
            return self._dropped(names, after, extra)
        with write_input(self.access, rows, schema, chosen, after.options, deletions) as write_rows:
            result = execute_write(self.access, write_rows, chosen, after.options, extra, hooks)
        return replace(result, services=after.run(self.access))

    @call("dropping partitions", changes=True)
    def delete_partitions(
        self,
        partitions: Sequence[str],
        options: RawOptions | None = None,
        *,
        extra_metadata: Mapping[str, str] | None = None,
        must_exist: bool = False,
    ) -> WriteResult:
        """Take whole partitions out of the table in one commit. Later cleans delete their files; until then they can be read as
        of before.

        `partitions` are their paths, such as `day=2026-01-01`; `*` stands for anything. `options` are those of a write. Raises
        ConfigError, with `must_exist` also for a path that matches no partition, PendingInstantError when a compaction or
        clustering of one of their files waits, LockHeldError.
        """
        after = InlineServices.of(options)
        return self._dropped(partitions, after, extra_metadata, must_exist=must_exist)

    @call("emptying a table", changes=True)
    def truncate(
        self, options: RawOptions | None = None, *, extra_metadata: Mapping[str, str] | None = None
    ) -> WriteResult:
        """Take all rows out of the table in one commit. Its columns stay, and its files until they are cleaned.

        `options` are those of a write. Raises PendingInstantError when a clustering waits, LockHeldError.
        """
        after = InlineServices.of(options)
        return self._dropped(None, after, extra_metadata)

    @call("altering a table", changes=True)
    def alter(self, changes: Sequence[SchemaChange], options: RawOptions | None = None) -> WriteResult:
        """Change the columns in one commit (`hoodie.schema.changes`, docs/how-to/schema.md). No file is rewritten: from
        then on columns are found by ids, as Hudi does with `hoodie.schema.on.read.enable`.

        `options` are those of a write. Raises SchemaConflictError for what would lose something, LockHeldError.
        """
        after = InlineServices.of(options)
        result = alter_table(self.access, changes, after.options)
        return replace(result, services=after.run(self.access))

    def _dropped(
        self,
        partitions: Sequence[str] | None,
        after: InlineServices,
        extra: Mapping[str, str] | None,
        *,
        must_exist: bool = False,
    ) -> WriteResult:
        extra_metadata = {} if extra is None else extra
        result = drop_partitions(self.access, partitions, after.options, extra_metadata, must_exist=must_exist)
        return replace(result, services=after.run(self.access))

    @call("making a savepoint", changes=True)
    def savepoint(
        self,
        instant: str | None = None,
        *,
        user: str | None = None,
        comments: str = "",
        options: RawOptions | None = None,
    ) -> Savepoint:
        """Keep the files of a commit (None: the last) until its savepoint is deleted: no clean removes them, and the table can be
        restored to it (`hoodie.Restore`). `user` is by default the user of the process.

        Raises SavepointError for a commit that is not there, has a savepoint, or may have lost files to a clean; LockHeldError.
        """
        request = SavepointRequest(
            checked_instant(instant) if instant is not None else None, user_name() if user is None else user, comments
        )
        return make_savepoint(self.access, request, options_for(options, SAVEPOINT_OPTIONS))

    @call("deleting a savepoint", changes=True)
    def delete_savepoint(self, instant: str, options: RawOptions | None = None) -> None:
        """Let the next cleans remove what only this savepoint keeps. Raises NoSavepointError, LockHeldError."""
        own = options_for(options, SAVEPOINT_OPTIONS)
        delete_savepoint(self.access, checked_instant(instant), own)

    @call("explaining a service")
    def explain(self, service: Decides[P], options: RawOptions | None = None) -> Decision[P]:
        """The current plan of a service (`hoodie.CLEAN`, `hoodie.COMPACTION` …), with its reason. Changes nothing.

        `options` are those that the service takes; others of Hudi's are passed over or refused, as `own_options` says.
        """
        check_service(service)
        return service.decide(self.state(), options_for(options, service.options), self.clock)

    def consumer(self, name: str) -> Consumer:
        """A named reader of the table's changes, whose position is kept with the table (docs/how-to/consumers.md).

        Raises ConfigError for a name that a consumer cannot have."""
        return Consumer(self.access, name)

    @call("repairing a table", changes=True)
    def mend(self, diagnosis: Diagnosis, options: Mapping[str, object] | None = None) -> list[str]:
        """Repair what a diagnosis found and the library can repair, and no more (docs/how-to/doctor.md); returns the repairs.

        `hoodie.doctor.repair.decide_mending` explains it. `options` are those of the table's lock. Raises LockHeldError,
        PendingInstantError when a writer is at work that does not share the table.
        """
        plan = decide_mending(diagnosis).plan
        return mend(self.access, plan, {"clean": given_options(options)}) if plan is not None else []

    @call("scheduling a service", changes=True)
    def schedule(
        self, service: Scheduled[Any, Any], options: RawOptions | None = None, *, force: bool = False
    ) -> str | None:
        """Put a plan of the service on the timeline if one is due, or at once with `force`. Returns its instant."""
        check_service(service, Scheduled)
        instant, _ = schedule(self.access, service, options_for(options, service.options), force=force)
        return instant.time if instant is not None else None

    @overload
    def run(self, service: Service[Any, R], options: RawOptions | None = None) -> R: ...
    @overload
    def run(
        self,
        service: Scheduled[Any, R],
        options: RawOptions | None = None,
        *,
        time: str | None = None,
    ) -> list[R]: ...
    @call("running a service", changes=True)
    def run(
        self,
        service: Service[Any, R] | Scheduled[Any, R],
        options: RawOptions | None = None,
        *,
        time: str | None = None,
    ) -> R | list[R]:
        """Run a service: it decides, and executes. If it schedules plans, execute those that are pending, the oldest first.

        Executes only the plan of instant `time`, if it is given; raises PendingInstantError when it is not pending. Writers may
        go on during the run. Raises what the service raises.
        """
        check_service(service, Service, Scheduled)
        own = options_for(options, service.options)
        if not isinstance(service, Scheduled):
            if time is not None:
                raise ConfigError(
                    f"The service {service.name} has no plans that wait, at {time} or ever", fix="leave time out"
                )
            return service.run(self.access, own)
        if time is not None:
            return [service.execute(self.access, checked_instant(time), own)]
        return list(execute_waiting(self.access, pending_plans(self.state(), service), [service], own).values())
