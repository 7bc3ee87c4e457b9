"""Checks of record keys: duplicates, in base files with logs laid over. Keys beyond a limit wait in local files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.doctor import catalogue
from hoodie.doctor.facts import Facts
from hoodie.doctor.file_remedy import OVERWRITE
from hoodie.doctor.finding import Finding
from hoodie.errors import CorruptFileError, HoodieError, MissingFileError
from hoodie.formats.murmur import murmur2
from hoodie.merge.spill import Spill
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.model.time import Time
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import plan_read
from hoodie.read.query import Query
from hoodie.view import TableState

_MEMORY = 256 * 1024 * 1024  # bytes of keys in memory; of more a pile at a time
_PILES = 64
_INSERTS = ("INSERT", "BULK_INSERT")  # they look for no stored keys
_NEWEST = 5  # commits whose inserts are looked at
_INSERTED_BYTES = 64 * 1024 * 1024  # bytes of files whose keys are read for that
_INSERTED_SLICES = 50
_MOST_REPORTED = 3  # keys of a finding, and file groups of a key
_KEYS = pa.schema([("partition", pa.int32()), ("slice", pa.int32()), ("key", pa.string())])


def inserts(facts: Facts) -> Iterator[Finding]:
    """See `of_newest_inserts`."""
    yield from of_newest_inserts(facts.state, facts.slices)


def duplicates(facts: Facts) -> Iterator[Finding]:
    """Keys that occur more than once in a partition, or in several partitions."""
    if facts.state.properties.virtual_keys or not facts.state.properties.record_key_fields:
        return
    partitions = sorted({file_slice.partition for file_slice in facts.slices})
    if len(partitions) > 1 and not _is_placed_by_key(facts):
        try:
            yield from _findings(_doubled(facts.state, partitions), is_global=facts.global_index)
            return
        except HoodieError:  # read apart, the partitions that can be read are checked
            pass
    for partition in partitions:
        try:
            yield from _findings(_doubled(facts.state, [partition]), is_global=facts.global_index)
        except (MissingFileError, CorruptFileError):  # other checks report it by name
            continue
        except HoodieError as error:
            yield catalogue.UNCHECKED.finding(
                f"the keys of partition {partition!r} cannot be read",
                error.fix or "see what else was found",
                found=str(error),
            )


def of_newest_inserts(state: TableState, slices: Iterable[FileSlice]) -> Iterator[Finding]:
    """Keys that occur more than once in partitions that the newest inserts wrote to. Reads the keys of few and small partitions:
    an insert that doubled keys is found, and no other one is suspected."""
    if state.properties.virtual_keys or not state.properties.record_key_fields:
        return
    sizes: dict[str, list[int]] = {}
    for file_slice in slices:
        sizes.setdefault(file_slice.partition, []).append(file_slice.size)
    size = count = 0
    for partition, instant in _inserted(state):
        own = sizes.get(partition, [])
        size, count = size + sum(own), count + len(own)
        if size > _INSERTED_BYTES or count > _INSERTED_SLICES:
            return
        try:
            doubled = _doubled(state, [partition])
        except HoodieError:  # other checks report it by name
            continue
        for doubled_keys in doubled:
            yield catalogue.DOUBLED_BY_INSERT.finding(
                f"keys occur more than once in partition {partition!r}, to which insert {instant} wrote",
                "see how many keys and partitions it concerns: `hudi-services doctor --deep`. It has the ways to keep one row of "
                "each key",
                found=doubled_keys.summary,
                path=partition,
                instant=instant,
            )


def _inserted(state: TableState) -> Iterator[tuple[str, Time]]:
    """The partitions of the newest inserts, each with the newest of these."""
    partitions: set[str] = set()
    for instant in reversed(state.timeline.commits[-_NEWEST:]):
        try:
            metadata = state.commit_metadata(instant)
        except HoodieError:  # other checks report it by name
            continue
        if metadata.operation in _INSERTS:
            for partition in dict.fromkeys(stat.partition for stat in metadata.stats):
                if partition not in partitions:
                    partitions.add(partition)
                    yield partition, instant.time


def _is_placed_by_key(facts: Facts) -> bool:
    """True if the key has the partition columns, so that no key can be in two partitions."""
    properties = facts.state.properties
    columns = set(properties.partition_fields)
    return bool(columns) and columns <= set(properties.record_key_fields)


@dataclass
class _Doubled:
    """Keys that occur more than once in one place: their number, the first ones, and the slices of the first one."""

    partition: str | None  # None: in several partitions
    count: int = 0
    first: tuple[str, ...] = ()
    slices: tuple[FileSlice, ...] = ()

    def add(self, rows: pa.Table, keys: pa.ChunkedArray, slices: Sequence[FileSlice]) -> None:
        """More `keys`, all distinct, of the `rows` of a pile."""
        self.count += len(keys)
        least = pc.select_k_unstable(keys, min(_MOST_REPORTED, len(keys)), [("", "ascending")])
        self.first = tuple(sorted({*self.first, *keys.take(least).to_pylist()})[:_MOST_REPORTED])
        holders = rows.filter(pc.equal(rows["key"], self.first[0]))["slice"].unique().to_pylist()
        if holders:
            self.slices = tuple(slices[place] for place in holders)

    @property
    def summary(self) -> str:
        named = ", ".join(repr(key) for key in self.first)
        groups = ", ".join(file_slice.file_id for file_slice in self.slices[:_MOST_REPORTED])
        more = " …" if len(self.slices) > _MOST_REPORTED else ""
        place = f"file group{'s' if len(self.slices) > 1 else ''} {groups}{more}"
        return (
            f"{self.count:,} keys: {named}{' …' if self.count > len(self.first) else ''}; {self.first[0]!r} in {place}"
        )


def _findings(doubled: Iterable[_Doubled], *, is_global: bool) -> Iterator[Finding]:
    for doubled_keys in doubled:
        if doubled_keys.partition is None:
            yield _across(doubled_keys, is_global=is_global)
        else:
            yield catalogue.DUPLICATE_KEYS.finding(
                f"keys occur more than once in partition {doubled_keys.partition!r}",
                f"delete these keys and write the row of each once more. Or, {OVERWRITE}. See which writers add rows by `insert` "
                "or `bulk_insert` alone",
                found=doubled_keys.summary,
                path=doubled_keys.partition,
                bytes=sum(s.size for s in doubled_keys.slices),
            )


def _across(doubled: _Doubled, *, is_global: bool) -> Finding:
    """Keys in several partitions. Unless the index of the writers is global, each partition may have a row of its own."""
    check = catalogue.KEYS_IN_PARTITIONS if is_global else catalogue.KEYS_PER_PARTITION
    partitions = sorted({file_slice.partition for file_slice in doubled.slices})
    return check.finding(
        "keys occur in several partitions, and the table's index is global"
        if is_global
        else "keys occur in several partitions: the table's index finds a key in its own partition only",
        "keep one row of each: delete it in the other partitions; see which writers use another index"
        if is_global
        else "keep one row of each key: delete it in the other partitions, and load with `hoodie.index.type=GLOBAL_SIMPLE`; "
        "leave them if each partition is meant to have a row of the key",
        found=f"{doubled.summary} of partitions {', '.join(map(repr, partitions[:_MOST_REPORTED]))}",
        bytes=sum(file_slice.size for file_slice in doubled.slices),
    )


def _doubled(state: TableState, partitions: Sequence[str]) -> list[_Doubled]:
    """Duplicates within each of these partitions and, if there are several, among all of them."""
    plan = plan_read(state, Query([RECORD_KEY], partitions=tuple(partitions)))
    read, number = ReadSlice(state.storage, plan.of_slice), {name: place for place, name in enumerate(partitions)}
    in_partitions, across = [_Doubled(name) for name in partitions], _Doubled(None)
    rows = (
        pa.table(
            [
                pa.repeat(pa.scalar(number[file_slice.partition], pa.int32()), batch.num_rows),
                pa.repeat(pa.scalar(place, pa.int32()), batch.num_rows),
                batch[RECORD_KEY].cast(pa.string()),
            ],
            schema=_KEYS,
        )
        for place, file_slice in enumerate(plan.slices)
        for batch in read.batches(file_slice)
    )
    for pile in _piles(rows):
        counts = pile.group_by(["partition", "key"]).aggregate([([], "count_all")])
        twice = counts.filter(pc.greater(counts["count_all"], 1))
        for partition in twice["partition"].unique().to_pylist():
            own_keys = pile.filter(pc.equal(pile["partition"], partition))
            in_partitions[partition].add(
                own_keys, twice.filter(pc.equal(twice["partition"], partition))["key"], plan.slices
            )
        if len(partitions) > 1:
            places = counts.group_by("key").aggregate([([], "count_all")])
            several = places.filter(pc.greater(places["count_all"], 1))["key"]
            if len(several):
                across.add(pile, several, plan.slices)
    return [doubled for doubled in (*in_partitions, across) if doubled.count]


def _piles(rows: Iterable[pa.Table], limit: int = _MEMORY) -> Iterator[pa.Table]:
    """The rows so that those of one key come together: all at once, or, where they are more than `limit` bytes, in piles by the
    hash of the key."""
    buffered: list[pa.Table] = []
    size = 0
    with Spill(_KEYS, "") as spill:
        spilled = False
        for batch in rows:
            buffered.append(batch)
            size += batch.nbytes
            if size > limit:
                _spill(spill, buffered)
                buffered, size, spilled = [], 0, True
        if not spilled:
            yield pa.concat_tables([_KEYS.empty_table(), *buffered])
            return
        _spill(spill, buffered)
        for pile in range(_PILES):
            yield spill.read(pile)


def _spill(spill: Spill, tables: Collection[pa.Table]) -> None:
    rows = pa.concat_tables([_KEYS.empty_table(), *tables]).combine_chunks()
    piles = murmur2(rows["key"], 0) % np.uint32(_PILES)
    order = np.argsort(piles, kind="stable")
    bounds = np.searchsorted(piles[order], np.arange(_PILES + 1))
    ordered = rows.take(pa.array(order))
    for pile in range(_PILES):
        if bounds[pile] < bounds[pile + 1]:
            spill.write(pile, ordered.slice(bounds[pile], bounds[pile + 1] - bounds[pile]))
