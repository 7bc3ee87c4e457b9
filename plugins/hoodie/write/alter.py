"""A table's columns changed, without writing any row (decision 52): Hudi's ALTER TABLE with
`hoodie.schema.on.read.enable`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hoodie.config.key import Options
from hoodie.config.properties.table import TableProperties
from hoodie.config.table_checks import check_same_table
from hoodie.errors import ArgumentError, SchemaConflictError
from hoodie.merge import merge_rules
from hoodie.model.commit import ALTER_SCHEMA, LATEST_SCHEMA_KEY, SCHEMA_KEY, CommitMetadata
from hoodie.model.meta_columns import IS_DELETED, OPERATION
from hoodie.schema import arrow_to_avro
from hoodie.schema.alter import altered
from hoodie.schema.changes import DropColumn, RenameColumn, SchemaChange
from hoodie.schema.internal import InternalSchema, first_schema
from hoodie.schema.nesting import refuse_deep
from hoodie.schema.widening import arrow_columns
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.transaction import optimistic, transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.attempts import attempts
from hoodie.write.execute import WriteResult
from hoodie.write.plan import commit_action

_log = logging.getLogger(__name__)


def alter_table(access: TableAccess, changes: Sequence[SchemaChange], options: Options) -> WriteResult:
    """Change the columns in one commit, one change after the other. Data files stay as they are: they are read by ids.

    `options` are those of a write. Raises ArgumentError, SchemaConflictError, ConfigError, LockHeldError, WriteConflictError.
    """
    if not isinstance(changes, list | tuple):
        raise ArgumentError(
            "The changes to the columns are not a list", found=f"{changes!r:.100}", fix="give a list of them"
        )
    alter = _Alter(access, tuple(changes), options)
    alter.planned(access.state())  # refuse before taking the lock
    result = attempts(access, options, alter.attempt, readable_again=True)
    if any(isinstance(change, DropColumn | RenameColumn) for change in changes):
        _log.warning(
            "Columns of table %s are found by ids from now on: engines that find them by name (all but Hudi with "
            "hoodie.schema.on.read.enable=true) see nulls, or what was dropped, in rows that were written before",
            access.storage.base_path,
        )
    return result


@dataclass(frozen=True)
class _Alter:
    access: TableAccess
    changes: tuple[SchemaChange, ...]
    options: Options

    def planned(self, state: TableState) -> InternalSchema:
        """The columns after the changes, where the options fit the table."""
        check_same_table(state.properties, self.options)
        state.properties.check_writable()
        columns = table_schema(state)
        if columns is None:
            raise SchemaConflictError(
                f"Table {state.storage.base_path} has no schema yet",
                fix="write rows to it, or create it with a schema: there is nothing to alter",
            )
        versions = state.schemas
        greatest = max((version.max_id for version in versions), default=0)
        before = replace(versions[-1], max_id=greatest).with_columns(columns) if versions else first_schema(columns)
        after = altered(before, self.changes, _fixed(state.properties))
        refuse_deep(arrow_columns(after))
        return after

    def attempt(self) -> WriteResult:
        access = self.access
        self.planned(access.state())
        sharing, locking = ConcurrencyOptions.of(self.options), Locking.of(self.options)
        begin = optimistic if sharing.optimistic else transaction
        with begin(access.storage, access.clock, "alter", locking, sharing) as tx:
            schema = self.planned(tx.state)
            properties = tx.state.properties
            instant = tx.open(commit_action(properties), operation=ALTER_SCHEMA)
            extra = {
                SCHEMA_KEY: arrow_to_avro(arrow_columns(schema), properties.name),
                LATEST_SCHEMA_KEY: replace(schema, version=int(instant.time)).text(),
            }
            (change,) = tx.commit(Change(instant, CommitMetadata(ALTER_SCHEMA, (), extra)))
            return WriteResult(change.instant, change.metadata)


def _fixed(properties: TableProperties) -> dict[str, str]:
    """The fields by which the table finds, places and orders its rows, and knows its deletions."""
    deletion = merge_rules(properties).deletion
    return {
        IS_DELETED: "what marks deletions",
        OPERATION: "what marks deletions",
        **({deletion.field: "what marks deletions"} if deletion is not None else {}),
        **dict.fromkeys(properties.ordering_fields, "an ordering field"),
        **dict.fromkeys(properties.partition_fields, "a partition field"),
        **dict.fromkeys(properties.record_key_fields, "a record key field"),
    }
