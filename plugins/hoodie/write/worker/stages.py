"""The stages of insert, upsert and delete: functions that run in the workers, each a frozen value that can be pickled.

input -> keyed rows, by hash of the key -> tagged -> by file -> files
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine.base import Block
from hoodie.formats.murmur import murmur2
from hoodie.index.base import Index
from hoodie.index.key_filter import KeyFilter
from hoodie.index.locations import NOWHERE, RecordLocations
from hoodie.index.new_keys import NewKeys
from hoodie.index.sketch import KeySketch
from hoodie.merge import MergeRules, combined_batch
from hoodie.model.commit import WriteStat
from hoodie.model.internal_columns import DELETE, GROUP, POSITION
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import top_level
from hoodie.write.worker.assignment import Assignment, FileTask
from hoodie.write.worker.collisions import StoredCollisions, refuse_colliding
from hoodie.write.worker.context import WriteContext
from hoodie.write.worker.rows import by_key_hash, keyed_rows, split_by
from hoodie.write.worker.write_file import write_file


@dataclass(frozen=True)
class KeyRows:
    """Input split -> keyed rows, bucketed by the hash of their key."""

    context: WriteContext
    buckets: int

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        for rows in keyed_rows(self.context, number, batches):
            yield from by_key_hash(rows, self.buckets)


@dataclass(frozen=True)
class KeyStored:
    """Keys of base files -> those that may be among the incoming ones, bucketed like these."""

    buckets: int
    incoming: KeySketch

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        for batch in batches:
            hashes = murmur2(batch[RECORD_KEY], 0)
            near = np.flatnonzero(self.incoming.may_hold(hashes))
            rows = pa.Table.from_batches([batch]).take(pa.array(near))
            yield from split_by(rows, hashes[near] % np.uint32(self.buckets), self.buckets)


@dataclass(frozen=True)
class Touched:
    """Parts of the table that a batch touches: its partitions, a sketch of its keys, and themselves if they were asked for."""

    partitions: frozenset[str]
    keys: KeySketch
    key_filter: KeyFilter


@dataclass(frozen=True)
class Survey:
    """Bucket of keyed rows -> what they touch."""

    power: int  # size of the sketch
    tell_keys: bool = False

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> Touched:
        partitions: set[str] = set()
        hashes = [np.zeros(0, dtype=np.uint32)]
        key_filter = KeyFilter()
        for table in tables:
            partitions.update(pc.unique(table[PARTITION_PATH]).to_pylist())  # distinct values: few
            hashes.append(murmur2(table[RECORD_KEY], 0))
            if self.tell_keys:
                key_filter = KeyFilter.union([key_filter, KeyFilter.of(table)])
        return Touched(frozenset(partitions), KeySketch.of(np.concatenate(hashes), self.power), key_filter)


@dataclass(frozen=True)
class SurveyInput:
    """Input split with only its key and partition columns -> what its rows touch."""

    survey: Survey
    context: WriteContext

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Touched:
        names = top_level((*self.context.keys.fields, *self.context.paths.fields))
        schema = pa.schema([self.context.schema.field(name) for name in names])
        narrow = replace(self.context, schema=schema, rules=MergeRules((), ()))
        return self.survey(number, keyed_rows(narrow, number, batches))


@dataclass(frozen=True)
class WorkloadProfile:
    """Rows that touch each file group (by its number), rows to insert into each partition; rows dropped before, as they were
    combined with others of their keys; keys that are stored nowhere, if they were asked for; rows dropped for keys that are
    `rows_known`."""

    updates: Counter[int]
    inserts: Counter[str]
    combined: int = 0
    new_keys: NewKeys = field(default_factory=NewKeys)
    rows_known: int = 0

    @staticmethod
    def of(parts: Iterable[WorkloadProfile]) -> WorkloadProfile:
        """That of all buckets together."""
        updates: Counter[int] = Counter()
        inserts: Counter[str] = Counter()
        parts = list(parts)
        for part in parts:
            updates.update(part.updates)
            inserts.update(part.inserts)
        combined, dropped = sum(part.combined for part in parts), sum(part.rows_known for part in parts)
        return WorkloadProfile(updates, inserts, combined, NewKeys.union(part.new_keys for part in parts), dropped)


@dataclass(frozen=True)
class Tag:
    """Bucket of incoming rows and stored keys -> its workload profile, and how to make its rows with the place of each.

    These rows, one a key when they are combined, have `@group`, the number of the file group that holds their key, NOWHERE for a
    new key; a key that several groups hold comes once for each. With positions they have `@position`, too.
    """

    context: WriteContext
    index: Index
    partition_of_group: tuple[str, ...]
    combine: bool
    tell_new_keys: bool = False

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> tuple[WorkloadProfile, Callable[[], pa.Table]]:
        incoming: list[pa.Table] = []
        stored: list[pa.Table] = []
        for table in tables:
            (stored if GROUP in table.schema.names else incoming).append(table)
        if not incoming:
            return WorkloadProfile(Counter(), Counter()), lambda: pa.table({})
        rows = pa.concat_tables(incoming)
        came = rows.num_rows
        refuse_colliding(self.context.keys, self.context.paths, rows, self.context.identity)
        if self.combine:
            rows = combined_batch(rows, self.context.rules, self.context.identity)
        tagged = self.index.tag(rows, pa.concat_tables(stored) if stored else None, self.partition_of_group)
        known_rows = rows.num_rows - len(np.union1d(tagged.rows, tagged.new))
        absent = rows.select([PARTITION_PATH, RECORD_KEY]).take(pa.array(tagged.new)) if self.tell_new_keys else None
        if not self.context.merges_inserts:  # else what a new delete removes may be in the small file that it goes to
            lives = ~rows[DELETE].combine_chunks().to_numpy(zero_copy_only=False)
            tagged = replace(tagged, new=tagged.new[lives[tagged.new]])
        profile = replace(self._profile(rows, tagged, came - rows.num_rows), rows_known=known_rows)
        if absent is not None:  # keys to delete among them: another writer may insert them before the commit
            profile = replace(profile, new_keys=NewKeys.of(absent))
        return profile, partial(self._placed, rows, tagged)

    def _profile(self, rows: pa.Table, tagged: RecordLocations, combined: int) -> WorkloadProfile:
        groups, counts = np.unique(tagged.groups, return_counts=True)
        updates = Counter(dict(zip(groups.tolist(), counts.tolist(), strict=True)))
        fresh = rows[PARTITION_PATH].take(pa.array(tagged.new))
        inserts = {entry["values"]: entry["counts"] for entry in pc.value_counts(fresh).to_pylist()}
        return WorkloadProfile(updates, Counter(inserts), combined)

    def _placed(self, rows: pa.Table, tagged: RecordLocations) -> pa.Table:
        nowhere = np.full(len(tagged.new), NOWHERE)
        placed = rows.take(pa.array(np.concatenate([tagged.rows, tagged.new])))
        placed = placed.append_column(GROUP, pa.array(np.concatenate([tagged.groups, nowhere])))
        if self.context.record_positions:
            placed = placed.append_column(POSITION, pa.array(np.concatenate([tagged.positions, nowhere])))
        return placed if tagged.leaves is None else self._across(placed, tagged, tagged.leaves)

    def _across(self, placed: pa.Table, tagged: RecordLocations, leaves: np.ndarray) -> pa.Table:
        """Rows that are written to another partition than their own, or delete what they leave there."""
        fresh = len(tagged.new)
        stored_partitions = pa.array(self.partition_of_group, pa.string()).take(pa.array(tagged.groups))
        own = placed[PARTITION_PATH].slice(len(tagged.rows))
        away = pa.array(
            np.append(
                pc.not_equal(placed[PARTITION_PATH].slice(0, len(stored_partitions)), stored_partitions),
                np.zeros(fresh, bool),
            )
        )
        values = {
            PARTITION_PATH: pa.chunked_array([stored_partitions, *own.chunks]),
            DELETE: pc.or_(placed[DELETE], pa.array(np.append(leaves, np.zeros(fresh, bool)))),
        }
        stored_values = tagged.stored_values if tagged.stored_values is not None else pa.table({})
        for name in stored_values.schema.names:
            stored = pa.chunked_array([*stored_values[name].chunks, pa.nulls(fresh, placed[name].type)])
            values[name] = pc.if_else(away, stored, placed[name])
        for name, column in values.items():
            placed = placed.set_column(placed.schema.get_field_index(name), placed.schema.field(name), column)
        return placed


@dataclass(frozen=True)
class Route:
    """Bucket of placed rows -> rows by the task that writes their file."""

    assignment: Assignment

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> Iterator[Block]:
        for rows in tables:
            if rows.num_rows:
                yield from split_by(rows.drop_columns([GROUP]), self._tasks(rows), len(self.assignment.tasks))

    def _tasks(self, rows: pa.Table) -> np.ndarray:
        """The place of each row's task."""
        groups = rows[GROUP].combine_chunks().to_numpy()
        tasks = np.empty(len(groups), dtype=np.int64)
        placed, fresh = np.flatnonzero(groups != NOWHERE), np.flatnonzero(groups == NOWHERE)
        numbers, places = np.unique(groups[placed], return_inverse=True)
        of_group = [self.assignment.task_of_group[number] for number in numbers.tolist()]
        tasks[placed] = np.array(of_group, dtype=np.int64)[places]
        new = rows.select([PARTITION_PATH, RECORD_KEY]).take(pa.array(fresh))
        partitions = new[PARTITION_PATH].combine_chunks()
        hashes = murmur2(new[RECORD_KEY], 0)
        for partition in pc.unique(partitions).to_pylist():  # distinct values: few
            rows_of_partition = np.flatnonzero(pc.equal(partitions, partition).to_numpy(zero_copy_only=False))
            tasks[fresh[rows_of_partition]] = self.assignment.insert_tasks(partition, hashes[rows_of_partition])
        return tasks


@dataclass(frozen=True)
class WriteFiles:
    """Rows of one file -> its stat, None when nothing changed. `collisions` compares them with stored rows, if that is needed."""

    task_is_file: ClassVar[bool] = True
    context: WriteContext
    tasks: tuple[FileTask, ...]
    collisions: StoredCollisions | None = None

    def __call__(self, bucket: int, tables: Iterator[pa.Table]) -> WriteStat | None:
        return write_file(self.context, self.tasks[bucket], bucket, tables, self.collisions)
