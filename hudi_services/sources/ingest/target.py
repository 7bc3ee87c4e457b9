"""The table that an ingestion loads into: the one that is there, or a new one.

A first load that fails leaves its table behind, empty: another process may have opened it, so it is not deleted. It has a mark,
and as long as it never had a commit the next load gives it the properties of a new table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from hoodie.config import CREATE_KEYS
from hoodie.config.key import Options
from hoodie.config.keygen_checks import with_keygen_options
from hoodie.config.operations import Operation
from hoodie.config.properties.table import TableProperties
from hoodie.config.table_checks import check_same_table
from hoodie.engine import Engine
from hoodie.errors import ConfigError, OccupiedPathError, PendingInstantError, TableNotFoundError
from hoodie.index.properties_match import refuse_foreign_properties
from hoodie.new_table import NewTable
from hoodie.storage import open_storage
from hoodie.table import HoodieTable
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.create import create_table, is_left_behind, never_committed, recreate_table
from hoodie.transaction.locks import Locking
from hoodie.view import TableState
from hoodie.write.plan import WritePlan
from hudi_services.entry.table_contradictions import option_contradictions

FIRST_LOAD = {"hudi_services.created.by": "ingest"}
"""The mark, among the table's properties. It means nothing once there is a commit."""


class Target(Protocol):
    """A place for rows. It says which rows it takes, and changes nothing until it is opened."""

    @property
    def table(self) -> HoodieTable | None:
        """The table, where it is there and stays as it is."""
        ...

    @property
    def state(self) -> TableState | None:
        """The table's state when it was looked at; None before the first load."""
        ...

    @property
    def properties(self) -> TableProperties:
        """The properties of the table, or those that it will have."""
        ...

    @property
    def columns(self) -> pa.Schema | None:
        """The data columns, once rows were loaded or a schema declared."""
        ...

    def plan_write(
        self, schema: pa.Schema, operation: Operation, options: Options, *, deletions: str | None = None
    ) -> WritePlan:
        """The plan of `HoodieTable.plan_write`."""
        ...

    def opened(self, options: Options) -> HoodieTable:
        """The table to write to, created if need be.

        Raises HoodieError, and PendingInstantError if another process has begun to use a table that a failed first load left.
        """
        ...


@dataclass(frozen=True)
class StoredTarget:
    """A table that is there."""

    table: HoodieTable
    state: TableState

    @property
    def properties(self) -> TableProperties:
        return self.state.properties

    @property
    def columns(self) -> pa.Schema | None:
        return self.table.stored_schema

    def plan_write(
        self, schema: pa.Schema, operation: Operation, options: Options, *, deletions: str | None = None
    ) -> WritePlan:
        return self.table.plan_write(schema, operation, options, deletions=deletions)

    def opened(self, options: Options) -> HoodieTable:
        return self.table


@dataclass(frozen=True)
class NewTarget:
    """A table that the first load creates, or makes of `left`, which a failed first load left behind."""

    new: NewTable
    left: HoodieTable | None
    engine: Engine
    table: None = None
    state: None = None
    columns: None = None

    @property
    def properties(self) -> TableProperties:
        return self.new.properties

    def plan_write(
        self, schema: pa.Schema, operation: Operation, options: Options, *, deletions: str | None = None
    ) -> WritePlan:
        return self.new.plan_write(schema, operation, options, deletions=deletions)

    def opened(self, options: Options) -> HoodieTable:
        created, target = options.among(CREATE_KEYS), self.left
        if target is None:
            create_table(open_storage(self.new.base_path), created, None, FIRST_LOAD)
            return HoodieTable.open(self.new.base_path, engine=self.engine)
        locking, sharing = Locking.of(options), ConcurrencyOptions.of(options)
        recreate_table(target.storage, target.clock, created, FIRST_LOAD, locking, sharing=sharing)
        return target


def find_target(base_path: str, operation: Operation, options: Options, engine: Engine) -> Target:
    """The target as it is now. Raises TableNotFoundError where there is nothing to delete from, OccupiedPathError where no table
    can be made, ConfigError for options that cannot make a table or differ from those of the table."""
    new = NewTarget(NewTable(base_path, options, FIRST_LOAD), None, engine)
    try:
        table = HoodieTable.open(base_path, engine=engine)
    except OccupiedPathError:
        raise
    except TableNotFoundError as error:
        return _checked(new, operation, error.what)
    state = table.state()
    if is_left_behind(state, FIRST_LOAD) and (operation.deletes or options.among(CREATE_KEYS)):
        return _checked(replace(new, left=table), operation, f"Table {table.base_path} never had a commit")
    check_same(state, options)
    return StoredTarget(table, state)


def _checked(new: NewTarget, operation: Operation, why: str) -> NewTarget:
    if operation.deletes:
        raise TableNotFoundError(why, found="nothing to delete from", fix="check the path")
    _ = new.properties  # refuse options before anything is read of the source
    return new


def check_still_new(state: TableState, properties: TableProperties) -> None:
    """Check the target under the lock of the first write. Raises PendingInstantError if another first load made another table
    of it."""
    for name, value in properties.raw.items():
        if state.properties.raw.get(name) != value:
            raise PendingInstantError(
                f"Another ingestion made a table with other options at {state.storage.base_path} during this run",
                found=f"{name}={state.properties.raw.get(name)} instead of {value}",
                fix="run again, with the options that are meant",
            )


def check_same(state: TableState, options: Options) -> None:
    """Options that shape a table cannot change it later. Raises ConfigError naming the first that differs, by its key of the
    registry if it has one, and CorruptTableError if not the options are wrong but the properties: they are of another table."""
    try:
        for wrong in option_contradictions(options, state.properties):
            refuse_foreign_properties(state)
            raise ConfigError(
                f"{wrong.key} ({wrong.option}) contradicts the table {state.properties.name}",
                found=f"{wrong.declared!r} is asked for, the table has {wrong.stored!r}",
                fix=f"write `{wrong.line}` in the entry of the registry, or load into a new table",
            )
        with_keygen_options(state.properties, options)
        check_same_table(state.properties, options)
    except ConfigError as error:
        if not never_committed(state):
            raise
        raise ConfigError(
            error.what,
            found=f"{error.found or 'another value'}; the table never had a commit",
            fix=f"correct the option; or, if only you use the empty table, remove {state.storage.base_path} and run again",
        ) from None
