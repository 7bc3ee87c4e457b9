"""Statements that change rows: a query on the table as it is, its rows written in one commit.

Were the table changed between the query and the begin of the write, what the query saw would be old: the query is asked again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import CONFLICT_RETRIES, MODE, NON_BLOCKING, OPTIMISTIC
from hoodie.config.service_options import select_keys
from hoodie.dataset import HoodieDataset
from hoodie.display import counted
from hoodie.errors import SqlError, StaleRowsError, StaleSnapshotError
from hoodie.sql.catalog import Entry
from hoodie.sql.changes import Target, delete_query, lowered_query, merge_query, source_query, update_query
from hoodie.sql.engine import Rows
from hoodie.sql.key_collisions import may_collide, refuse_collisions
from hoodie.sql.key_copies import chooses_by_keys, merges_by_keys, refuse_copies
from hoodie.sql.look import Look
from hoodie.sql.result import Result
from hoodie.sql.row_keys import AMBIGUOUS, RowKeys
from hoodie.sql.session import Session
from hoodie.sql.update_rows import ACTION, INSERTED
from hoodie.sql.upserts import upsert_query
from hoodie.table import HoodieTable
from hoodie.view import TableState
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, WriteResult
from hoodie.write.staleness import refuse_stale, row_commits

_log = logging.getLogger(__name__)


class Computed(NamedTuple):
    """Rows of a statement, and the way to write them. `replaces` are paths of partitions that an overwrite takes out, in
    addition to those of its rows. `deletions` is the column that marks rows whose keys are deleted. `check` looks at rows with
    their keys, before they are written without the columns `marks`; None: there is nothing to look at."""

    rows: Rows
    operation: str
    replaces: tuple[str, ...] = ()
    deletions: str | None = None
    marks: tuple[str, ...] = ()
    check: Callable[[Rows, RowKeys], None] | None = None


_ROUNDS = 10  # times that a query runs when others change the table during it


def update_rows(session: Session, entry: Entry, tree: exp.Expression, node: exp.Table) -> Result:
    """UPDATE. Raises SqlError when rows of one key would be changed, or one of them, as it would take the place of all, and when
    the ordering of a row would be lowered, as the stored one would stay."""

    def changed(look: Look, target: Target) -> Computed:
        lowered = lowered_query(tree, target)
        if lowered is not None and not session.rows(lowered, look).is_empty():
            raise SqlError(
                f"An UPDATE lowers the ordering value of table {entry.name}, and would change nothing",
                found=f"ordering fields {', '.join(target.properties.ordering_fields)}: of two rows the one with more stays",
                fix=f"leave them as they are, or raise them; or DELETE the rows, {_between(target)}then INSERT them",
            )
        rows = session.rows(update_query(tree, target), look).changed(target.changes)
        by_keys = chooses_by_keys(tree, RowKeys.of(target.properties, session.write_options(entry)))
        check = None if by_keys else partial(refuse_copies, session, look, target)
        return Computed(rows, "upsert", check=check)

    return change(session, entry, node, changed, one_row_a_key=True)


def _between(target: Target) -> str:
    """The step before a row with a smaller ordering value can take the place of a deleted one. Until a compaction the stored row
    of a merge-on-read table would come back, as in Hudi."""
    return "run `hudi-services compact --force`, " if target.properties.is_merge_on_read else ""


def delete_rows(session: Session, entry: Entry, tree: exp.Expression, node: exp.Table) -> Result:
    """DELETE. Raises SqlError when rows that it does not choose have the key of one that it does: they would go, too."""

    def changed(look: Look, target: Target) -> Computed:
        by_keys = chooses_by_keys(tree, RowKeys.of(target.properties, session.write_options(entry)))
        check = None if by_keys else partial(refuse_copies, session, look, target)
        return Computed(session.rows(delete_query(tree, target), look), "delete", check=check)

    return change(session, entry, node, changed)


def merge_rows(session: Session, entry: Entry, tree: exp.Expression, node: exp.Table) -> Result:
    """MERGE INTO: what it writes and deletes is one commit. Raises SqlError when several rows are for one key, and when one to be
    inserted has the key of a row that is there."""
    options = session.write_options(entry)

    def changed(look: Look, target: Target) -> Computed:
        source = session.rows(source_query(tree), look).schema
        query, changes = merge_query(tree, target, source)  # it reports the mistakes of a statement
        keys = RowKeys.of(target.properties, options)
        upserted = upsert_query(tree, target, source, keys)
        if upserted is not None:
            rows = session.rows(upserted, look).stored(target.schema, target.schema.names)
            if rows.keyed(keys).marked(AMBIGUOUS).is_empty():
                return Computed(rows, "upsert")

        def check(keyed: Rows, keys: RowKeys) -> None:
            if changes.inserts and may_collide(tree, target, source, keyed, keys):
                refuse_collisions(session, look, target, keyed, keys)
            if not merges_by_keys(tree, target, source, keys):
                refuse_copies(session, look, target, keyed, keys)

        rows = session.rows(query, look).changed(changes)
        return Computed(rows, "upsert", deletions=ACTION, marks=(INSERTED,), check=check)

    return change(session, entry, node, changed, one_row_a_key=True)


def change(
    session: Session,
    entry: Entry,
    node: exp.Table,
    changed: Callable[[Look, Target], Computed],
    *,
    one_row_a_key: bool = False,
) -> Result:
    """Write what `changed` computes of the table as it is. Without rows there is no commit, unless it overwrites.

    Raises SqlError when there is to be `one_row_a_key`, and a key has several.
    """
    table = session.open(entry)
    options = _optimistic(session.write_options(entry))

    def attempt(dataset: HoodieDataset) -> Result:
        target = Target(node, dataset.schema, dataset.state.properties)
        computed = changed(Look.at(dataset), target)
        with computed.rows.persisted() as rows:
            if computed.operation in ("upsert", "delete", "delete_partition") and rows.is_empty():
                return Result.of_message("no row is changed")
            if one_row_a_key or computed.check is not None:
                keys = RowKeys.of(target.properties, options)
                keyed = rows.keyed(keys, computed.marks)
                if one_row_a_key:
                    _refuse_doubles(keyed, keys)
                if computed.check is not None:
                    computed.check(keyed, keys)
            hooks = WriteHooks(on_begin=partial(refuse_stale, dataset.state), replaces=computed.replaces)
            written = rows.selected([name for name in rows.schema.names if name not in computed.marks])
            return write_message(
                written.write(table, computed.operation, options, deletions=computed.deletions, hooks=hooks)
            )

    return _repeated(table, options, attempt)


def _optimistic(options: dict[str, str]) -> dict[str, str]:
    """The options without non-blocking writes: rows computed of the table would hide what others write at the same time."""
    if resolve(select_keys(options, [MODE]), [MODE])[MODE] != NON_BLOCKING:
        return options
    return {**options, MODE.name: OPTIMISTIC.lower()}


def append(session: Session, entry: Entry, node: exp.Table, computed: Callable[[Look, Target], Computed]) -> Result:
    """Write rows that are computed without the rows of the table. They are computed again when its columns have changed."""
    table, options = session.open(entry), session.write_options(entry)

    def attempt(dataset: HoodieDataset) -> Result:
        rows, operation, *_ = computed(Look.at(dataset), Target(node, dataset.schema, dataset.state.properties))
        hooks = WriteHooks(on_begin=partial(_refuse_altered, dataset.state))
        return write_message(rows.write(table, operation, options, hooks=hooks))

    return _repeated(table, options, attempt)


def _repeated(table: HoodieTable, options: dict[str, str], attempt: Callable[[HoodieDataset], Result]) -> Result:
    """The result of an attempt on the table as it is. Raises what it raises when others have changed the table every time."""
    rounds = max(_ROUNDS, resolve(select_keys(options, [CONFLICT_RETRIES]), [CONFLICT_RETRIES])[CONFLICT_RETRIES])
    while True:
        try:
            return attempt(HoodieDataset(table))
        except (StaleRowsError, StaleSnapshotError) as error:
            rounds -= 1
            if not rounds:
                raise
            _log.info("Asked again: %s", error)


def _refuse_altered(then: TableState, now: TableState) -> None:
    """Raises StaleRowsError when the columns, by name or by id, are no more those of which the statement was made."""
    if row_commits(then) != row_commits(now) and _columns(then) != _columns(now):
        raise StaleRowsError(
            f"The columns of table {now.storage.base_path} were changed while a statement looked at them",
            found=f"columns {', '.join((table_schema(now) or pa.schema([])).names)}",
            fix="run the statement again",
        )


def _columns(state: TableState) -> tuple[object, ...]:
    return table_schema(state), *(schema.columns for schema in state.schemas[-1:])


def _refuse_doubles(keyed: Rows, keys: RowKeys) -> None:
    doubled = keyed.doubled(keys.names)
    if doubled is not None:
        first = ", ".join(f"{name}={doubled.first[name]!r:.50}" for name in keys.columns)
        raise SqlError(
            f"Several rows are for one row of the table: {first}",
            found=f"{doubled.count} such keys",
            fix="leave one row of each key in the source, such as by row_number() … = 1, or, where the table itself has several, "
            "by INSERT OVERWRITE; nothing was written",
        )


def write_message(result: WriteResult) -> Result:
    rows = f"{result.rows_inserted} inserted, {result.rows_updated} updated, {result.rows_deleted} deleted"
    if result.metadata.replaced:  # their rows are not counted
        rows += f"; {counted(result.groups_replaced, 'file group')} replaced"
    return Result.of_message(f"commit {result.instant.time}: rows {rows}", result.services)
