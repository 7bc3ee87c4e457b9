"""The Hudi table of a source: what it holds of the source, and commits that hold rows and the position after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.keys.table import RECORD_KEY_FIELDS
from hoodie.config.keys.write import DUP_POLICY, EMPTY_OVERWRITE
from hoodie.config.operations import operation_named
from hoodie.config.properties.table import TableProperties
from hoodie.engine import Engine, LocalEngine
from hoodie.errors import ConfigError, KnownKeyError, OccupiedPathError, PendingInstantError, TableNotFoundError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.model.internal_columns import DELETION
from hoodie.services.inline import InlineServices
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeColumns, change_rows
from hoodie.write.execute import WriteHooks
from hudi_services.sources.cdc.column_expressions import NOTHING_ADDED, AddedColumns
from hudi_services.sources.cdc.lake_columns import SERVER_COLUMNS, LakeColumns
from hudi_services.sources.cdc.masks import NO_MASKS, Masks
from hudi_services.sources.cdc.mysql.definition import TableName
from hudi_services.sources.cdc.mysql.key_owners import NO_ARRIVALS, Arrivals
from hudi_services.sources.cdc.mysql.log_identity import KEY, StoredPosition, joined_position, stored_position
from hudi_services.sources.cdc.mysql.snapshot import Snapshot
from hudi_services.sources.cdc.mysql.source_columns import as_changes, changes_schema
from hudi_services.sources.cdc.mysql.stored_rows import StoredRows, owned_changes, shared_keys
from hudi_services.sources.cdc.mysql.table_source import MergedSource, Origin, TableSource
from hudi_services.sources.cdc.mysql.target import (
    UniqueKey,
    check_key_types,
    check_key_values,
    check_text_columns,
    key_of_target,
)
from hudi_services.sources.cdc.row_filter import EVERY_ROW, RowFilter
from hudi_services.sources.positions import find_position, newest_load

_CHANGES = ChangeColumns("op", ("number",), complete=True)
_STAGE_BYTES = 128 << 20  # bytes of rows between the stages of a write that stay in memory
_TASK_BYTES = 32 << 20  # bytes of changes that a task tags in memory
_TASKS = operation_named("upsert").parallelism
Parts = Callable[[], Iterator[pa.Table]]
"""Function: reads changes. Those of a commit may be read twice."""


def load_engine() -> LocalEngine:
    """Return the engine of loads. More than 128 MiB of rows wait in local files between the stages of a write.

    A transaction may be large, and the changes of other tables wait in the same process.
    """
    return LocalEngine(memory_bytes=_STAGE_BYTES)


@dataclass(frozen=True)
class TargetTable:
    """The Hudi table at `base_path` that holds the rows of `source` that pass `filter`, after `masks`, with `added` columns.

    `options` are those of its writes.

    A source of several tables (`MergedSource`) is loaded by `ServerSync` only.
    """

    source: Origin
    base_path: str
    options: Mapping[str, object]
    engine: Engine
    masks: Masks = NO_MASKS
    added: AddedColumns = NOTHING_ADDED
    filter: RowFilter = EVERY_ROW

    def stored_position(self) -> StoredPosition | None:
        """Return the position of its newest load, None where nothing was loaded. Raises as `stored`."""
        return stored[1] if (stored := self.stored()) is not None else None

    def stored(self) -> tuple[TableState, StoredPosition] | None:
        """Return the table as it is now and the position of its newest load, None where nothing was loaded.

        Raises ConfigError for a table of other contents, OccupiedPathError for a path with other files.
        """
        try:
            state = HoodieTable.open(self.base_path).state()
        except OccupiedPathError:
            raise
        except TableNotFoundError:
            return None
        position = _newest(state)
        if position is None:
            if state.timeline.commits:
                raise ConfigError(
                    f"Table {self.base_path} holds other rows than those of {self.source.source}",
                    found="commits, and none of them has a position in a binlog",
                    fix="name another path",
                )
            return None
        if position.source != self.source.source:
            raise ConfigError(
                f"Table {self.base_path} is loaded from another source than {self.source.source}",
                found=position.source,
                fix="name another path",
            )
        self.columns().compare(newest_load(state, KEY), self.base_path)
        return state, position

    def commit_of(self, stored: StoredPosition) -> str:
        """Return the instant of the commit that holds `stored`. Raises PendingInstantError where a newer one holds another."""
        state = HoodieTable.open(self.base_path).state()
        position = find_position(state, KEY, start_fresh=False)
        if position is None or stored_position(position.text, position.where) != stored:
            raise _overtaken(self.base_path)
        return position.instant

    def opened_for(self, rows: Snapshot) -> HoodieTable:
        """Return the table. It is created for the snapshot where it is not there.

        Raises ConfigError for rows without a key, for columns that cannot be in a key, and for columns of other types.
        """
        return self.opened(rows.table.schema, rows.table.key, rows.table.full_name)

    def opened(self, columns: pa.Schema, key_columns: Sequence[str], name: str) -> HoodieTable:
        """Return the table, as `opened_for` does, for rows of `name` with these columns and this key."""
        key = ",".join(key_columns)
        key_fields = str(self.options.get(RECORD_KEY_FIELDS.name, key))
        fields = [field for field in dict.fromkeys([*self._first_key, *key_fields.split(",")]) if field]
        self.columns().check_key(columns, fields, name)
        self.columns().check(columns, name)
        with suppress(TableNotFoundError):
            table = HoodieTable.open(self.base_path, engine=self.engine)
            check_text_columns(table.stored_schema, self.columns(table.stored_schema).schema(columns))
            return table
        if not key and RECORD_KEY_FIELDS.name not in self.options:
            raise ConfigError(
                f"The table {name} has no key",
                found="neither a primary key nor a unique index without nulls",
                fix=f"name its columns: --hoodie-conf {RECORD_KEY_FIELDS.name}=…",
            )
        options = {**self.options, RECORD_KEY_FIELDS.name: ",".join(fields)}
        if "hoodie.table.name" not in options:
            options["hoodie.table.name"] = self.name
        check_key_types(self.columns().schema(columns), fields)
        return HoodieTable.create(self.base_path, options, engine=self.engine)

    def key(self, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys makes record keys differ. Raises ConfigError, as `key_of_target` says.

        None: the server no longer has the table, whose key an earlier commit has checked.
        """
        return self.key_by(self.properties, keys)

    def key_by(self, properties: TableProperties, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys makes record keys differ in a table of these properties. Raises as `key`."""
        if keys is None:
            return UniqueKey("", tuple(properties.record_key_fields))
        return key_of_target(properties, keys, named=RECORD_KEY_FIELDS.name in self.options)

    @property
    def table(self) -> TableSource:
        """The table that it is loaded from. Raises ConfigError where they are several."""
        if isinstance(self.source, TableSource):
            return self.source
        raise ConfigError(
            f"Several tables of {self.source.server} are loaded into {self.base_path}",
            fix=f"`hudi-services cdc sync {self.source.server}` brings it up to date, and "
            f"`hudi-services cdc verify --table {self.base_path} --repair` corrects its rows",
        )

    def columns(self, stored: pa.Schema | None = None) -> LakeColumns:
        """Return what makes rows of the Hudi table from those of the server. `stored` are its columns, where it is there."""
        return LakeColumns(self.masks, self.added, self.filter, stored)

    @property
    def is_merged(self) -> bool:
        """It has rows of several tables, or may get them."""
        return isinstance(self.source, MergedSource)

    @property
    def _first_key(self) -> tuple[str, ...]:
        return self.source.key if isinstance(self.source, MergedSource) else ()

    @property
    def name(self) -> str:
        """The name of the Hudi table, unless the options have one."""
        return (
            self.source.name if isinstance(self.source, TableSource) else self.base_path.rstrip("/").rpartition("/")[2]
        )

    @property
    def properties(self) -> TableProperties:
        """The properties of the table."""
        return HoodieTable.open(self.base_path).properties

    @property
    def schema(self) -> pa.Schema:
        """Its data columns."""
        return HoodieTable.open(self.base_path).stored_schema or pa.schema([])

    def joined(self, before: StoredPosition | None, tables: Mapping[str, StoredPosition]) -> StoredPosition:
        """Return the position of the table after commits to `tables`, by their names at the server: the others stay."""
        if self.is_merged:
            return joined_position(self.source.source, {**(before.tables if before is not None else {}), **tables})
        [position] = tables.values()
        return position

    def filled(self, names: Sequence[str]) -> dict[str, set[TableName]]:
        """Return which sources have rows with a value, for each of these columns. It reads the columns once, for all sources."""
        table = HoodieTable.open(self.base_path, engine=self.engine)
        stored = [name for name in names if name in self.schema.names]
        return {name: set() for name in names} | StoredRows(table, table.state()).filled(stored)

    def write_rows(
        self,
        rows: pa.RecordBatchReader,
        key: UniqueKey | None,
        before: StoredPosition | None,
        after: Callable[[], StoredPosition],
        *,
        replace: bool = False,
    ) -> int:
        """Write rows of a snapshot in one commit, whose keys the table does not have. Return how many they are.

        They are added to those of the table, or `replace` them. `before` is the position that the table has, `after` gives the
        one after the rows when all are read. Raises PendingInstantError where the table has another one.
        """
        table = HoodieTable.open(self.base_path, engine=self.engine)
        columns = self.columns(table.stored_schema if self.added.names else None)
        count = 0

        def fitted_batches() -> Iterator[pa.RecordBatch]:
            nonlocal count
            for batch in rows:
                check_key_values(batch.to_struct_array(), key)
                fitted = columns.batch(batch)
                count += fitted.num_rows
                yield fitted

        try:
            table.write(
                pa.RecordBatchReader.from_batches(columns.schema(rows.schema), fitted_batches()),
                "insert_overwrite_table" if replace else "insert" if self.shares_keys else "bulk_insert",
                # The source may be empty. A key that two sources have would be there twice.
                {
                    **self.options,
                    EMPTY_OVERWRITE.name: "true",
                    **({DUP_POLICY.name: "FAIL"} if self.shares_keys else {}),
                },
                hooks=self._hooks(before, after),
            )
        except KnownKeyError as error:
            raise shared_keys(error.what) from error
        return count

    def write_position(self, before: StoredPosition, after: StoredPosition) -> None:
        """Commit a position without rows. Raises PendingInstantError where the table has another one than `before`."""
        self._write_nothing("upsert", self.options, before, after)

    def write_no_rows(self, before: StoredPosition, after: StoredPosition) -> None:
        """Take all rows out of the table in one commit. Raises PendingInstantError, as `write_rows`."""
        self._write_nothing("insert_overwrite_table", {**self.options, EMPTY_OVERWRITE.name: "true"}, before, after)

    def _write_nothing(
        self, operation: str, options: Mapping[str, object], before: StoredPosition, after: StoredPosition
    ) -> None:
        table = HoodieTable.open(self.base_path, engine=self.engine)
        nothing = (table.stored_schema or pa.schema([])).empty_table()
        table.write(nothing, operation, options, hooks=self._hooks(before, lambda: after))

    def write_batch(
        self,
        parts: Parts,
        schema: pa.Schema | None,
        before: StoredPosition,
        after: StoredPosition,
        emptied: Sequence[TableSource] = (),
        *,
        size: int = 0,
        are_all: bool = False,
        arrivals: Arrivals = NO_ARRIVALS,
    ) -> None:
        """Apply changes in one commit, as `write_parts`, whose keys are checked. `schema` is None where there are no parts.

        The rows that the table has of the sources `emptied` are deleted before. `are_all`: the changes insert all rows that the
        sources have now. Raises SourceError where another table has their keys. `arrivals` have the schema of the changes.
        """
        known = schema if schema is not None else changes_schema(self.schema)
        of_lake = schema is None
        self.write_parts(
            parts, known, None, before, after, emptied, size=size, are_all=are_all, of_lake=of_lake, arrivals=arrivals
        )

    def write_parts(
        self,
        parts: Parts,
        schema: pa.Schema,
        key: UniqueKey | None,
        before: StoredPosition,
        after: StoredPosition,
        emptied: Sequence[TableSource] = (),
        *,
        size: int = 0,
        are_all: bool = False,
        of_lake: bool = False,
        has_owners: bool = False,
        known: frozenset[str] | None = None,
        arrivals: Arrivals = NO_ARRIVALS,
    ) -> str:
        """Apply changes in one commit, and return its instant. Raises PendingInstantError as `write_rows`.

        They come in parts of this schema, in the order of the log: of a key in several parts the last one counts. Changes of
        shared keys count if the row belongs to their table, and all where the changes say whose it is (`has_owners`). `size` is
        how many bytes they have, if that is known: of many, a task takes a small share, so that memory does not grow with them.
        They have the columns of the server, or `of_lake` those of the Hudi table, with masks. The commits that the changes were
        made from are `known`: PendingInstantError is raised where others changed rows after them. UnclearRowsError is raised
        where the changes and the `arrivals` do not say whose a row is.
        """
        table = HoodieTable.open(self.base_path, engine=self.engine)
        columns = SERVER_COLUMNS if of_lake else self.columns(table.stored_schema)
        schema = columns.changes(schema.empty_table()).schema
        state = table.state()
        check_text_columns(table.stored_schema, pa.schema(list(schema.field(AFTER).type)))
        rows_of = change_rows(state, schema, _CHANGES, InlineServices.of(self.options).options)
        stored = StoredRows(table, state)

        def checked() -> Iterator[pa.Table]:
            for changes in parts():
                for image in (BEFORE, AFTER):
                    check_key_values(changes[image], key)
                yield columns.changes(changes)

        verdict = None
        if self.shares_keys and not has_owners:
            came = Arrivals(lambda: map(columns.changes, arrivals.parts()), arrivals.unseen)
            verdict = owned_changes(checked, rows_of, stored, emptied, came, are_all=are_all)

        def batches() -> Iterator[pa.RecordBatch]:
            images = pa.schema(list(schema.field(AFTER).type))
            needed = [name for name in stored.located_by if name in images.names]
            for batch in stored.of_sources(emptied, needed):
                deletes = as_changes(pa.Table.from_batches([batch]), "d", images).select(schema.names)
                yield from rows_of(deletes).to_batches()
            for changes in checked():
                keyed = rows_of.keyed(changes)
                yield from rows_of.last(keyed if verdict is None else verdict.counting(keyed)).to_batches()

        result = table.write(
            pa.RecordBatchReader.from_batches(rows_of.schema, batches()),
            "upsert",
            self._options(size),
            deletions=DELETION,
            hooks=self._hooks(before, lambda: after, known),
        )
        return result.instant.time

    @property
    def shares_keys(self) -> bool:
        """No two of its tables have a row of one key, but for the time in which a row moves."""
        return isinstance(self.source, MergedSource) and self.source.global_keys

    def _options(self, size: int) -> Mapping[str, object]:
        tasks = -(-size // _TASK_BYTES)
        return self.options if tasks <= self.engine.parallelism else {_TASKS.name: tasks, **self.options}

    def _hooks(
        self, before: StoredPosition | None, after: Callable[[], StoredPosition], known: frozenset[str] | None = None
    ) -> WriteHooks:
        """Hooks of a commit that holds the position `after`, and is made only where the table has the position `before`, and
        where others changed no rows after the `known` commits."""

        def check(state: TableState) -> None:
            if _newest(state) != before or (known is not None and _changed_since(known, state)):
                raise _overtaken(self.base_path)

        def extra() -> dict[str, str]:
            return {KEY: after().text, **self.columns().texts}

        return WriteHooks(on_begin=check, before_commit=extra, on_others=check)


def _newest(state: TableState) -> StoredPosition | None:
    position = find_position(state, KEY, start_fresh=False)
    return stored_position(position.text, position.where) if position is not None else None


def _changed_since(known: frozenset[str], state: TableState) -> bool:
    """Return true if others changed rows after the `known` commits, or took back the last of them."""
    commits = {str(commit.time): commit for commit in state.timeline.commits}
    if known and max(known) not in commits:
        return True
    return any(not state.commit_metadata(commits[time]).moves_rows for time in commits.keys() - known)


def _overtaken(base_path: str) -> PendingInstantError:
    return PendingInstantError(
        f"Another writer committed to {base_path} in the meantime", fix="run again. It goes on after that one"
    )
