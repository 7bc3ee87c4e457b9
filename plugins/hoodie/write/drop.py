"""Partitions dropped, or all rows of a table, without writing any (decision 48)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from hoodie.config.key import Options
from hoodie.config.keys.concurrency import MODE, NON_BLOCKING
from hoodie.config.keys.write import PARTITIONS_TO_DELETE
from hoodie.config.operations import Operation, operation_named
from hoodie.config.partitions import check_uncut, partition_path
from hoodie.config.table_checks import check_same_table
from hoodie.display import counted
from hoodie.errors import ArgumentError, ConfigError, SchemaConflictError
from hoodie.index.hashing_files import refuse_replacing
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata
from hoodie.schema import arrow_to_avro
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import Locking
from hoodie.transaction.transaction import optimistic, transaction
from hoodie.view import TableState
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.attempts import attempts
from hoodie.write.execute import WriteResult, check_extra
from hoodie.write.log_writers import refuse_replacing_beside
from hoodie.write.operation_checks import check_partitions
from hoodie.write.overwrite import Replaced, open_replacing, refuse_waiting

_log = logging.getLogger(__name__)

_MOST_NAMED = 5  # partitions in an error

DROP, EMPTY = operation_named("delete_partition"), operation_named("insert_overwrite_table")


def named_partitions(operation: Operation, options: Options) -> tuple[str, ...] | None:
    """The partitions that the options of a write name (`hoodie.datasource.write.partitions.to.delete`); None: those of its rows.

    Raises ConfigError where they are named for an operation that drops none.
    """
    names = options.get(PARTITIONS_TO_DELETE)
    if names is not None and operation != DROP:
        raise ConfigError(
            f"Option {PARTITIONS_TO_DELETE.name} has no meaning for the operation {operation.name}",
            found=", ".join(names),
            fix=f"remove it, or write by {DROP.name}",
        )
    return names


def drop_partitions(
    access: TableAccess,
    names: Sequence[str] | None,
    options: Options,
    extra: Mapping[str, str],
    *,
    must_exist: bool = False,
) -> WriteResult:
    """Take whole partitions out of the table in one commit; None: all rows of it. A clean deletes their files later.

    `names` are paths of partitions, in which `*` matches anything. A name without a partition is logged; with `must_exist`
    nothing is dropped then. Raises ArgumentError for such a name, ConfigError for a table without partitions, for a name that
    also is a pattern, and for names that may be parts of one with a comma; PendingInstantError when a service waits for one of
    their file groups; and what a write raises.
    """
    check_extra(extra)
    checked = _checked(names)

    def choose(state: TableState) -> _Chosen:
        return Replaced.of(state, None) if checked is None else _named(state, checked, must_exist=must_exist), extra

    result = _dropped(_Drop(access, DROP if names is not None else EMPTY, choose, options))
    assert result is not None, "it was asked for by name"
    return result


def drop_chosen(
    access: TableAccess,
    choose: Callable[[TableState], tuple[Sequence[str], Mapping[str, str]] | None],
    options: Options,
) -> WriteResult | None:
    """As `drop_partitions`, of partitions that are there and that `choose` names in the state under the table's lock, with the
    extra metadata of the commit; None: there is nothing to drop."""

    def chosen(state: TableState) -> _Chosen | None:
        chosen = choose(state)
        return (Replaced.of(state, sorted(chosen[0])), chosen[1]) if chosen is not None else None

    return _dropped(_Drop(access, DROP, chosen, options))


_Chosen = tuple[Replaced, Mapping[str, str]]


def _dropped(drop: _Drop) -> WriteResult | None:
    drop.planned(drop.access.state())  # refuse before taking the lock
    return attempts(drop.access, drop.options, drop.attempt, readable_again=True)


@dataclass(frozen=True)
class _Drop:
    access: TableAccess
    operation: Operation
    choose: Callable[[TableState], _Chosen | None]
    options: Options

    def planned(self, state: TableState) -> pa.Schema:
        """The columns of the table, whose options and state are checked."""
        check_same_table(state.properties, self.options)
        state.properties.check_writable()
        check_partitions(state.properties, self.operation)
        if self.options[MODE] == NON_BLOCKING:
            refuse_replacing_beside(state, self.operation)
        schema = table_schema(state)
        if schema is None:
            raise SchemaConflictError(
                f"Table {state.storage.base_path} has no schema yet",
                fix="there is nothing to drop: it was never written",
            )
        _ = state.schemas  # raises where they are lost: the commit would hide that
        return schema

    def attempt(self) -> WriteResult | None:
        access = self.access
        self.planned(access.state())
        sharing, locking = ConcurrencyOptions.of(self.options), Locking.of(self.options)
        begin = optimistic if sharing.optimistic else transaction
        with begin(access.storage, access.clock, self.operation.name, locking, sharing) as tx:
            schema = self.planned(tx.state)
            refuse_replacing(tx.state)
            chosen = self.choose(tx.state)
            if chosen is None:
                return None
            replaced, extra_metadata = chosen
            refuse_waiting(tx.state, self.operation, replaced)
            instant = open_replacing(tx, self.operation)
            extra = {**extra_metadata, SCHEMA_KEY: arrow_to_avro(schema, tx.state.properties.name)}
            metadata = CommitMetadata(self.operation.name.upper(), (), extra, replaced.groups)
            (change,) = tx.commit(Change(instant, metadata, touched=replaced.file_groups, overwrites=replaced))
            return WriteResult(change.instant, change.metadata)


def _named(state: TableState, names: Sequence[str], *, must_exist: bool) -> Replaced:
    partitions_now = state.files.partitions()
    check_uncut(names, partitions_now)
    result = {name: _matching(state, name, partitions_now) for name in names}
    replaced = Replaced.of(state, sorted(set().union(*result.values())))
    # A partition whose folder has lost its metafile is not among those that are known.
    existing = {name: ids for name, ids in replaced.groups.items() if ids or name in partitions_now}
    idle = [name for name, partitions in result.items() if existing.keys().isdisjoint(partitions)]
    if idle and must_exist:
        more = " …" if len(partitions_now) > _MOST_NAMED else ""
        raise ArgumentError(
            f"Table {state.storage.base_path} has no partition {', '.join(idle)}",
            found=f"{counted(len(partitions_now), 'partition')}: {', '.join(partitions_now[:_MOST_NAMED])}{more}",
            fix="give paths as `hudi-services show partitions` lists them; nothing was dropped",
        )
    if idle:
        _log.warning("Table %s has no partition %s: nothing to drop there", state.storage.base_path, ", ".join(idle))
    return Replaced(existing)


def _checked(names: object) -> Sequence[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Collection) or not names or not all(map(_is_name, names)):
        raise ArgumentError(
            "The partitions to drop are not a list of their paths",
            found=f"{names!r:.100}",
            fix="give a list of texts, such as ['day=2026-01-01', 'day=2025-*']; to drop all rows, use HoodieTable.truncate",
        )
    return [partition_path(name) for name in names]


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip("/"))


def _matching(state: TableState, name: str, partitions: Sequence[str]) -> list[str]:
    if "*" not in name:
        return [name]
    if name in partitions:
        raise ConfigError(
            f"{name!r} is a partition of table {state.storage.base_path}, and a pattern that may match others",
            fix="delete its rows by their keys: no name distinguishes it from the others",
        )
    pattern = re.compile(".*".join(map(re.escape, name.split("*"))), re.DOTALL)
    return [partition for partition in partitions if pattern.fullmatch(partition)]
