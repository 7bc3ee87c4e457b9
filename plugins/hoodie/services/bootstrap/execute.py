"""Bootstrap: a table of plain Parquet or ORC files becomes a Hudi table (format notes, section 10).

METADATA_ONLY leaves the rows where they are and writes skeleton files and an index of where the rows are; FULL_RECORD copies
them. The source is never written.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from hoodie.clock import Clock
from hoodie.config.keys import bootstrap as keys
from hoodie.config.keys.write import WRITE_KEYS
from hoodie.config.operations import operation_named
from hoodie.engine.base import Engine
from hoodie.engine.pack import packed
from hoodie.errors import SourceError
from hoodie.formats.bootstrap_index import (
    BootstrapFile,
    BootstrapIndex,
    SourceFile,
    delete_bootstrap_index,
    write_bootstrap_index,
)
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.time import Time
from hoodie.schema import top_level
from hoodie.services.bootstrap.plan import BootstrapPlan
from hoodie.services.bootstrap.preflight import preflight
from hoodie.services.bootstrap.recovery import TIMES, already_done, check_same, check_untouched, delete_all_markers
from hoodie.services.bootstrap.request import BootstrapRequest
from hoodie.services.bootstrap.skeleton import SkeletonTask, WriteSkeletons, skeleton_context
from hoodie.services.bootstrap.source import check_unchanged
from hoodie.transaction.change import Change
from hoodie.transaction.create import create_table
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.locks import Locking
from hoodie.transaction.marker_options import MarkerOptions
from hoodie.transaction.transaction import Transaction, transaction
from hoodie.view import StorageFiles, TableState
from hoodie.write.placement import new_file_id
from hoodie.write.plan import commit_action, plan_write, write_context
from hoodie.write.worker.bulk import BulkInsert
from hoodie.write.worker.context import WriteContext

_SKELETON_ROWS = 1_000_000  # rows per task, about a second


@dataclass(frozen=True)
class BootstrapResult:
    """The commits of a bootstrap, the skeletons first. `repeated`: an earlier run had done all of it."""

    plan: BootstrapPlan
    commits: tuple[CommitMetadata, ...] = field(repr=False)
    instant: Time | None  # the last one
    repeated: bool = False

    @property
    def files_written(self) -> int:
        return sum(len(commit.stats) for commit in self.commits)

    @property
    def bytes_written(self) -> int:
        return sum(commit.bytes_written for commit in self.commits)

    @property
    def rows(self) -> int:
        return sum(commit.rows_written for commit in self.commits)


def run_bootstrap(request: BootstrapRequest, clock: Clock, engine: Engine) -> BootstrapResult:
    """Preflight, then create the table and fill it. Both modes become visible one right after the other, or not at all.

    Safe to kill at any point: the next run (or any other write) removes the files written so far and starts again. A table that
    the same bootstrap has made already is left as it is. Raises SourceError for problems of the preflight and for a source that
    changes during the run, TableExistsError for another table at the base path.
    """
    commits_before = already_done(request, clock)
    plan = preflight(request, engine)
    if plan.problems:
        more = f" and {len(plan.problems) - 1} more problems (see --explain)" if len(plan.problems) > 1 else ""
        raise SourceError(
            f"The source {plan.source} cannot be bootstrapped",
            found=plan.problems[0] + more,
            fix="correct it and run again; nothing was written",
        )
    modes = [mode for mode in TIMES if plan.of_mode(mode)]
    check_same(request, plan, commits_before or {})
    if commits_before is not None and set(commits_before) == {TIMES[mode] for mode in modes}:
        delete_all_markers(request.storage)
        return BootstrapResult(plan, tuple(commits_before.values()), max(commits_before), repeated=True)
    storage, options = request.storage, request.chosen
    if commits_before is None:
        create_table(storage, request.table, None, request.of_source)
    with transaction(storage, clock, "bootstrap", Locking.of(options), marking=MarkerOptions.of(options)) as tx:
        modes_left = [mode for mode in modes if TIMES[mode] not in tx.state.timeline.commit_times]
        check_untouched(tx.state)
        return _Run(request, plan, tx, clock, engine).execute(modes_left)


class _Run:
    """One attempt, under the lock."""

    def __init__(
        self, request: BootstrapRequest, plan: BootstrapPlan, tx: Transaction, clock: Clock, engine: Engine
    ) -> None:
        self._request = request
        self._options = request.chosen
        self._plan = plan
        self._tx = tx
        self._state = tx.state
        self._clock = clock
        self._engine = engine

    def execute(self, modes: Sequence[str]) -> BootstrapResult:
        state = self._state
        assert self._plan.schema is not None, "a plan without a schema has problems"
        write = plan_write(state, self._plan.schema, operation_named("bulk_insert"), self._options.among(WRITE_KEYS))
        changes: list[Change] = []
        for mode in modes:
            instant = self._tx.open(commit_action(state.properties), time=TIMES[mode])
            context = write_context(write, self._tx.writing(instant, self._engine))
            stats = self._skeletons(context) if mode == keys.METADATA_ONLY else self._copies(context)
            extra = {SCHEMA_KEY: write.commit_schema}
            changes.append(Change(instant, CommitMetadata("BOOTSTRAP", tuple(stats), extra)))
        _delete_strays(state, changes)
        check_unchanged(self._request.source, [file.info for file in self._plan.files])
        changes_committed = self._tx.commit(*changes)
        commits = tuple(change.metadata for change in changes_committed)
        return BootstrapResult(self._plan, commits, changes_committed[-1].instant.time if changes_committed else None)

    def _skeletons(self, writing: WriteContext) -> list[WriteStat]:
        """One skeleton for each file, then the index."""
        plan, storage = self._plan, self._state.storage
        files = plan.of_mode(keys.METADATA_ONLY)
        context = skeleton_context(writing)
        columns = top_level((*context.keys.fields, *context.paths.fields))
        splits = [split.narrowed(columns) for split in plan.splits(self._request.source, files, orc=False)]
        tasks = [
            SkeletonTask(number, str(uuid.uuid4()), file.folder, file.rows, split)
            for number, (file, split) in enumerate(zip(files, splits, strict=True))
        ]
        count = max(self._engine.parallelism, plan.rows // _SKELETON_ROWS)
        shares = packed(tasks, min(self._options[keys.PARALLELISM], count), lambda task: task.rows)
        stats = [stat for share in self._engine.map(WriteSkeletons(context), shares) for stat in share]
        delete_bootstrap_index(storage)
        write_bootstrap_index(storage, _index(plan.source, tasks, int(self._clock.now().timestamp() * 1000)))
        return stats

    def _copies(self, context: WriteContext) -> list[WriteStat]:
        files = self._plan.of_mode(keys.FULL_RECORD)
        orc = self._options[keys.SOURCE_FORMAT] == "ORC"
        splits = self._plan.splits(self._request.source, files, orc=orc)
        results = self._engine.map_input(BulkInsert(context, new_file_id), splits)
        return [stat for stats in results for stat in stats]


def _delete_strays(state: TableState, changes: Sequence[Change]) -> None:
    """Files of an earlier attempt whose tasks went on after its rollback: it had the same instants, before all others."""
    times = {change.instant.time for change in changes}
    written_paths = {path for change in changes for path in change.files}
    partitions = StorageFiles(state.storage).all()
    strays = {base.path for group in partitions for base in group.base_files if base.instant in times} - written_paths
    delete_data_files(state.storage, strays)


def _index(source: str, tasks: Sequence[SkeletonTask], now_ms: int) -> BootstrapIndex:
    files = []
    for task in tasks:
        info = task.source.info
        uri = f"{source}/{info.path}"
        status = SourceFile(uri if "://" in uri else f"file:{uri}", info.size, info.modified_ms, info.modified_ms)
        files.append(BootstrapFile(task.folder, task.file_id, task.folder, status))
    return BootstrapIndex(source, now_ms, tuple(files))
