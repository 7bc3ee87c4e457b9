"""The stages of a write in their order, as the driver runs them: from the input to the stats of the files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from hoodie.config.keys.index import INDEX_TYPE, PRUNE_BY_RANGES
from hoodie.config.keys.memory import MergeMemory
from hoodie.config.keys.write import EMPTY_OVERWRITE
from hoodie.config.operations import Replaces
from hoodie.engine.base import Engine, Exchanged
from hoodie.index.base import Index
from hoodie.index.bloom import FooterLook, Look
from hoodie.index.bucket import BucketIndex
from hoodie.index.complex_keys import refuse_mixed_keys
from hoodie.index.cost import IndexCost
from hoodie.index.duplicate_policy import UnknownOnly
from hoodie.index.global_locations import Across
from hoodie.index.global_simple import GlobalSimpleIndex
from hoodie.index.key_filter import KeyFilter
from hoodie.index.live_keys import LogDeletions, StoredRows
from hoodie.index.new_keys import NewKeys
from hoodie.index.none import NoIndex
from hoodie.index.simple import SimpleIndex
from hoodie.index.sketch import KeySketch, sketch_power
from hoodie.index.work_split import shares
from hoodie.model.commit import WriteStat
from hoodie.model.files import FileSlice, GroupId
from hoodie.schema import top_level
from hoodie.view import PendingGroups, TableState, TableView
from hoodie.write.bucket_index import bucket_index
from hoodie.write.overwrite import NOTHING, Replaced, refuse_empty, refuse_waiting
from hoodie.write.placement import Placement, new_file_id
from hoodie.write.plan import WritePlan
from hoodie.write.sizing import memory_advice, shuffle_tasks, too_many_tasks
from hoodie.write.worker.bulk import BulkInsert
from hoodie.write.worker.collisions import StoredCollisions
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.stages import (
    KeyRows,
    KeyStored,
    Route,
    Survey,
    SurveyInput,
    Tag,
    Touched,
    WorkloadProfile,
    WriteFiles,
)

_log = logging.getLogger(__name__)

_ROW_BYTES = 64  # bytes per row of the input, a guess: only the size of a sketch depends on it


@dataclass(frozen=True)
class Written:
    """The stats of the files, how many rows of the input were dropped for others of their keys in it, how many as the table has
    their keys (`known`), and the groups and keys that the write depends on.

    The groups hold its rows or take them, also those of buckets that are not there, in which it found nothing to delete. The keys
    are those that it found nowhere; None: it did not look. `replaced` are the groups that an overwrite takes out of the table.
    """

    stats: list[WriteStat]
    rows_combined: int = 0
    touched: frozenset[GroupId] = frozenset()
    new_keys: NewKeys | None = None
    replaced: Replaced = NOTHING
    rows_known: int = 0


@dataclass(frozen=True)
class Pipeline:
    """One write whose instant has begun: survey -> candidates -> tag -> workload profile -> assignment -> route -> files."""

    state: TableState
    plan: WritePlan
    context: WriteContext
    engine: Engine
    tell_new_keys: bool = False
    also_replaced: Sequence[str] = ()

    def run(self, rows: Any) -> Written:
        """Write `rows`, anything that the engine takes as input. Raises what the tasks raise, MissingFileError (see
        `TableView.check`), PendingInstantError for rows of a group that waits for clustering, UnsupportedTableError (see
        `refuse_mixed_keys`)."""
        size = self.engine.input_size(rows)
        buckets = shuffle_tasks(self.plan.operation, self.plan.options, size, self.engine.parallelism)
        self._advise(size, buckets)
        if self.plan.places_at_once:
            written = self.engine.map_input(BulkInsert(self.context, new_file_id), rows)
            return Written([stat for stats in written for stat in stats])
        power = sketch_power(size // _ROW_BYTES)
        touched, keyed = self._survey(rows, buckets, power)
        partitions = sorted(frozenset().union(*(part.partitions for part in touched)))
        replaced = self._replaced(partitions)
        if not self.plan.operation.writes:
            return Written([], touched=replaced.file_groups, replaced=replaced)
        start = perf_counter()
        slices = self._slices(partitions)
        refuse_mixed_keys(self.state, slices)
        look = self._look(slices, touched)
        index = self._index(partitions, slices, look.sought if look is not None else None)
        sketch = KeySketch.union((part.keys for part in touched), power)
        stored = index.stored_keys(self.state, slices, self.engine.parallelism)
        keyed = self._with_stored(rows, keyed, stored, sketch, buckets)
        partition_of_group = tuple(file_slice.partition for file_slice in slices)
        tag = Tag(self.context, index, partition_of_group, self.plan.combines, self.tell_new_keys)
        profiles, placed = keyed.map_rows(tag)
        del keyed  # an engine that keeps rows in memory then has those of one stage
        profile = WorkloadProfile.of(profiles)
        if self.plan.looks_up:
            self._tell_cost(perf_counter() - start, slices, partitions, stored, look, profile)
        placement = Placement(self.state, self.plan, self.context.writing.instant, PendingGroups(self.state))
        homes = index.home if isinstance(index, BucketIndex) else None
        assignment = placement.assign(profile, slices, size, homes)
        if not assignment.tasks:
            refuse_empty(self.state, self.plan.operation, allowed=self.plan.options[EMPTY_OVERWRITE])
            return Written([], profile.combined, replaced.file_groups, profile.new_keys, replaced, profile.rows_known)
        routed = placed.exchange(Route(assignment), len(assignment.tasks), assignment.sizes)
        write = WriteFiles(self.context, assignment.tasks, self._collisions())
        stats = [stat for stat in routed.map(write) if stat is not None]
        groups = frozenset(GroupId(task.partition, task.file_id) for task in assignment.tasks)
        groups |= replaced.file_groups
        return Written(stats, profile.combined, groups, profile.new_keys, replaced, profile.rows_known)

    def _slices(self, partitions: Sequence[str]) -> Sequence[FileSlice]:
        """Those that may hold keys of the rows, or take rows: none for an overwrite."""
        if self.plan.operation.replaces is not None:
            return ()
        lookup_partitions = None if self.plan.looks_up and self.plan.global_keys else partitions
        return TableView(self.state, lookup_partitions).latest()  # or older rows would be taken for those of today

    def _replaced(self, partitions: Sequence[str]) -> Replaced:
        """File groups that an overwrite with rows of these partitions takes out, `also_replaced` included. Raises
        PendingInstantError (see `refuse_waiting`)."""
        operation = self.plan.operation
        if operation.replaces is None:
            return NOTHING
        named = sorted({*partitions, *self.also_replaced})
        replaced = Replaced.of(self.state, None if operation.replaces is Replaces.TABLE else named)
        refuse_waiting(self.state, operation, replaced)
        return replaced

    def _tell_cost(
        self,
        seconds: float,
        slices: Sequence[FileSlice],
        partitions: Sequence[str],
        stored: Sequence[Any],
        look: Look | None,
        profile: WorkloadProfile,
    ) -> None:
        near = frozenset(partitions)
        cost = IndexCost(
            self.plan.options[INDEX_TYPE],
            seconds,
            len(slices),
            near=len([file_slice for file_slice in slices if file_slice.partition in near]),
            read=sum(split.files for split in stored),
            bytes=sum(split.size for split in stored),
            by_range=look.by_range if look is not None else 0,
            by_filter=look.by_filter if look is not None else 0,
            hit=len(profile.updates),
        )
        _log.info("%s", cost.line())

    def _look(self, slices: Sequence[FileSlice], touched: Sequence[Touched]) -> Look | None:
        """Base files that may hold a key of the rows, by their footers; None: the write does not look."""
        plan = self.plan
        if not plan.looks_at_footers:
            return None
        keys = KeyFilter.union([part.key_filter for part in touched]).sieve(anywhere=plan.global_keys)
        look = FooterLook(self.state.storage, keys, plan.options[PRUNE_BY_RANGES])
        return Look.union(self.engine.map(look, shares(slices, self.engine.parallelism)))

    def _collisions(self) -> StoredCollisions | None:
        """None where no two rows can have one key text, or one path."""
        context = self.context
        paths = context.paths if context.paths.may_collide and not context.global_keys else None
        if len(context.keys.fields) < 2 and (paths is None or not context.keys.fields):
            return None
        columns = top_level((*context.keys.fields, *(paths.fields if paths is not None else ())))
        return StoredCollisions(context.keys, paths, self._stored_rows(columns))

    def _index(self, partitions: Sequence[str], slices: Sequence[FileSlice], sought: frozenset[int] | None) -> Index:
        """That of rows of these partitions. Raises what `bucket_index` raises."""
        plan = self.plan
        if plan.bucketed:
            return bucket_index(self.state, plan, partitions, slices, self.context.stored_keys)
        if not plan.looks_up:
            return NoIndex()
        if not plan.operation.finds_keys:  # a key that a log has deleted is not known
            live = GlobalSimpleIndex(
                self._stored_rows(()), Across(moves=False, ordering=(), partition_columns=()), sought
            )
            return UnknownOnly(live, plan.known_keys == "FAIL", plan.global_keys)
        return self._global_index(sought) if plan.global_keys else self._simple_index(sought, slices)

    def _simple_index(self, sought: frozenset[int] | None, slices: Sequence[FileSlice]) -> Index:
        logged = {number: file_slice for number, file_slice in enumerate(slices) if file_slice.log_files}
        deletions = LogDeletions(self._stored_rows(()), logged) if logged else None
        return SimpleIndex(self.context.stored_keys, self.context.record_positions, sought, deletions)

    def _global_index(self, sought: frozenset[int] | None) -> Index:
        plan, context = self.plan, self.context
        across = Across(plan.moves_keys, context.rules.base_ordering, context.paths.fields)
        return GlobalSimpleIndex(self._stored_rows(across.columns), across, sought)

    def _stored_rows(self, columns: Sequence[str]) -> StoredRows:
        plan = self.plan
        memory = MergeMemory.of(plan.options)
        return StoredRows.of(self.state, plan.properties, plan.schema, columns, self.context.columns, memory)

    def _advise(self, size: int, tasks: int) -> None:
        """Say what the options ask too much of before the tasks run out of memory, not after."""
        plan, engine = self.plan, self.engine
        for warning in (
            too_many_tasks(plan.operation, plan.options, tasks),
            memory_advice(plan.operation, plan.options, size, tasks, engine.parallelism, engine.task_memory),
        ):
            if warning is not None:
                _log.warning(warning)

    def _survey(self, rows: Any, buckets: int, power: int) -> tuple[Sequence[Touched], Exchanged | None]:
        """Partitions and keys that the rows touch: from a first reading of only their keys, or, if that would cost more than
        to hold the rows, from the keyed rows, which are returned too."""
        narrow, survey = self._narrowed(rows), Survey(power, self.plan.looks_at_footers)
        if narrow is not None:
            return self.engine.map_input(SurveyInput(survey, self.context), narrow), None
        keyed = self.engine.exchange_inputs([(KeyRows(self.context, buckets), rows)], buckets)
        return keyed.map(survey), keyed

    def _narrowed(self, rows: Any) -> list[Any] | None:
        """The input with only the columns of keys and partitions; None where it cannot be read twice."""
        if not isinstance(rows, Sequence) or not self.context.keys.fields:  # generated keys are in no column
            return None
        columns = top_level((*self.context.keys.fields, *self.context.paths.fields))
        narrow = [split.narrowed(columns) for split in rows]
        return None if None in narrow else narrow

    def _with_stored(
        self, rows: Any, keyed: Exchanged | None, stored: Sequence[Any], sketch: KeySketch, buckets: int
    ) -> Exchanged:
        """Keyed rows and the stored keys that may be among theirs, by the hash of the key."""
        inputs: list[tuple[Any, Any]] = [] if keyed is not None else [(KeyRows(self.context, buckets), rows)]
        if stored:
            inputs.append((KeyStored(buckets, sketch), stored))
        if keyed is None:
            return self.engine.exchange_inputs(inputs, buckets)
        return keyed.union(self.engine.exchange_inputs(inputs, buckets)) if inputs else keyed
