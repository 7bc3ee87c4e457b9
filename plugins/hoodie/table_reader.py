"""TableReader: what a table is and holds. `HoodieTable` adds what changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from hoodie.changes import ChangeQuery, open_changes, read_changes
from hoodie.clock import Clock, SystemClock
from hoodie.config import given_options
from hoodie.config.key import RawOptions
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.display import Shown, Shows
from hoodie.doctor.diagnosis import diagnose
from hoodie.doctor.finding import Diagnosis
from hoodie.engine import Engine, LocalEngine
from hoodie.error_boundary import call
from hoodie.errors import SchemaConflictError, check_argument
from hoodie.model.files import FileSlice
from hoodie.model.savepoint import Savepoint
from hoodie.read.execute import read_rows
from hoodie.read.filters import Filter
from hoodie.read.plan import ReadPlan, current_slices, plan_read
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.read.times import resolve_as_of
from hoodie.services.inline import InlineServices
from hoodie.storage import Storage
from hoodie.timeline import Timeline
from hoodie.view import TableState, load_state
from hoodie.view.access import TableAccess
from hoodie.view.savepoints import savepoints
from hoodie.view.summary import shown_table
from hoodie.view.table_schema import table_schema
from hoodie.write.plan import WritePlan, chosen_operation, plan_write


class TableReader(Shows):
    """The methods of a table that change nothing. Each loads the table's state, so it sees what others have committed."""

    def __init__(self, storage: Storage, engine: Engine | None = None, clock: Clock | None = None) -> None:
        """Use `open` or `create`."""
        check_argument("storage", storage, "a storage; HoodieTable.open takes paths and URLs", having="open_output")
        check_argument(
            "engine", engine, "an engine, such as hoodie.engine.LocalEngine()", type(None), having="map_input"
        )
        check_argument("clock", clock, "a clock, such as hoodie.clock.SystemClock()", type(None), having="now")
        self.storage = storage
        self.engine: Engine = engine or LocalEngine()
        self.clock: Clock = clock or SystemClock()

    def shown(self) -> Shown:
        """Type, version and commits as they are now, keys and columns: what a console or a notebook shows."""
        return shown_table(self.access)

    @property
    def access(self) -> TableAccess:
        """How services reach the table."""
        return TableAccess(self.storage, self.clock, self.engine)

    @call("looking at a table")
    def state(self) -> TableState:
        """Properties and timeline as they are now."""
        return load_state(self.storage, self.clock)

    @property
    def base_path(self) -> str:
        """The place of the table: an absolute path, or a URL."""
        return self.storage.base_path

    @property
    def properties(self) -> TableProperties:
        """The content of `hoodie.properties`: name, type, keys, partitions."""
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
    @call("looking at a table")
    def stored_schema(self) -> pa.Schema | None:
        """The data columns. None for a table that was created without a schema and never written."""
        return table_schema(self.state())

    @property
    @call("looking at a table")
    def schema(self) -> pa.Schema:
        """The data columns. Raises SchemaConflictError for a table that was created without a schema and never written."""
        schema = self.stored_schema
        if schema is None:
            raise SchemaConflictError(
                f"Table {self.base_path} has no schema yet", fix="write rows to it, or create it with a schema"
            )
        return schema

    @call("planning a write")
    def plan_write(
        self,
        schema: pa.Schema,
        operation: str | Operation | None = None,
        options: RawOptions | None = None,
        *,
        deletions: str | None = None,
    ) -> WritePlan:
        """Plan `HoodieTable.write` of rows with these columns: its operation and options, the columns of the table after it, its
        keys and partition paths, and warnings. Raises what `write` raises before it writes.
        """
        own = InlineServices.of(options).options
        return plan_write(self.state(), schema, chosen_operation(operation, own), own, deletions)

    @call("planning a read")
    def plan_read(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        as_of: str | datetime | None = None,
        read_optimized: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> ReadPlan:
        """The files and columns that `read` would scan."""
        query = Query(columns, filter, Snapshot(as_of, read_optimized), options=given_options(options))
        return plan_read(self.state(), query)

    @call("reading")
    def read(
        self,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        as_of: str | datetime | None = None,
        read_optimized: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """A snapshot: the data columns, or the named ones (meta columns may be named), of the rows that pass `filter`.

        The filter is an expression of `pyarrow.compute`, or a condition of SQL as text, such as
        `"day >= '2026-01-01' and city in ('x')"` (see `hoodie.read.filters.text`). `as_of` is an instant, an ISO time or a
        datetime. `options` are the keys of `hoodie.config.keys.read`. Raises TimeTravelError, ConfigError, MissingFileError …
        """
        query = Query(columns, filter, Snapshot(as_of, read_optimized), options=given_options(options))
        return read_rows(self.state(), query, self.engine)

    @call("reading")
    def read_incremental(
        self,
        start: str | datetime | None,
        end: str | datetime | None = None,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        *,
        full_scan: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """The rows that commits completed after `start`, and not after `end`, wrote, as they are at the end of the range.

        `options` are the keys of `hoodie.config.keys.read`. `hoodie.read.query.Incremental` says what counts as after, and what
        `full_scan` is for. Raises TimeTravelError when files that were current at `end` are cleaned.
        """
        query = Query(columns, filter, Incremental(start, end, full_scan), options=given_options(options))
        return read_rows(self.state(), query, self.engine)

    @call("reading changes")
    def read_changes(
        self,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        *,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        net: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """Return what each commit that completed after `start`, and not after `end`, inserted, updated and deleted.

        The columns are `op` (`i`, `u`, `d`), `_hoodie_commit_time`, `_hoodie_completion_time`, `_hoodie_record_key`, and `before`
        and `after`, structs of the data columns, all of them or the named ones. The last completion time is the `start` of the
        next call. `hoodie.changes.ChangeQuery` describes the arguments. Raises ChangeRangeError when files of the range
        were cleaned or the table was restored to an earlier time, TimeTravelError, ConfigError.
        """
        query = ChangeQuery(start, end, columns, filter, net, given_options(options))
        return read_changes(self.state(), query, self.engine)

    @call("reading changes")
    def stream_changes(
        self,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        *,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        options: Mapping[str, object] | None = None,
    ) -> pa.RecordBatchReader:
        """Return the same changes batch by batch: memory holds a few file groups, however long the range is."""
        query = ChangeQuery(start, end, columns, filter, options=given_options(options))
        return open_changes(self.state(), query, self.engine).reader()

    @call("listing the files of a table")
    def file_slices(self, as_of: str | datetime | None = None) -> list[FileSlice]:
        """The slices that make up the table now, or at `as_of`."""
        state = self.state()
        return current_slices(state, resolve_as_of(state, as_of) if as_of is not None else None)

    @call("looking at a table")
    def savepoints(self) -> list[Savepoint]:
        """The savepoints of the table, with the files that they keep, by the time of their commits."""
        return savepoints(self.state())

    @call("looking at a table")
    def diagnose(self, options: Mapping[str, object] | None = None, *, deep: bool = False) -> Diagnosis:
        """Find what is wrong with the table, and the fix (docs/how-to/doctor.md). Changes nothing. Data files (footers, keys) are
        only read when it is asked to look `deep`.

        `options` are those of clean, compaction and archive, with which these decide whether they are due. Raises
        TableNotFoundError, CorruptTableError or UnsupportedTableError for a table that cannot be opened at all.
        """
        resolved = given_options(options)
        return diagnose(
            self.storage, self.clock, dict.fromkeys(("clean", "compact", "archive"), resolved), data_files=deep
        )
