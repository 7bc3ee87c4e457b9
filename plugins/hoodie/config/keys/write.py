"""Options of a write. Names and defaults are Hudi's, but for the codec (docs/contributing/decisions)."""

from __future__ import annotations

from typing import Any

from hoodie.config.key import ConfigKey, boolean, choice, fraction, integer
from hoodie.config.keys.concurrency import CHECK_NEW_KEYS, CONFLICT_RETRIES, EARLY_KEYS, SHARING_KEYS
from hoodie.config.keys.index import INDEX_KEYS
from hoodie.config.keys.lock import LOCK_KEYS
from hoodie.config.keys.marker import MARKER_KEYS
from hoodie.config.keys.memory import SPILL_FOLDER
from hoodie.config.partitions import partition_names

_MIB = 1024 * 1024
OPERATIONS = (
    "insert",
    "bulk_insert",
    "upsert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "delete_partition",
)


def operation(value: str) -> str:
    """One of `OPERATIONS`, in any case."""
    lowered = value.strip().lower()
    if lowered not in OPERATIONS:
        raise ValueError("one of " + ", ".join(OPERATIONS))
    return lowered


MAX_FILE_SIZE = ConfigKey[int](
    "hoodie.parquet.max.file.size", integer(1), 120 * _MIB, "a base file is closed at about this many bytes"
)
SMALL_FILE_LIMIT = ConfigKey[int](
    "hoodie.parquet.small.file.limit",
    integer(0),
    100 * _MIB,
    "inserts first go to base files below this many bytes; 0: never",
)
SMALL_FILE_CANDIDATES = ConfigKey[int](
    "hoodie.merge.small.file.group.candidates.limit",
    integer(0),
    1,
    "merge on read: small base files per partition that inserts may fill, which writes them again",
)
RECORD_SIZE_ESTIMATE = ConfigKey[int](
    "hoodie.copyonwrite.record.size.estimate", integer(1), 1024, "bytes of a record until a commit shows the real size"
)
ROW_GROUP_SIZE = ConfigKey[int](
    "hoodie.parquet.block.size", integer(1), 120 * _MIB, "a Parquet row group holds about this many bytes of Arrow data"
)
COMPRESSION = ConfigKey[str](
    "hoodie.parquet.compression.codec",
    choice("ZSTD", "SNAPPY", "GZIP", "LZ4_RAW", "UNCOMPRESSED"),
    "ZSTD",
    "codec of base files",
)
COMBINE_BEFORE_INSERT = ConfigKey[bool](
    "hoodie.combine.before.insert",
    boolean,
    False,
    "remove duplicate keys within the batch before insert and bulk_insert",
)
ALLOW_DUPLICATES = ConfigKey[bool](
    "hoodie.merge.allow.duplicate.on.inserts",
    boolean,
    True,
    "insert adds its rows to the small base files they go to, also those of keys that are there; false: there, and only there, "
    "it does as an upsert",
)
SET_NULL_FOR_MISSING = ConfigKey[bool](
    "hoodie.write.set.null.for.missing.columns",
    boolean,
    False,
    "given as false, rows that lack columns of the table are refused; otherwise these columns are null in them",
)
RECONCILE_SCHEMA = ConfigKey[bool](
    "hoodie.datasource.write.reconcile.schema", boolean, False, "columns that the rows lack are null in any case"
)
OPERATION = ConfigKey[str](
    "hoodie.datasource.write.operation", operation, "upsert", "what becomes of the rows, where the call does not say it"
)
DUP_POLICY = ConfigKey[str](
    "hoodie.datasource.insert.dup.policy",
    choice("NONE", "DROP", "FAIL"),
    "NONE",
    "what insert does with a row whose key is stored in its partition: none adds it all the same, drop leaves it out, fail "
    "writes nothing",
)
PARTITIONS_TO_DELETE = ConfigKey[tuple[str, ...]](
    "hoodie.datasource.write.partitions.to.delete",
    partition_names,
    None,
    "what delete_partition drops: paths of partitions between commas, in which * matches anything; default: those of the rows",
)
EMPTY_OVERWRITE = ConfigKey[bool](
    "hoodie.datasource.overwrite.allow.empty",
    boolean,
    False,
    "insert_overwrite_table without a row leaves an empty table; false: it is refused",
)
BLOOM_ENTRIES = ConfigKey[int](
    "hoodie.index.bloom.num_entries",
    integer(1),
    60000,
    "keys a bloom filter is sized for; when not given a power of two that holds those of the file, at most this",
    ("hoodie.bloom.index.num_entries",),
)
BLOOM_FPP = ConfigKey[float](
    "hoodie.index.bloom.fpp", fraction, 1e-9, "false positive rate of the bloom filters", ("hoodie.bloom.index.fpp",)
)
BLOOM_MAX_ENTRIES = ConfigKey[int](
    "hoodie.bloom.index.filter.dynamic.max.entries", integer(1), 100000, "keys up to which a bloom filter grows"
)
_TASKS = "tasks of a stage; 0: by the size of the input and the cores"
UPSERT_PARALLELISM = ConfigKey[int]("hoodie.upsert.shuffle.parallelism", integer(0), 0, _TASKS)
INSERT_PARALLELISM = ConfigKey[int]("hoodie.insert.shuffle.parallelism", integer(0), 0, _TASKS)
DELETE_PARALLELISM = ConfigKey[int]("hoodie.delete.shuffle.parallelism", integer(0), 0, _TASKS)
BULK_INSERT_PARALLELISM = ConfigKey[int]("hoodie.bulkinsert.shuffle.parallelism", integer(0), 0, _TASKS)
WRITE_POSITIONS = ConfigKey[bool](
    "hoodie.write.record.positions",
    boolean,
    True,
    "logs have the row numbers of their rows in the base file (table version 8 and newer), which makes queries faster",
)

WRITE_KEYS: tuple[ConfigKey[Any], ...] = (
    MAX_FILE_SIZE,
    SMALL_FILE_LIMIT,
    SMALL_FILE_CANDIDATES,
    RECORD_SIZE_ESTIMATE,
    ROW_GROUP_SIZE,
    COMPRESSION,
    COMBINE_BEFORE_INSERT,
    ALLOW_DUPLICATES,
    DUP_POLICY,
    PARTITIONS_TO_DELETE,
    EMPTY_OVERWRITE,
    SET_NULL_FOR_MISSING,
    RECONCILE_SCHEMA,
    BLOOM_ENTRIES,
    BLOOM_FPP,
    BLOOM_MAX_ENTRIES,
    UPSERT_PARALLELISM,
    INSERT_PARALLELISM,
    DELETE_PARALLELISM,
    BULK_INSERT_PARALLELISM,
    WRITE_POSITIONS,
    *INDEX_KEYS,
    *LOCK_KEYS,
    *SHARING_KEYS,
    *MARKER_KEYS,
    CONFLICT_RETRIES,
    CHECK_NEW_KEYS,
    *EARLY_KEYS,
    SPILL_FOLDER,
)
