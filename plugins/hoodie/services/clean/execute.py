"""The cleaner: removes file slices that no retained view of the table needs."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hoodie.clock import Clock
from hoodie.config.key import resolve
from hoodie.config.keys.bootstrap import SOURCE
from hoodie.config.keys.clean import CLEAN_KEYS
from hoodie.config.options import RawOptions
from hoodie.display import Shown, Shows, counted
from hoodie.engine.base import Engine
from hoodie.errors import CorruptTableError, DeleteCapError, HoodieError, MissingFileError, UnsafeDeleteError
from hoodie.formats.bootstrap_index import read_bootstrap_index
from hoodie.model.clean import CleanPlan, CleanResult
from hoodie.model.time import BEGINNING, Time
from hoodie.services.clean.plan import GRACE_UNTIL, decide_clean
from hoodie.services.decision import Decision
from hoodie.services.guard import Caps
from hoodie.storage import open_storage
from hoodie.storage.base import Storage
from hoodie.timeline import Action, Instant, State
from hoodie.timeline.codecs.clean import decode_clean_plan, encode_clean_plan, encode_clean_result
from hoodie.transaction import instants
from hoodie.transaction.approvals import keep_approval, read_approval
from hoodie.transaction.audit import Audited, AuditedFile, audited
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.guard import (
    check_data_files,
    check_source_files,
    delete_data_file,
    delete_source_file,
    relative_path,
)
from hoodie.transaction.locks import Locking, ensure_held
from hoodie.transaction.locks.owner import user_name
from hoodie.transaction.recovery import recovered
from hoodie.transaction.transaction import transaction
from hoodie.transaction.trash import TrashFolder, purge, set_aside, until_of
from hoodie.view import TableState, TableView
from hoodie.view.access import TableAccess

_BATCH = 256  # files that one task deletes
_ROUND = 4  # tasks of a thread between two looks whether the lock still is held


@dataclass(frozen=True, repr=False)
class CleanRun(Shows):
    """Result of the cleaner: interrupted cleans that were finished, and the new one."""

    decision: Decision[CleanPlan]
    results: tuple[CleanResult, ...]

    def shown(self) -> Shown:
        """How many files went, from which partitions."""
        line = f"CleanRun({counted(self.files_deleted, 'file')} deleted; {self.decision.reason})"
        rows = [
            (result.start, path, len(names))
            for result in self.results
            for path, names in sorted(result.deleted.items())
        ]
        return Shown(line, columns=("clean", "partition", "files deleted"), rows=rows)

    @property
    def files_deleted(self) -> int:
        return sum(len(names) for result in self.results for names in result.deleted.values())


def run_clean(
    access: TableAccess, options: RawOptions, *, agreed: str | None = None, only: str | None = None
) -> CleanRun:
    """Finish cleans that were interrupted, then plan and run a new one.

    Safe to kill at any point: the plan is on the timeline before the first delete, and the next run executes it. A file that is
    gone already counts as deleted: a clean that was killed runs its plan again.

    Raises what `decide_clean` raises, LockHeldError, DeleteCapError (unless `agreed` is the digest of the plan, or of a plan that
    a run has submitted for approval and beyond which it deletes no more than a run may without approval), PlanChangedError if
    `only` is the digest of another plan, and HoodieError when files cannot be deleted; the clean then stays pending.
    """
    resolved = resolve(options, CLEAN_KEYS)
    locking, sharing = Locking.of(resolved), ConcurrencyOptions.of(resolved)
    access.state()  # refuse before taking the lock
    with transaction(access.storage, access.clock, "clean", locking, sharing) as tx:
        pending = _pending(tx.state)
        results = finish_cleans(tx.state, access.clock, access.engine)
        if pending:
            tx.refresh()
        decision = decide_clean(tx.state, options, access.clock)
        decision.only("clean", access.storage.base_path, only)
        plan = _allowed(decision, access, agreed, Caps.of(resolved))
        if plan is not None:
            requested = tx.request(Action.CLEAN, encode_clean_plan(plan, access.storage.base_path))
            results.append(execute_clean(tx.state, requested, plan, access.clock, access.engine))
        purge(access.storage, access.clock)
        return CleanRun(decision, tuple(results))


def _allowed(decision: Decision[CleanPlan], access: TableAccess, agreed: str | None, caps: Caps) -> CleanPlan | None:
    """The plan, also if writers have gone on since it was `agreed` to: a run may delete the difference without approval.

    Raises DeleteCapError, and keeps what was asked.
    """
    try:
        return decision.allowed("clean", access.storage.base_path, agreed=agreed)
    except DeleteCapError:
        if agreed and decision.few_more_than(agreed, read_approval(access.storage, agreed), caps):
            return decision.plan
        keep_approval(access.storage, access.clock, decision.digest, decision.marks)
        raise


def finish_cleans(state: TableState, clock: Clock, engine: Engine) -> list[CleanResult]:
    """Carry out the plans of cleans that were cut short. Call it under the lock; load the state again when there were some.

    Raises what `execute_clean` raises, and MissingFileError for one that has begun and whose plan cannot be read.
    """
    finished = [_finish(state, pending, clock, engine) for pending in _pending(state)]
    return [result for result in finished if result is not None]


def execute_clean(state: TableState, instant: Instant, plan: CleanPlan, clock: Clock, engine: Engine) -> CleanResult:
    """Carry out a requested clean. Safe to repeat. Call it under the lock.

    Raises UnsafeDeleteError, before anything is deleted, for a plan that names what it may not.
    """
    start = clock.now()
    audit = {"bytes_deleted": str(plan.bytes), "cleaned_by": f"{user_name()}@{socket.gethostname()}"}
    paths, aside = [file.path for file in plan.files], _aside(instant, plan)
    check_data_files(state.storage, paths)
    source = _source(state, plan)
    inflight = state.layout.clean_inflight_body(encode_clean_plan(plan, state.storage.base_path))
    with audited(state.storage, clock, _audited(state, instant, plan), _audited_files(plan)):
        instants.start(state, instant, inflight)
        problems = _delete(DeleteFiles(state.storage, frozenset(paths), aside=aside), paths, engine)
        if not problems and source is not None:  # a reader must not find a skeleton without its source
            uris = [file.path for file in plan.sources]
            problems = _delete(DeleteFiles(source, frozenset(uris), sources=True), uris, engine)
        if problems:
            raise HoodieError(
                f"Clean {instant.time} of table {state.storage.base_path} could not delete {len(problems)} of {len(paths)} files",
                found=problems[0],
                fix="remove the cause; the next clean continues",
            )
    state.storage.sweep(sorted({file.partition for file in plan.files}))
    result = clean_result(instant.time, plan, int((clock.now() - start).total_seconds() * 1000), audit)
    instants.complete(state, instant, encode_clean_result(result), clock)
    return result


def _aside(instant: Instant, plan: CleanPlan) -> TrashFolder | None:
    """The folder in which the plan sets its files aside; None when it deletes them."""
    text = plan.extra.get(GRACE_UNTIL)
    until = until_of(text) if text is not None else None
    if text is not None and until is None:
        raise CorruptTableError(
            f"The plan of clean {instant.time} says no time until which its files are kept",
            found=f"{GRACE_UNTIL}={text!r:.100}",
            fix="nothing was deleted; find the writer of the clean plan",
        )
    return TrashFolder(instant.time, until) if until is not None else None


def _audited(state: TableState, instant: Instant, plan: CleanPlan) -> Audited:
    earliest = f", earliest commit to retain {plan.earliest_to_retain}" if plan.earliest_to_retain else ""
    requested = state.layout.requested_path(instant.time, instant.action)
    return Audited(instant.time, str(instant.action), f"policy {plan.policy}{earliest}", requested)


def _audited_files(plan: CleanPlan) -> list[AuditedFile]:
    return [AuditedFile(file.path, file.size or None, file.reason) for file in (*plan.files, *plan.sources)]


def _source(state: TableState, plan: CleanPlan) -> Storage | None:
    """The plain table whose files the plan names; None when it names none.

    Raises UnsafeDeleteError for a file that the bootstrap index does not name, or that lies in the table itself.
    """
    if not plan.sources:
        return None
    base = state.properties.raw.get(SOURCE.name)
    try:
        index = read_bootstrap_index(state.storage, sorted({file.partition for file in plan.sources}))
    except FileNotFoundError:
        index = None
    if base is None or index is None:
        raise UnsafeDeleteError(
            f"Refused to delete {plan.sources[0].path!r} as a source file of table {state.storage.base_path}",
            found=f"the table has no {SOURCE.name}, or no bootstrap index",
            fix="nothing was deleted; find the writer of the clean plan",
        )
    source = open_storage(base)
    check_source_files(source, state.storage, [f.path for f in plan.sources], {f.source.uri for f in index.files})
    return source


def _delete(task: DeleteFiles, paths: Sequence[str], engine: Engine) -> list[str]:
    """Raises LockLostError: while a clean was stopped for long others may have made current what it planned to delete."""
    batches = [paths[start : start + _BATCH] for start in range(0, len(paths), _BATCH)]
    at_once = _ROUND * engine.parallelism
    problems: list[str] = []
    for start in range(0, len(batches), at_once):
        ensure_held()
        problems += itertools.chain.from_iterable(engine.map(task, batches[start : start + at_once]))
    return problems


@dataclass(frozen=True)
class DeleteFiles:
    """Task function: deletes planned files, of the table or of its source, or sets them aside; returns what went wrong, one line
    a file."""

    storage: Storage
    allowed: frozenset[str]
    sources: bool = False
    aside: TrashFolder | None = None

    def __call__(self, paths: Sequence[str]) -> list[str]:
        problems = []
        for path in paths:
            try:
                if self.aside is not None:
                    set_aside(self.storage, self.aside, path, self.allowed)
                else:
                    (delete_source_file if self.sources else delete_data_file)(self.storage, path, self.allowed)
            except OSError as error:
                problems.append(f"{path}: {error}")
        return problems


def clean_result(time: Time, plan: CleanPlan, millis: int, audit: Mapping[str, str]) -> CleanResult:
    """Metadata of a completed clean: its files, and in `audit` the bytes and the deleter, for later questions."""
    deleted: dict[str, list[str]] = {}
    for file in plan.files:
        deleted.setdefault(file.partition, []).append(file.path.rpartition("/")[2])
    sources: dict[str, list[str]] = {}
    for file in plan.sources:
        sources.setdefault(file.partition, []).append(file.path)
    return CleanResult(
        start=time,
        millis=millis,
        policy=plan.policy,
        earliest_to_retain=plan.earliest_to_retain or BEGINNING,
        last_completed=plan.last_completed,
        deleted={partition: tuple(names) for partition, names in sorted(deleted.items())},
        extra={**plan.extra, **audit},
        sources={partition: tuple(uris) for partition, uris in sorted(sources.items())},
    )


def _pending(state: TableState) -> list[Instant]:
    return [instant for instant in state.timeline.pending if instant.action is Action.CLEAN]


def _finish(state: TableState, pending: Instant, clock: Clock, engine: Engine) -> CleanResult | None:
    """Carry out the plan of an interrupted clean; one whose plan cannot be read never acted and is dropped."""
    path = state.layout.requested_path(pending.time, pending.action)
    try:
        plan = decode_clean_plan(
            state.storage.read(path), path, lambda file: relative_path(state.storage.base_path, file)
        )
    except (FileNotFoundError, CorruptTableError) as error:
        if pending.state is State.INFLIGHT:
            raise MissingFileError(
                f"The plan of the interrupted clean {pending.time} cannot be read",
                found=f"{path}: {error}",
                fix="restore the file; without it the files of that clean are unknown",
            ) from error
        state.storage.delete(path)
        return None
    _check_not_current(state, plan, path)
    result = execute_clean(state, pending, plan, clock, engine)
    recovered(f"ended clean {pending.time}, which was cut short")
    return result


def _check_not_current(state: TableState, plan: CleanPlan, path: str) -> None:
    """Raises UnsafeDeleteError when an older plan names a current file: what superseded it may have been rolled back."""
    planned = {file.path for file in plan.files}
    check_data_files(state.storage, planned)
    partitions = sorted({path.rpartition("/")[0] for path in planned})
    current = {path for file_slice in TableView(state, partitions).slices for path in file_slice.paths}
    named = sorted(planned & current)
    if named:
        raise UnsafeDeleteError(
            f"Refused to finish the interrupted clean of table {state.storage.base_path} that {path} plans",
            found=f"{named[0]}, which it would delete, is one of today's files",
            fix=f"nothing was deleted; if a commit was rolled back since, remove {path} and its .inflight, and clean again",
        )
