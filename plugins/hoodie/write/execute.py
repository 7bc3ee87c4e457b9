"""Carrying out a write: requested, inflight, files, completed (format notes, section 11)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hoodie.config.key import Options
from hoodie.config.keys import concurrency as concurrency_keys
from hoodie.config.operations import Operation
from hoodie.display import Shown, Shows, counted
from hoodie.engine.stream_spool import OnceSplit
from hoodie.errors import (
    ArgumentError,
    HoodieError,
    MissingFileError,
    PendingInstantError,
    WriteConflictError,
    check_argument,
)
from hoodie.index.properties_match import refuse_suspect_properties
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata
from hoodie.model.outcome import ServiceOutcome
from hoodie.timeline import Action, Instant
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.conflicts import Conflict, conflict_error, find_conflict
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.transaction import Transaction, optimistic, transaction
from hoodie.transaction.virtual_keys import switch_on_virtual_keys
from hoodie.transaction.window import Window
from hoodie.view import TableState
from hoodie.view.access import TableAccess
from hoodie.view.missing_files import retried_when_missing
from hoodie.write.attempts import attempts
from hoodie.write.input import WriteInput
from hoodie.write.key_conflicts import refuse_same_buckets, refuse_same_keys
from hoodie.write.nesting import refuse_nested
from hoodie.write.overwrite import open_replacing
from hoodie.write.pipeline import Pipeline
from hoodie.write.plan import commit_action, plan_write, write_context

_log = logging.getLogger(__name__)


@dataclass(frozen=True, repr=False)
class WriteResult(Shows):
    """Result of a write. Rows and bytes are those of the files written, kept rows included; `rows_combined` are rows of the
    input that were dropped for others of their keys in it, `rows_known` those that an insert left out as the table has their
    keys."""

    instant: Instant
    metadata: CommitMetadata
    services: tuple[ServiceOutcome, ...] = ()  # that ran after the commit, as the options asked
    rows_combined: int = 0
    rows_known: int = 0

    def shown(self) -> Shown:
        """Its counts, and what became of the services after it."""
        rows = f"{self.rows_inserted:,} inserted, {self.rows_updated:,} updated, {self.rows_deleted:,} deleted"
        rows += f", {self.rows_combined:,} dropped for others of their keys" if self.rows_combined else ""
        rows += f", {self.rows_known:,} left out, as the table has their keys" if self.rows_known else ""
        files = f"{counted(self.files_written, 'file')}, {self.bytes_written:,} bytes"
        failed = [outcome.service for outcome in self.services if outcome.failed]
        after = f"; failed after it: {', '.join(failed)}" if failed else ""
        replaced = f"; {counted(self.groups_replaced, 'file group')} replaced" if self.metadata.replaced else ""
        line = f"WriteResult({self.instant.time} {self.metadata.operation}: rows {rows}; {files}{replaced}{after})"
        cells = [
            (service.service, "failed" if service.failed else "done", service.message) for service in self.services
        ]
        return Shown(line, columns=("service after it", "", "what it did"), rows=cells)

    @property
    def rows_inserted(self) -> int:
        """Rows whose key was not stored, and those that were added without asking."""
        return sum(stat.num_inserts for stat in self.metadata.stats)

    @property
    def rows_updated(self) -> int:
        """Rows that took the place of stored ones."""
        return sum(stat.num_updates for stat in self.metadata.stats)

    @property
    def rows_deleted(self) -> int:
        """Stored rows that were deleted."""
        return sum(stat.num_deletes for stat in self.metadata.stats)

    @property
    def files_written(self) -> int:
        """Base files and logs."""
        return len(self.metadata.stats)

    @property
    def groups_replaced(self) -> int:
        """File groups that an overwrite, or a drop of partitions, took out of the table. A clean deletes their files later."""
        return sum(map(len, self.metadata.replaced.values()))

    @property
    def bytes_written(self) -> int:
        """Sizes of these files together."""
        return self.metadata.bytes_written


@dataclass(frozen=True)
class WriteHooks:
    """Hooks of a caller in a write's transaction.

    `on_begin` gets the state under the lock, before anything is written; `on_combined` gets the number of rows that were dropped
    for others of their keys among them; `before_commit` returns more extra metadata when all files are written; `on_others` gets
    the state when others have committed since the write began, as they can under optimistic concurrency control. Each may
    raise: then the write leaves nothing behind. A write that lost against another and is planned again calls all of them again.
    `replaces` are partitions that an `insert_overwrite` takes out in addition to those of its rows.
    """

    on_begin: Callable[[TableState], None] = lambda state: None
    on_combined: Callable[[int], None] = lambda rows: None
    before_commit: Callable[[], Mapping[str, str]] = dict
    on_others: Callable[[TableState], None] = lambda state: None
    replaces: tuple[str, ...] = ()


def execute_write(
    access: TableAccess,
    write_rows: WriteInput,
    operation: Operation,
    options: Options,
    extra: Mapping[str, str],
    hooks: WriteHooks,
) -> WriteResult:
    """Write rows in one commit.

    `extra` goes into the commit's extra metadata. The commit is visible whole or not at all; a write that fails is rolled
    back at once, one that is killed at the start of the next. Under optimistic concurrency control one that lost against another
    writer is planned again, as often as the options say. Raises WriteConflictError then.
    """
    check_argument("hooks", hooks, "hoodie.write.execute.WriteHooks", WriteHooks)
    check_extra(extra)
    plan = retried_when_missing(plan_write)(
        access.state(), write_rows.schema, operation, options, write_rows.deletions
    )  # refuse before taking the lock
    write = _Write(access, write_rows, operation, options, extra, hooks, ConcurrencyOptions.of(plan.options))
    locking, marking = Locking.of(plan.options), MarkerOptions.of(plan.options)
    once = partial(write.attempt, locking, marking)
    return attempts(access, plan.options, once, readable_again=_readable_again(write_rows.rows))


def check_extra(extra: object) -> None:
    """Raises ArgumentError for extra metadata that no commit can hold."""
    if not isinstance(extra, Mapping) or not all(isinstance(text, str) for text in (*extra, *extra.values())):
        raise ArgumentError(
            "The extra metadata of a commit is not a mapping of text to text",
            found=f"{extra!r:.100}",
            fix="give a dict",
        )


@dataclass(frozen=True)
class _Write:
    access: TableAccess
    given: WriteInput
    operation: Operation
    options: Options
    extra: Mapping[str, str]
    hooks: WriteHooks
    sharing: ConcurrencyOptions

    def attempt(self, locking: Locking, marking: MarkerOptions) -> WriteResult:
        access, shared = self.access, self.sharing.optimistic
        begin = optimistic if shared else transaction
        with begin(access.storage, access.clock, self.operation.name, locking, self.sharing, marking) as tx:
            self.hooks.on_begin(tx.state)
            refuse_suspect_properties(tx.state)
            plan = plan_write(tx.state, self.given.schema, self.operation, self.options, self.given.deletions)
            for warning in plan.warnings:
                _log.warning("%s", warning)
            if plan.properties.virtual_keys:
                switch_on_virtual_keys(tx)
            instant = self._opened(tx, plan.operation)
            context = write_context(plan, tx.writing(instant, access.engine))
            look = (
                shared
                and plan.options[concurrency_keys.CHECK_NEW_KEYS]
                and bool(plan.properties.record_key_fields)
                and plan.operation.replaces is None  # else what others do in its partitions is a conflict anyway
                and not plan.bucketed  # else equal keys are in one bucket
            )
            pipeline = Pipeline(tx.state, plan, context, access.engine, look, self.hooks.replaces)
            try:
                written = pipeline.run(self.given.rows)
            except (MissingFileError, PendingInstantError) as error:
                raise self._taken_away(error, tx.state, instant) from error
            self.hooks.on_combined(written.rows_combined)
            if context.paths.may_nest:
                refuse_nested(access.storage, instant.time, {stat.partition for stat in written.stats})
            replaced = written.replaced
            metadata = CommitMetadata(self.operation.name.upper(), tuple(written.stats), self.extra, replaced.groups)

            def more() -> Mapping[str, str]:
                return {**self.hooks.before_commit(), SCHEMA_KEY: plan.commit_schema}  # last: a caller has no say in it

            def meets(meanwhile: Window) -> None:
                self.hooks.on_others(meanwhile.now)
                if plan.bucketed:
                    refuse_same_buckets(meanwhile, instant, written.touched.union(stat.group for stat in written.stats))
                if look:
                    refuse_same_keys(tx.state, meanwhile, instant, written, context)

            (change,) = tx.commit(Change(instant, metadata, more, written.touched, meets, replaced, plan.non_blocking))
            return WriteResult(
                change.instant, change.metadata, rows_combined=written.rows_combined, rows_known=written.rows_known
            )

    @staticmethod
    def _opened(tx: Transaction, operation: Operation) -> Instant:
        if operation.replaces is not None:
            return open_replacing(tx, operation)
        return tx.open(commit_action(tx.state.properties))

    def _taken_away(
        self, error: MissingFileError | PendingInstantError, start: TableState, own: Instant
    ) -> HoodieError:
        """A conflict with changes of others since the write began: its own instant rolled back, as by a restore, or a file
        deleted that it was reading, as a log of version 6 whose writer lost, or the plan of a service."""
        if not self.sharing.optimistic:
            return error
        now = self.access.state()
        if not any(i.key == own.key for i in now.timeline.pending):
            conflict = find_conflict(Change(own, CommitMetadata(self.operation.name.upper())), Window(start, now))
            return conflict_error(now, own, conflict) if conflict is not None else error
        undoes = next((i for i in now.timeline.pending if i.action in (Action.ROLLBACK, Action.RESTORE)), None)
        if isinstance(error, PendingInstantError) and undoes is not None:
            return conflict_error(now, own, Conflict("it was being taken back at that time", undoes))
        then, since = ({i for i in state.timeline if i.key != own.key} for state in (start, now))
        if isinstance(error, PendingInstantError) or then == since:
            return error
        return WriteConflictError(
            f"A file that a write of table {start.storage.base_path} was reading has been taken away by another",
            found=error.what,
            fix="nothing of this write is left; run it again. If it is missing then, too, it is lost: the error will say so",
        )


def _readable_again(rows: Any) -> bool:
    """Not so a stream whose rows are handed on as they come."""
    return not (isinstance(rows, Sequence) and any(isinstance(split, OnceSplit) for split in rows))
