"""Different rows of a load that have the same key, of which an upsert keeps one: counted where a write has dropped many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine import Engine
from hoodie.engine.base import Block
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.schema import values_of
from hoodie.write.plan import WritePlan
from hoodie.write.worker.rows import split_by
from hudi_services.sources.ingest.rows import CheckedSplit
from hudi_services.sources.ingest.shape.duck import Duck, opened
from hudi_services.sources.key_choice import choose_key, unique_columns

_BUCKET = 64 << 20  # bytes of source that one bucket is made for: it holds four numbers of each row
_SAMPLE = 100_000  # rows that are searched for unique columns
_HASHES = ("file", "key", "version", "row")


@dataclass(frozen=True)
class KeyLoss:
    """The numbers of different rows and of their keys. Rows in two files count twice in `in_files`, and so do their keys:
    rows of a later file may replace those of an earlier one on purpose. `versions` are the keys with their ordering values."""

    rows: int = 0
    keys: int = 0
    rows_in_files: int = 0
    keys_in_files: int = 0
    versions_in_files: int = 0

    def __add__(self, other: KeyLoss) -> KeyLoss:
        return KeyLoss(
            self.rows + other.rows,
            self.keys + other.keys,
            self.rows_in_files + other.rows_in_files,
            self.keys_in_files + other.keys_in_files,
            self.versions_in_files + other.versions_in_files,
        )


@dataclass(frozen=True)
class UniqueColumns:
    """Columns of a sample that are unique, the best key first. `key` are those that identify a row beyond doubt."""

    names: tuple[str, ...]
    key: tuple[str, ...]


def key_loss(splits: Sequence[CheckedSplit], plan: WritePlan, engine: Engine) -> KeyLoss:
    """Read the rows of a load once, and count those of each key. Raises what reading them raises."""
    parts = [_NamedSplit(split) for split in splits]
    count = max(engine.parallelism, -(-engine.input_size(parts) // _BUCKET))
    hashes = _Hashes(plan.record_keys, None if plan.global_keys else plan.paths, plan.rules.ordering, count)
    buckets = engine.exchange_inputs([(hashes, parts)], count)
    return sum(buckets.map(_count), KeyLoss())


def unique_in_sample(splits: Sequence[CheckedSplit], ordering: Sequence[str]) -> UniqueColumns:
    """The columns without two equal values among the first different rows."""
    batches: list[pa.RecordBatch] = []
    count = 0
    for batch in (batch for split in splits for batch in split.batches()):
        batches.append(batch)
        count += batch.num_rows
        if count >= _SAMPLE:
            break
    rows = pa.Table.from_batches(batches).slice(0, _SAMPLE)
    with opened() as duck:
        different = rows.filter(_firsts(_hash(duck, rows.columns)))
    choice = choose_key(different, different.num_rows, next(iter(ordering), None))
    return UniqueColumns(unique_columns(different), choice.columns if choice.is_sure else ())


@dataclass(frozen=True)
class _NamedSplit:
    """The good rows of a split, each with its file or message in a last column."""

    split: CheckedSplit

    @property
    def size(self) -> int:
        return self.split.size

    @property
    def files(self) -> int:
        return self.split.files

    def narrowed(self, columns: Sequence[str]) -> None:
        """Do nothing: all columns are compared."""
        return

    def batches(self) -> Iterator[pa.RecordBatch]:
        for origin, rows in self.split.delivered():
            for batch in rows.to_batches():
                yield batch.append_column("@file", pa.repeat(origin, batch.num_rows))


@dataclass(frozen=True)
class _Hashes:
    """Task function: a split's batches -> hashes of each row by that of its key."""

    keys: RecordKeys
    paths: PartitionPaths | None  # None: a row is named by its key alone
    ordering: tuple[str, ...]
    buckets: int

    def __call__(self, _number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        with opened() as duck:
            for batch in batches:
                if not batch.num_rows:
                    continue
                rows = pa.Table.from_batches([batch])
                key = [self.keys.of(rows), *([] if self.paths is None else [self.paths.of(rows)])]
                version = [*key, *(values_of(rows, name) for name in self.ordering)]
                columns = ([rows.columns[-1]], key, version, rows.columns[:-1])
                hashes = pa.table([_hash(duck, values) for values in columns], names=list(_HASHES))
                yield from split_by(hashes, hashes["key"].to_numpy() % np.uint64(self.buckets), self.buckets)


def _hash(duck: Duck, columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """uint64 of the values of each row. Rows with a column that DuckDB does not take count as different."""
    names = [f"c{place}" for place in range(len(columns))]
    rows = pa.table(list(columns), names=names)
    try:
        return duck.run(f"SELECT hash({', '.join(names)}) AS hash FROM batch", rows)["hash"]
    except duckdb.Error:
        return pa.chunked_array([np.arange(rows.num_rows, dtype=np.uint64)])


def _firsts(hashes: pa.ChunkedArray) -> pa.Array:
    """Boolean per row: it is the first one with its hash."""
    first = np.zeros(len(hashes), dtype=bool)
    first[np.unique(hashes.to_numpy(), return_index=True)[1]] = True
    return pa.array(first)


def _count(_bucket: int, tables: Iterable[pa.Table]) -> KeyLoss:
    """Task function: a bucket -> the counts of its keys, all rows of which are in it."""
    hashes = pa.concat_tables([*tables, pa.table({name: pa.array([], pa.uint64()) for name in _HASHES})])

    def different(*names: str) -> int:
        return int(hashes.group_by(list(names)).aggregate([]).num_rows)

    return KeyLoss(
        different("key", "row"),
        pc.count_distinct(hashes["key"]).as_py(),
        different("file", "key", "row"),
        different("file", "key"),
        different("file", "key", "version"),
    )
