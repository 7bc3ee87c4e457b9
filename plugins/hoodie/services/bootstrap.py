"""Bootstrap: a table of plain Parquet or ORC files becomes a Hudi table (format notes, section 10).

METADATA_ONLY leaves the rows where they are and writes skeleton files and an index of where the rows are; FULL_RECORD copies
them. The source is never written.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from hoodie.clock import Clock
from hoodie.config import bootstrap_keys as keys
from hoodie.config.create import new_table_properties
from hoodie.config.key import Options, resolve
from hoodie.config.store import PROPERTIES
from hoodie.config.table import TableProperties
from hoodie.config.table_keys import CREATE_KEYS
from hoodie.config.write_keys import LOCK_WAIT_MS, WRITE_KEYS
from hoodie.engine.base import Engine
from hoodie.engine.pack import packed
from hoodie.errors import HUDI_ROLLBACK, ConfigError, HoodieError, SourceError, TableExistsError
from hoodie.formats.bootstrap_index import (
    BootstrapFile,
    BootstrapIndex,
    SourceFile,
    delete_bootstrap_index,
    write_bootstrap_index,
)
from hoodie.formats.key_index import footer_bytes
from hoodie.keygen import key_generator
from hoodie.model.commit import SCHEMA_KEY, CommitMetadata, WriteStat
from hoodie.model.names import FULL_BOOTSTRAP, METADATA_BOOTSTRAP
from hoodie.schema import top_level
from hoodie.services.bootstrap_check import find_duplicates
from hoodie.services.bootstrap_plan import BootstrapPlan, plan_bootstrap
from hoodie.services.bootstrap_skeleton import SkeletonTask, WriteSkeletons, skeleton_context
from hoodie.services.bootstrap_source import check_unchanged, list_source, read_footers
from hoodie.storage import open_storage
from hoodie.storage.base import Storage
from hoodie.transaction.create import create_table
from hoodie.transaction.guard import delete_data_files
from hoodie.transaction.reconcile import after_completion, delete_markers
from hoodie.transaction.transaction import Change, Transaction, transaction
from hoodie.view import StorageFiles, TableState, load_state
from hoodie.write.placement import new_file_id
from hoodie.write.plan import base_file_options, commit_action, plan_write, write_context
from hoodie.write.worker.bulk import BulkInsert
from hoodie.write.worker.context import WriteContext

_SKELETON_ROWS = 1_000_000  # of a task, about a second
_TIMES = {keys.METADATA_ONLY: METADATA_BOOTSTRAP, keys.FULL_RECORD: FULL_BOOTSTRAP}


@dataclass(frozen=True)
class BootstrapRequest:
    """A bootstrap as it is asked for: `table` are options of the new table, `options` those of `config.bootstrap_keys`."""

    base_path: str | Storage
    table: Mapping[str, object]
    options: Mapping[str, object]

    @property
    def storage(self) -> Storage:
        return open_storage(self.base_path) if isinstance(self.base_path, str) else self.base_path

    @property
    def chosen(self) -> Options:
        return resolve(self.options, keys.BOOTSTRAP_KEYS)

    @property
    def source(self) -> Storage:
        return open_storage(self.chosen[keys.SOURCE])

    @property
    def properties(self) -> TableProperties:
        return new_table_properties(resolve(self.table, CREATE_KEYS))


@dataclass(frozen=True)
class BootstrapResult:
    """What was committed, the skeletons first. `repeated` means that an earlier run had done all of it."""

    plan: BootstrapPlan
    commits: tuple[CommitMetadata, ...] = field(repr=False)
    instant: str | None  # the last one
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


def preflight(request: BootstrapRequest, engine: Engine) -> BootstrapPlan:
    """Look at the source: footers, and the keys as `hoodie.bootstrap.check.keys` says. Writes nothing.

    What stands in the way of a bootstrap is among the plan's problems. Raises SourceError when there is no plan to make: a
    source that is a Hudi table, has no files, or is being written to; ConfigError for options that cannot be.
    """
    options, properties, source = request.chosen, request.properties, request.source
    _check_places(source.base_path, request.storage.base_path)
    orc = options[keys.SOURCE_FORMAT] == "ORC"
    files = list_source(source)
    record_keys, paths = key_generator(properties)
    named = [*record_keys.fields, *paths.fields]
    footers = read_footers(source, files, named, orc, engine, options[keys.PARALLELISM])
    bloom_bytes = partial(footer_bytes, options=base_file_options(options, properties))
    plan = plan_bootstrap(source.base_path, footers, properties, options, bloom_bytes)
    if not plan.problems and options[keys.CHECK_KEYS] != "NONE":
        sample = options[keys.CHECK_KEYS] == "SAMPLE"
        splits = plan.splits(source, plan.files, orc=orc)
        try:
            found = find_duplicates(splits, record_keys, paths, plan.rows, sample, engine)
        except HoodieError as error:
            plan = replace(plan, problems=(str(error),))
        else:
            if found.keys:
                said = f"{found.keys} record keys are not unique{' in the sample' if sample else ''}: {found.example}"
                plan = replace(plan, problems=(f"{said}; remove the copies, or name more key columns",))
    check_unchanged(source, files)
    return plan


def run_bootstrap(request: BootstrapRequest, clock: Clock, engine: Engine) -> BootstrapResult:
    """Preflight, then create the table and fill it. Both modes become visible one right after the other, or not at all.

    Safe to kill at any point: the next run (or any other write) removes what was written, and begins anew. A table that the
    same bootstrap has made already is left as it is. Raises SourceError for problems of the preflight and for a source that
    changes meanwhile, TableExistsError for another table at the base path.
    """
    done = _already_done(request, clock)
    plan = preflight(request, engine)
    if plan.problems:
        more = f" and {len(plan.problems) - 1} more problems (see --explain)" if len(plan.problems) > 1 else ""
        raise SourceError(
            f"The source {plan.source} cannot be bootstrapped",
            found=plan.problems[0] + more,
            fix="correct it and run again; nothing was written",
        )
    modes = [mode for mode in _TIMES if plan.of_mode(mode)]
    _check_same(request, plan, done or {})
    if done is not None and set(done) == {_TIMES[mode] for mode in modes}:
        _delete_markers(request.storage)
        return BootstrapResult(plan, tuple(done.values()), max(done), repeated=True)
    storage, options = request.storage, request.chosen
    if done is None:
        create_table(storage, request.table, None, _own_properties(request))
    with transaction(storage, clock, "bootstrap", options[LOCK_WAIT_MS]) as tx:
        left = [mode for mode in modes if _TIMES[mode] not in tx.state.timeline.commit_times]
        _check_untouched(tx.state)
        return _Run(request, plan, tx, clock, engine).execute(left)


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
        given = {key.name: self._options[key] for key in WRITE_KEYS if self._options.given(key)}
        write = plan_write(state, self._plan.schema, "bulk_insert", given)
        changes: list[Change] = []
        for mode in modes:
            instant = self._tx.open(commit_action(state.properties), _TIMES[mode])
            context = write_context(write, self._tx.writing(instant, self._engine.write_token))
            stats = self._skeletons(context) if mode == keys.METADATA_ONLY else self._copies(context)
            extra = {SCHEMA_KEY: write.commit_schema}
            changes.append(Change(instant, CommitMetadata("BOOTSTRAP", tuple(stats), extra)))
        _delete_strays(state, changes)
        check_unchanged(self._request.source, [file.info for file in self._plan.files])
        done = self._tx.commit(*changes)
        commits = tuple(change.metadata for change in done)
        return BootstrapResult(self._plan, commits, done[-1].instant.time if done else None)

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
    kept = {path for change in changes for path in change.files}
    listed = StorageFiles(state.storage).all()
    strays = {base.path for found in listed for base in found.base_files if base.instant in times} - kept
    delete_data_files(state.storage, strays)


def _delete_markers(storage: Storage) -> None:
    """Those of an earlier run, which died when its commits were complete."""
    for time in _TIMES.values():
        with after_completion(storage, time):
            delete_markers(storage, time)


def _index(source: str, tasks: Sequence[SkeletonTask], now_ms: int) -> BootstrapIndex:
    files = []
    for task in tasks:
        info = task.source.info
        uri = f"{source}/{info.path}"
        status = SourceFile(uri if "://" in uri else f"file:{uri}", info.size, info.modified_ms, info.modified_ms)
        files.append(BootstrapFile(task.folder, task.file_id, task.folder, status))
    return BootstrapIndex(source, now_ms, tuple(files))


def _own_properties(request: BootstrapRequest) -> dict[str, str]:
    return {keys.SOURCE.name: request.source.base_path, **request.properties.features.bootstrap_index}


def _already_done(request: BootstrapRequest, clock: Clock) -> dict[str, CommitMetadata] | None:
    """What earlier runs of this bootstrap have committed, by instant; None when there is no table yet.

    Raises TableExistsError when the table is another's.
    """
    storage = request.storage
    if storage.info(PROPERTIES) is None:
        return None
    state = load_state(storage, clock)
    wanted = {**request.properties.raw, **_own_properties(request)}
    other = sorted(
        name
        for name, value in wanted.items()
        if name != "hoodie.table.checksum" and state.properties.raw.get(name) != value
    )
    if other:
        raise TableExistsError(
            f"There is another Hudi table at {storage.base_path}",
            found=f"{other[0]}={state.properties.raw.get(other[0])}, asked for was {wanted[other[0]]}",
            fix="choose another base path, or the options of that table",
        )
    done = {
        instant.time: state.commit_metadata(instant)
        for instant in state.timeline.commits
        if instant.time in _TIMES.values()
    }
    if state.timeline.commits and not done:
        raise TableExistsError(
            f"The table {storage.base_path} has commits that are not a bootstrap's",
            found=f"the first is {state.timeline.commits[0]}",
            fix="choose another base path",
        )
    return done


def _check_untouched(state: TableState) -> None:
    """Rows that were written meanwhile would be there twice: of a partition that is not taken over yet they are new ones."""
    others = [instant for instant in state.timeline.commits if instant.time not in _TIMES.values()]
    if others:
        raise TableExistsError(
            f"The table {state.storage.base_path} was written to before its bootstrap was done",
            found=f"the first such commit is {others[0]}",
            fix=f"delete the table and bootstrap again before anything is written to it, or {HUDI_ROLLBACK} first",
        )


def _check_same(request: BootstrapRequest, plan: BootstrapPlan, done: Mapping[str, CommitMetadata]) -> None:
    """What was committed must be what the plan says of that mode: else rows would be there twice, or not at all."""
    for mode, time in _TIMES.items():
        rows = sum(file.rows for file in plan.of_mode(mode))
        if time in done and done[time].rows_written != rows:
            raise TableExistsError(
                f"The table {request.storage.base_path} was bootstrapped from other files, or with another selector",
                found=f"{done[time].rows_written} rows were taken over as {mode}, the plan has {rows}",
                fix="choose another base path, or the options of that bootstrap",
            )


def _check_places(source: str, table: str) -> None:
    one, other = f"{source.rstrip('/')}/", f"{table.rstrip('/')}/"
    if one.startswith(other) or other.startswith(one):
        raise ConfigError(
            "The new table and its source may not lie in each other",
            found=f"{table} and {source}",
            fix="choose a base path of its own",
        )
