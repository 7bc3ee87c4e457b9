"""The Hudi table of a source: what it holds of the source, and commits that hold rows and the position after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.table_keys import RECORD_KEY_FIELDS
from hoodie.config.write_keys import EMPTY_OVERWRITE
from hoodie.engine import Engine
from hoodie.errors import ConfigError, PendingInstantError, TableNotFoundError
from hoodie.model.changes import AFTER, BEFORE
from hoodie.model.internal_columns import DELETION
from hoodie.services.after_write import AfterWrite
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.write.change_rows import ChangeColumns, change_rows
from hoodie.write.execute import WriteHooks
from hudi_services.cdc import masks
from hudi_services.cdc.masks import NO_MASKS, Masks
from hudi_services.cdc.mysql.log_identity import KEY, StoredPosition, stored_position
from hudi_services.cdc.mysql.snapshot import Snapshot
from hudi_services.cdc.mysql.table_source import Origin, TableSource
from hudi_services.cdc.mysql.target import (
    UniqueKey,
    check_key_types,
    check_key_values,
    check_text_columns,
    key_of_target,
)
from hudi_services.positions import find_position, newest_load

_CHANGES = ChangeColumns("op", ("number",), complete=True)


@dataclass(frozen=True)
class TargetTable:
    """The Hudi table at `base_path` that holds the rows of `source`, after `masks`. `options` are those of its writes.

    A source of several tables (`MergedSource`) is loaded by `ServerSync` only.
    """

    source: Origin
    base_path: str
    options: Mapping[str, object]
    engine: Engine
    masks: Masks = NO_MASKS

    def stored_position(self) -> StoredPosition | None:
        """Return the position of its newest load, None where nothing was loaded.

        Raises ConfigError for a table of other contents.
        """
        return stored[1] if (stored := self.stored()) is not None else None

    def stored(self) -> tuple[TableState, StoredPosition] | None:
        """Return the table as it is now and the position of its newest load, None where nothing was loaded.

        Raises ConfigError for a table of other contents.
        """
        try:
            state = HoodieTable.open(self.base_path).state()
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
        masked = newest_load(state, KEY).get(masks.KEY, "")
        if masked != self.masks.text:
            raise ConfigError(
                f"The columns of {self.base_path} are masked in another way than this load would",
                found=f"{masked or 'no masks'} in the table, {self.masks.text or 'no masks'} here",
                fix="use the masks and the hash_key of the table, or load into another path",
            )
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
        key = ",".join(rows.table.key)
        fields = str(self.options.get(RECORD_KEY_FIELDS.name, key)).split(",")
        self.masks.check(rows.table.schema.names, fields, rows.table.full_name)
        schema = self.masks.schema(rows.table.schema)
        with suppress(TableNotFoundError):
            table = HoodieTable.open(self.base_path, engine=self.engine)
            check_text_columns(table.stored_schema, schema)
            return table
        if not key and RECORD_KEY_FIELDS.name not in self.options:
            raise ConfigError(
                f"The table {rows.table.full_name} has no key",
                found="neither a primary key nor a unique index without nulls",
                fix=f"name its columns: --hoodie-conf {RECORD_KEY_FIELDS.name}=…",
            )
        options = {RECORD_KEY_FIELDS.name: key, "hoodie.table.name": self.name, **self.options}
        check_key_types(schema, fields)
        return HoodieTable.create(self.base_path, options, engine=self.engine)

    def key(self, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys makes record keys differ. Raises ConfigError, as `key_of_target` says.

        None: the server no longer has the table, whose key an earlier commit has checked.
        """
        properties = HoodieTable.open(self.base_path).state().properties
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
            fix=f"`hudi-services cdc sync {self.source.server}` brings it up to date",
        )

    @property
    def name(self) -> str:
        """The name of the Hudi table, unless the options have one."""
        return (
            self.source.name if isinstance(self.source, TableSource) else self.base_path.rstrip("/").rpartition("/")[2]
        )

    @property
    def schema(self) -> pa.Schema:
        """Its data columns."""
        return HoodieTable.open(self.base_path).stored_schema or pa.schema([])

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
        counted = _Counted(key, self.masks)
        HoodieTable.open(self.base_path, engine=self.engine).write(
            pa.RecordBatchReader.from_batches(self.masks.schema(rows.schema), counted.of(rows)),
            "insert_overwrite_table" if replace else "bulk_insert",
            {**self.options, EMPTY_OVERWRITE.name: "true"},  # the source may be empty
            hooks=self._hooks(before, after),
        )
        return counted.rows

    def write_position(self, before: StoredPosition, after: StoredPosition) -> None:
        """Commit a position without rows. Raises PendingInstantError where the table has another one than `before`."""
        table = HoodieTable.open(self.base_path, engine=self.engine)
        nothing = (table.stored_schema or pa.schema([])).empty_table()
        table.write(nothing, "upsert", self.options, hooks=self._hooks(before, lambda: after))

    def write_no_rows(self, before: StoredPosition, after: StoredPosition) -> None:
        """Take all rows out of the table in one commit. Raises PendingInstantError, as `write_rows`."""
        table = HoodieTable.open(self.base_path, engine=self.engine)
        table.write(
            (table.stored_schema or pa.schema([])).empty_table(),
            "insert_overwrite_table",
            {**self.options, EMPTY_OVERWRITE.name: "true"},
            hooks=self._hooks(before, lambda: after),
        )

    def write_changes(
        self, changes: pa.Table, key: UniqueKey | None, before: StoredPosition, after: StoredPosition
    ) -> None:
        """Apply changes in one commit. Raises PendingInstantError where the table has another position than `before`."""
        self.write_parts(iter([changes]), changes.schema, key, before, after)

    def write_parts(
        self,
        parts: Iterator[pa.Table],
        schema: pa.Schema,
        key: UniqueKey | None,
        before: StoredPosition,
        after: StoredPosition,
    ) -> str:
        """Apply changes in one commit, as `write_changes` does, and return its instant.

        They come in parts of this schema, in the order of the log: of a key in several parts the last one counts.
        """
        table = HoodieTable.open(self.base_path, engine=self.engine)
        schema = self.masks.changes(schema.empty_table()).schema
        check_text_columns(table.stored_schema, pa.schema(list(schema.field(AFTER).type)))
        rows_of = change_rows(table.state(), schema, _CHANGES, AfterWrite.of(self.options).options)

        def batches() -> Iterator[pa.RecordBatch]:
            for changes in parts:
                for image in (BEFORE, AFTER):
                    check_key_values(changes[image], key)
                yield from rows_of(self.masks.changes(changes)).to_batches()

        result = table.write(
            pa.RecordBatchReader.from_batches(rows_of.schema, batches()),
            "upsert",
            self.options,
            deletions=DELETION,
            hooks=self._hooks(before, lambda: after),
        )
        return result.instant.time

    def _hooks(self, before: StoredPosition | None, after: Callable[[], StoredPosition]) -> WriteHooks:
        """Hooks of a commit that holds the position `after`, and is made only where the table has the position `before`."""

        def check(state: TableState) -> None:
            if _newest(state) != before:
                raise _overtaken(self.base_path)

        def extra() -> dict[str, str]:
            masked = self.masks.text
            return {KEY: after().text, **({masks.KEY: masked} if masked else {})}

        return WriteHooks(on_begin=check, before_commit=extra, on_others=check)


def _newest(state: TableState) -> StoredPosition | None:
    position = find_position(state, KEY, start_fresh=False)
    return stored_position(position.text, position.where) if position is not None else None


def _overtaken(base_path: str) -> PendingInstantError:
    return PendingInstantError(
        f"Another load committed to {base_path} in the meantime", fix="run again. It goes on after that one"
    )


@dataclass
class _Counted:
    key: UniqueKey | None
    masks: Masks
    rows: int = 0

    def of(self, batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            check_key_values(batch.to_struct_array(), self.key)
            self.rows += batch.num_rows
            yield self.masks.batch(batch)
