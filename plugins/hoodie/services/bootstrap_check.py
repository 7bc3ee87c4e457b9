"""Looking through the keys of a bootstrap's source: that they are there, unique, and in the folder of their partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hoodie.engine.base import Block, Engine
from hoodie.errors import RecordKeyError
from hoodie.formats.murmur import murmur2
from hoodie.keygen import PartitionPaths, RecordKeys
from hoodie.model.meta_columns import PARTITION_PATH, RECORD_KEY
from hoodie.services.bootstrap_source import SourceSplit
from hoodie.write.rows import by_key_hash

_SAMPLE = 64  # a sample is one key in so many, by hash: duplicates of a key are in it all or none
_KEY_BYTES = 40  # a guess, for the number of buckets
_BUCKET_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True)
class Duplicates:
    """Keys that stand more than once in a partition."""

    keys: int
    example: str | None = None


def find_duplicates(
    splits: Sequence[SourceSplit],
    record_keys: RecordKeys,
    paths: PartitionPaths,
    rows: int,
    sample: bool,
    engine: Engine,
) -> Duplicates:
    """Read only key and partition columns of all files and exchange them by key.

    Raises RecordKeyError for keys that are null, or of a type without a stable text.
    """
    columns = [*record_keys.fields, *paths.fields]
    narrow = [split.narrowed(columns) for split in splits]
    buckets = max(engine.parallelism, -(-rows * _KEY_BYTES // _BUCKET_BYTES))
    keyed = engine.exchange_inputs([(KeysOf(record_keys, paths, buckets, sample), narrow)], buckets)
    found = keyed.map(count_duplicates)
    example = next((each.example for each in found if each.example is not None), None)
    return Duplicates(sum(each.keys for each in found), example)


@dataclass(frozen=True)
class KeysOf:
    """Source split -> its record keys and partition paths, by hash of the key."""

    record_keys: RecordKeys
    paths: PartitionPaths
    buckets: int
    sample: bool

    def __call__(self, number: int, batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            named = pa.table({PARTITION_PATH: self.paths.of(rows), RECORD_KEY: self.record_keys.of(rows)})
            if self.sample:
                near = np.flatnonzero(murmur2(named[RECORD_KEY], 1) % np.uint32(_SAMPLE) == 0)
                named = named.take(pa.array(near))
            yield from by_key_hash(named, self.buckets)


def count_duplicates(bucket: int, tables: Iterator[pa.Table]) -> Duplicates:
    """Bucket of partition paths and keys -> those that stand there more than once."""
    held = list(tables)
    if not held:
        return Duplicates(0)
    counted = pa.concat_tables(held).group_by([PARTITION_PATH, RECORD_KEY]).aggregate([([], "count_all")])
    twice = counted.filter(pc.greater(counted["count_all"], 1))
    if not twice.num_rows:
        return Duplicates(0)
    example = f"{twice[RECORD_KEY][0].as_py()!r} of partition {twice[PARTITION_PATH][0].as_py()!r}"
    return Duplicates(twice.num_rows, f"{example} stands {twice['count_all'][0].as_py()} times")


def check_folder(rows: pa.Table, paths: PartitionPaths, folder: str, where: str) -> None:
    """Raises RecordKeyError when a row of a skeleton's source belongs to another partition than its file lies in."""
    for path in pc.unique(paths.of(rows)).to_pylist():  # distinct values: few
        if path != folder:
            raise RecordKeyError(
                f"Source file {where} has rows of another partition than its folder",
                found=f"partition path {path!r} in folder {folder!r}",
                fix="move the rows, correct the options of the partition columns, or copy them with the mode FULL_RECORD",
            )
