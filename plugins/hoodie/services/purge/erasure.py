"""Carrying out a purge: delete, rewrite, clean, and search again. Each step takes the table's lock by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from hoodie.config.groups import SAVEPOINT_OPTIONS, WRITE_OPTIONS
from hoodie.config.key import Options
from hoodie.config.keys.compaction import COMPACTION_KEYS
from hoodie.config.keys.concurrency import MODE, NON_BLOCKING, OPTIMISTIC
from hoodie.config.operations import operation_named
from hoodie.config.options import options_for
from hoodie.display import Shown, Shows, counted
from hoodie.errors import PendingInstantError, StaleRowsError
from hoodie.model.clean import CleanFile, CleanPlan
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata
from hoodie.model.compaction import CompactionPlan
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.time import BEGINNING, Time
from hoodie.schema import arrow_to_avro
from hoodie.services.clean.execute import execute_clean, finish_cleans
from hoodie.services.clean.plan import CONSUMER_FROM, SAVEPOINTS, last_clean
from hoodie.services.clean.retention import KEEP_COMMITS
from hoodie.services.compaction.execute import execute_compaction
from hoodie.services.compaction.task import CompactSlice
from hoodie.services.decision import Decision
from hoodie.services.purge import journal
from hoodie.services.purge.leftovers import keep_leftovers
from hoodie.services.purge.plan import PurgePlan, current_rows, decision_of, find, plan_of
from hoodie.services.purge.removal import Wish, removal_of, savepoints_of
from hoodie.services.purge.search import SearchResult, in_table, search
from hoodie.services.purge.subject import Subject
from hoodie.services.rewrite.blockers import being_written
from hoodie.services.rewrite.plan import planned_operation
from hoodie.services.savepoint.execute import delete_savepoint
from hoodie.timeline import Action, format_time
from hoodie.timeline.codecs.clean import encode_clean_plan
from hoodie.timeline.codecs.compaction import encode_compaction_plan
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.change import Change
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import delete_copy
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.transaction import Transaction, transaction
from hoodie.view import TableState, TableView, compaction_plan
from hoodie.view.access import TableAccess
from hoodie.view.table_schema import table_schema
from hoodie.write.execute import WriteHooks, execute_write
from hoodie.write.input import write_input
from hoodie.write.staleness import refuse_stale

_OPERATION = "COMPACT"  # readers of changes pass over a commit of this operation
_READINGS = 10  # readings of the rows to delete, while others change the table
PURGE = "hoodie.purge"  # a key of ours in the extra metadata of a compaction plan: the digest of the condition


@dataclass(frozen=True, repr=False)
class PurgeRun(Shows):
    """Result of a purge: the rows that were deleted, and what a search of every file then still finds (`remaining`)."""

    decision: Decision[PurgePlan]
    remaining: PurgePlan
    rows: int = 0

    @property
    def is_erased(self) -> bool:
        """Return whether no file under the table holds the rows."""
        remaining = self.remaining
        return remaining.is_done and not (remaining.removal.held_files or remaining.unhandled)

    def shown(self) -> Shown:
        """The counts, and what is left."""
        rows = [(file.path, file.bytes, file.by) for file in self.remaining.removal.held_files]
        rows += [(trace.path, trace.size, trace.contents) for trace in self.remaining.unhandled]
        verdict = (
            "no file holds them" if self.is_erased else f"{counted(len(rows), 'file')} left with something of them"
        )
        line = f"PurgeRun({counted(self.rows, 'row')} deleted; {verdict})"
        return Shown(line, columns=("path", "bytes", "left"), rows=rows)


@dataclass(frozen=True)
class Erasure:
    """One run of a purge."""

    access: TableAccess
    wish: Wish
    options: Options
    elsewhere: Callable[[Subject], object]  # erases copies outside the table

    def run(self, agreed: str | None) -> PurgeRun:
        """Decide, and erase. Safe to kill at any point: the same call goes on. `agreed` is the digest of a plan that a user has
        approved.

        Raises DeleteCapError, LockHeldError, and what `plan_of` and the steps raise.
        """
        access = self.access
        result = find(access.state(), self.wish, access.engine)
        plan = self._planned(result)
        decision = decision_of(access.state(), plan, result.traces, self.options)
        if decision.allowed("purge", access.storage.base_path, agreed=agreed) is None:
            self.elsewhere(plan.subject)
            return self._ended(PurgeRun(decision, plan))
        journal.keep_keys(access.storage, plan.subject)
        record = audited(access.storage, access.clock, self._audited(plan), _files(decision), also_without=True)
        with record as outcome:
            self.elsewhere(plan.subject)
            rows = self._erase(plan, {trace.path for trace in in_table(result.traces)})
            remaining = self._planned(search(access.state(), plan.subject, access.engine, result.clean))
            run = PurgeRun(decision, remaining, rows)
            outcome["rows_deleted"], outcome["erased"] = rows, run.is_erased
            outcome["held"], outcome["left"] = len(remaining.removal.held_files), len(remaining.unhandled)
        return self._ended(run)

    def _ended(self, run: PurgeRun) -> PurgeRun:
        """The keys of what is not erased yet stay: the next run could not know them from rows that are gone."""
        storage, remaining = self.access.storage, run.remaining
        if run.is_erased:
            journal.drop_keys(storage, remaining.subject)
        else:
            held_files, left = remaining.removal.held_files, len(remaining.unhandled)
            now, came_back = self.access.clock.now(), not remaining.is_done
            keep_leftovers(storage, remaining.subject.digest, now, held_files, left, came_back=came_back)
        return run

    def _planned(self, result: SearchResult) -> PurgePlan:
        state, clock, engine = self.access.state(), self.access.clock, self.access.engine
        return plan_of(state, result.subject, result.traces, self.wish, self.options, clock, engine)

    def _audited(self, plan: PurgePlan) -> Audited:
        state = self.access.state()
        counts = f"{counted(plan.rows, 'row')} in the table, {counted(plan.subject.key_count, 'key')} in all files"
        why = f"purge of the rows of a condition with SHA-256 {plan.subject.digest}: {counts}"
        return Audited(format_time(self.access.clock.now(), state.zone), "purge", why, plan.subject.digest)

    def _erase(self, plan: PurgePlan, paths: Collection[str]) -> int:
        """Delete the rows, rewrite the file groups that hold them, and remove old files. Returns the deleted rows."""
        self._finish_compactions(plan.subject)
        if self.wish.delete_savepoints:
            self._delete_savepoints(paths)
        rows = self._delete_rows(plan.subject)
        groups = frozenset(file_slice.group for file_slice in plan.rewritten)
        if groups:
            self._rewrite(plan.subject, groups)
        self._clean(plan.groups, paths)
        for trace in plan.copies:
            delete_copy(self.access.storage, trace.path)
        return rows

    def _transaction(self, purpose: str) -> AbstractContextManager[Transaction]:
        access, options = self.access, self.options
        locking, sharing, marking = Locking.of(options), ConcurrencyOptions.of(options), MarkerOptions.of(options)
        return transaction(access.storage, access.clock, purpose, locking, sharing, marking)

    def _finish_compactions(self, subject: Subject) -> None:
        """Carry out the plans that a killed run of this purge has left."""
        state = self.access.state()
        for instant in state.timeline.pending:
            if (
                instant.action is Action.COMPACTION
                and compaction_plan(state, instant).extra.get(PURGE) == subject.digest
            ):
                self._compact(instant.time)

    def _delete_savepoints(self, paths: Collection[str]) -> None:
        for savepoint in savepoints_of(TableView(self.access.state()), paths):
            delete_savepoint(self.access, savepoint.instant, self.options.among(SAVEPOINT_OPTIONS.keys))

    def _delete_rows(self, subject: Subject) -> int:
        for tries_left in reversed(range(_READINGS)):
            try:
                return self._delete_rows_of(self.access.state(), subject)
            except StaleRowsError:
                if not tries_left:
                    raise
        raise AssertionError("the last reading returns or raises")

    def _delete_rows_of(self, state: TableState, subject: Subject) -> int:
        """Delete the rows of a state. Raises StaleRowsError when others have changed the table since: a key may have another row
        by now, which does not meet the condition."""
        rows = current_rows(state, subject, self.access.engine)
        if not rows.num_rows:
            return 0
        delete, options = operation_named("delete"), options_for(self.options, WRITE_OPTIONS)
        if options[MODE] == NON_BLOCKING:  # it would hide what others write at the same time
            options = options.with_value(MODE, OPTIMISTIC.lower())
        hooks = WriteHooks(on_begin=partial(refuse_stale, state))
        with write_input(self.access, rows, None, delete, options) as deletions:
            execute_write(self.access, deletions, delete, options, {}, hooks)
        return int(rows.num_rows)

    def _rewrite(self, subject: Subject, groups: Collection[GroupId]) -> None:
        if self.access.state().properties.is_merge_on_read:
            self._compact_groups(subject, groups)
        else:
            self._rewrite_groups(groups)

    def _compact_groups(self, subject: Subject, groups: Collection[GroupId]) -> None:
        with self._transaction("schedule purge") as tx:
            slices = _free(TableView(tx.state), groups)
            if not tx.state.layout.logs_tell_writer:
                written = being_written(tx.state, self.access.clock, ConcurrencyOptions.of(self.options))
                slices = [file_slice for file_slice in slices if file_slice.group not in written]
            if not slices:
                return
            plan = CompactionPlan(tuple(map(planned_operation, slices)), {PURGE: subject.digest})
            action = tx.state.layout.requested_as(Action.COMPACTION)
            instant = tx.request(action, encode_compaction_plan(plan))
        self._compact(instant.time)

    def _compact(self, time: Time) -> None:
        execute_compaction(self.access, time, self.options.among(COMPACTION_KEYS), new_index=True)

    def _rewrite_groups(self, groups: Collection[GroupId]) -> None:
        """Write the files of a copy-on-write table again, as a compaction does: no row changes."""
        with self._transaction("purge") as tx:
            slices = _free(TableView(tx.state), groups)
            if not slices:
                return
            instant = tx.open(Action.COMMIT, operation=_OPERATION)
            schema = table_schema(tx.state)
            assert schema is not None, "a table with file groups has commits"
            writing = tx.writing(instant, self.access.engine)
            task = replace(CompactSlice.of(tx.state, schema, writing, self.options), new_index=True)
            sizes = [file_slice.size for file_slice in slices]
            stats = tuple(self.access.engine.map(task, list(enumerate(slices)), sizes))
            extra = {SCHEMA_KEY: arrow_to_avro(schema, tx.state.properties.name)}
            tx.commit(Change(instant, CommitMetadata(_OPERATION, stats, extra, compacted=True)))

    def _clean(self, groups: Collection[GroupId], paths: Collection[str]) -> None:
        access = self.access
        with self._transaction("clean") as tx:
            if finish_cleans(tx.state, access.clock, access.engine):
                tx.refresh()
            # A savepoint that is there now was made during this run: its files stay until it is deleted, too.
            wish = replace(self.wish, delete_savepoints=False)
            removal = removal_of(TableView(tx.state), groups, paths, wish, self.options, access.clock)
            if removal.files:
                plan = _clean_plan(tx.state, removal.files)
                requested = tx.request(Action.CLEAN, encode_clean_plan(plan, access.storage.base_path))
                execute_clean(tx.state, requested, plan, access.clock, access.engine)


def _free(view: TableView, groups: Collection[GroupId]) -> list[FileSlice]:
    """The current slices of the groups. Raises PendingInstantError for one that a plan is to change."""
    slices = [file_slice for file_slice in view.latest() if file_slice.group in groups]
    busy = view.busy.holders
    holder = next((busy[file_slice.group] for file_slice in slices if file_slice.group in busy), None)
    if holder is not None:
        raise PendingInstantError(
            f"A purge of table {view.state.storage.base_path} cannot rewrite file groups that another plan is to change",
            found=f"{holder.action} {holder.time}, which is not carried out",
            fix="carry it out with `hudi-services compact` or `hudi-services cluster`, then purge again",
        )
    return slices


def _clean_plan(state: TableState, files: tuple[CleanFile, ...]) -> CleanPlan:
    """The plan of a clean that removes these files. The last clean's watermarks go on: this one looked at no other partition."""
    last, last_commit = last_clean(state), state.timeline.last_commit
    if last is None:
        time = last_commit.time if last_commit is not None else BEGINNING
        return CleanPlan(KEEP_COMMITS, files, None, None, time)
    extra = {name: value for name, value in last.extra.items() if name in (SAVEPOINTS, CONSUMER_FROM)}
    return CleanPlan(last.policy, files, last.earliest_to_retain or None, None, last.last_completed, extra)


def _files(decision: Decision[PurgePlan]) -> list[AuditedFile]:
    return [AuditedFile(item.path, item.bytes, item.reason) for item in decision.items or ()]
