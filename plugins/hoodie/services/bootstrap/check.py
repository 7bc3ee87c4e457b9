"""Looking through the keys of a bootstrap's source: that they are there, unique, and in the folder of their partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine.base import Block, Engine
from hoodie.engine.pack import packed
from hoodie.errors import RecordKeyError
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.schema import top_level
from hoodie.services.bootstrap.source import SourceSplit
from hoodie.services.row_checksum import row_hashes
from hoodie.write.worker.rows import chunks, split_by

_SAMPLE = 64  # a sample is one key in 64, by hash: either all duplicates of a key are in it, or no row of that key
_BUCKET_BYTES = 128 * 1024 * 1024
_GATHERED = 8_000_000  # this number of hashes, 64 MB, is compared in one place: an exchange would take longer
_HASH = "hash"
_HASH_BYTES = 8
_SUSPECTS = 1000  # hashes whose keys are compared; more cannot be two keys' with one hash by chance


@dataclass(frozen=True)
class Duplicates:
    """Keys that occur more than once in a partition."""

    keys: int
    example: str | None = None


@dataclass(frozen=True)
class KeysOf:
    """Rows of a source -> their record keys and partition paths."""

    record_keys: RecordKeys
    paths: PartitionPaths

    def __call__(self, rows: pa.Table) -> pa.Table:
        places = self.paths.of(rows)  # few different ones: hashed once each
        return pa.table({PARTITION_PATH: places.dictionary_encode(), RECORD_KEY: self.record_keys.of(rows)})


def find_duplicates(
    splits: Sequence[SourceSplit],
    record_keys: RecordKeys,
    paths: PartitionPaths,
    rows: int,
    sample: bool,
    engine: Engine,
) -> Duplicates:
    """Read only key and partition columns of all files, and bring equal 64-bit hashes of them together.

    On equal hashes the files are read again and the keys themselves compared. Raises RecordKeyError for keys that are null, or of
    a type without a stable text.
    """
    columns = top_level((*record_keys.fields, *paths.fields))
    narrow = [split.narrowed(columns) for split in splits]
    hashes_of = HashesOf(KeysOf(record_keys, paths), sample)
    if rows <= _GATHERED:
        shares = packed(narrow, engine.parallelism, lambda split: split.size)
        repeated = [repeated_hashes(engine.map(GatherHashes(hashes_of), shares))]
    else:
        buckets = max(engine.parallelism, -(-rows * _HASH_BYTES // _BUCKET_BYTES))
        repeated = engine.exchange_inputs([(SpreadHashes(hashes_of, buckets), narrow)], buckets).map(repeated_in_bucket)
    total = sum(count for count, _ in repeated)
    if not total:
        return Duplicates(0)
    suspects = np.concatenate([hashes for _, hashes in repeated])[:_SUSPECTS]
    counted = pa.concat_tables(engine.map(CountKeys(hashes_of.keys_of, suspects), narrow))
    keys = counted.group_by([PARTITION_PATH, RECORD_KEY]).aggregate([("count_all", "sum")])
    twice = keys.filter(pc.greater(keys["count_all_sum"], 1))
    if not twice.num_rows:
        return Duplicates(0)
    example = f"{twice[RECORD_KEY][0].as_py()!r} of partition {twice[PARTITION_PATH][0].as_py()!r}"
    return Duplicates(
        twice.num_rows if total <= _SUSPECTS else total, f"{example} occurs {twice['count_all_sum'][0].as_py()} times"
    )


@dataclass(frozen=True)
class HashesOf:
    """Rows of a source -> hashes (uint64) of partition path and record key, of the sample or of all."""

    keys_of: KeysOf
    sample: bool

    def __call__(self, rows: pa.Table) -> np.ndarray:
        hashes = row_hashes(self.keys_of(rows))
        return hashes[hashes % np.uint64(_SAMPLE) == 0] if self.sample else hashes


@dataclass(frozen=True)
class GatherHashes:
    """Task function: some splits -> the hashes of their rows."""

    hashes_of: HashesOf

    def __call__(self, splits: Sequence[SourceSplit]) -> np.ndarray:
        return np.concatenate([self.hashes_of(rows) for split in splits for rows in chunks(split.batches())])


@dataclass(frozen=True)
class SpreadHashes:
    """Source split -> the hashes of its rows, by their upper half."""

    hashes_of: HashesOf
    buckets: int

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        for rows in chunks(batches):
            hashes = self.hashes_of(rows)
            bucket = (hashes >> np.uint64(32)) % np.uint64(self.buckets)
            yield from split_by(pa.table({_HASH: hashes}), bucket, self.buckets)


def repeated_in_bucket(bucket: int, tables: Iterator[pa.Table]) -> tuple[int, np.ndarray]:
    """`repeated_hashes` of a bucket's rows."""
    return repeated_hashes([table[_HASH].to_numpy() for table in tables])


def repeated_hashes(hash_arrays: Sequence[np.ndarray]) -> tuple[int, np.ndarray]:
    """The number of hashes that occur more than once, and the first of these hashes."""
    hashes = np.sort(np.concatenate([np.zeros(0, np.uint64), *hash_arrays]))
    twice = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    return len(twice), twice[:_SUSPECTS]


@dataclass(frozen=True)
class CountKeys:
    """Task function: source split -> its keys with one of these hashes, and how often each one occurs in it."""

    keys_of: KeysOf
    hashes: np.ndarray

    def __call__(self, split: SourceSplit) -> pa.Table:
        result = [pa.table({PARTITION_PATH: pa.array([], pa.string()), RECORD_KEY: pa.array([], pa.string())})]
        for rows in split.tables():
            keyed = self.keys_of(rows)
            near = np.flatnonzero(np.isin(row_hashes(keyed), self.hashes))
            result.append(keyed.take(pa.array(near)).cast(result[0].schema))
        return pa.concat_tables(result).group_by([PARTITION_PATH, RECORD_KEY]).aggregate([([], "count_all")])


def check_folder(rows: pa.Table, paths: PartitionPaths, folder: str, where: str) -> None:
    """Raises RecordKeyError when a row of a skeleton's source belongs to another partition than its file lies in."""
    for path in pc.unique(paths.of(rows)).to_pylist():  # distinct values: few
        if path != folder:
            raise RecordKeyError(
                f"Source file {where} has rows of another partition than its folder",
                found=f"partition path {path!r} in folder {folder!r}",
                fix="move the rows, correct the options of the partition columns, or copy them with the mode FULL_RECORD",
            )
