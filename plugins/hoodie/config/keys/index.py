"""Options of indexes: how a write finds the file of a stored key. Names and defaults are Hudi's."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, columns

SIMPLE, BLOOM, BUCKET = "SIMPLE", "BLOOM", "BUCKET"
CONSISTENT_HASHING = "CONSISTENT_HASHING"
GLOBAL_SIMPLE, GLOBAL_BLOOM = "GLOBAL_SIMPLE", "GLOBAL_BLOOM"
INDEX_TYPES = (SIMPLE, BLOOM, BUCKET, GLOBAL_SIMPLE, GLOBAL_BLOOM)
GLOBAL_TYPES = (GLOBAL_SIMPLE, GLOBAL_BLOOM)
BLOOM_TYPES = (BLOOM, GLOBAL_BLOOM)
MOST_BUCKETS = 10_000  # file ids of more buckets would look like other file ids
_NO_METADATA = "it lives in Hudi's metadata table, which is not kept here"
_NOT_HERE = {
    "RECORD_INDEX": _NO_METADATA,
    "RECORD_LEVEL_INDEX": _NO_METADATA,
    "GLOBAL_RECORD_LEVEL_INDEX": _NO_METADATA,
    "INMEMORY": "Hudi keeps it in the memory of one process, for tests",
    "FLINK_STATE": "it lives in the state of a Flink job",
}


def index_type(value: str) -> str:
    """One of `INDEX_TYPES`, in any case."""
    upper = value.strip().upper()
    if upper not in INDEX_TYPES:
        reason = f" ({upper}: {_NOT_HERE[upper]})" if upper in _NOT_HERE else ""
        raise ValueError(f"one of {', '.join(INDEX_TYPES)}{reason}")
    return upper


def bucket_count(value: str) -> int:
    """A number of buckets."""
    if not value.strip().isdecimal() or not 0 < int(value) <= MOST_BUCKETS:
        raise ValueError(f"a whole number from 1 to {MOST_BUCKETS}")
    return int(value)


def bucket_engine(value: str) -> str:
    """SIMPLE or CONSISTENT_HASHING, in any case."""
    if (upper := value.strip().upper()) not in (SIMPLE, CONSISTENT_HASHING):
        raise ValueError(f"{SIMPLE} or {CONSISTENT_HASHING}")
    return upper


INDEX_TYPE = ConfigKey[str](
    "hoodie.index.type",
    index_type,
    SIMPLE,
    "how the file of a stored key is found; with a GLOBAL_ index keys are unique in the table, otherwise in each partition",
)
SIMPLE_MOVES = ConfigKey[bool](
    "hoodie.simple.index.update.partition.path",
    boolean,
    True,
    "GLOBAL_SIMPLE: a row of another partition than that of its key moves the key there; false: it stays in the old one",
)
BLOOM_MOVES = ConfigKey[bool](
    "hoodie.bloom.index.update.partition.path",
    boolean,
    True,
    "GLOBAL_BLOOM: a row of another partition than that of its key moves the key there; false: it stays in the old one",
)
PRUNE_BY_RANGES = ConfigKey[bool](
    "hoodie.bloom.index.prune.by.ranges",
    boolean,
    True,
    "BLOOM: files whose range of keys rules a row out are not asked for their bloom filters; false, for random keys: each is",
)
BUCKETS = ConfigKey[int](
    "hoodie.bucket.index.num.buckets",
    bucket_count,
    256,
    "BUCKET: file groups of a partition, at most; they never change, and each write needs the same (but see the engine)",
)
BUCKET_ENGINE = ConfigKey[str](
    "hoodie.index.bucket.engine",
    bucket_engine,
    SIMPLE,
    "BUCKET: SIMPLE, or CONSISTENT_HASHING for merge-on-read tables, where the number of buckets is that of a new partition and "
    "Hudi's clustering splits and merges them",
)
BUCKET_FIELDS = ConfigKey[tuple[str, ...]](
    "hoodie.bucket.index.hash.field",
    columns,
    None,
    "BUCKET: key columns whose values decide the bucket of a row; all of them when not given",
)

INDEX_KEYS: tuple[ConfigKey[Any], ...] = (
    INDEX_TYPE,
    SIMPLE_MOVES,
    BLOOM_MOVES,
    PRUNE_BY_RANGES,
    BUCKETS,
    BUCKET_ENGINE,
    BUCKET_FIELDS,
)
