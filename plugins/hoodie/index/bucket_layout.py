"""Whether the file groups of a table are buckets, and those that a write takes them for.

Nothing in a table says so. A write with another number of buckets, or without any, would put keys where those with the right one
do not look: they would be there twice, without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hoodie.config.index_keys import BUCKETS, INDEX_TYPE
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.formats.stitched import open_base_file
from hoodie.index.buckets import Buckets, bucket_of
from hoodie.index.simple import base_file_keys, log_keys
from hoodie.keygen import StoredKeys
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.storage.base import Listing
from hoodie.view import TableState

_HASHING = ".hoodie/.bucket_index/consistent_hashing_metadata"
_PROBED_KEYS = 64  # stored keys that are held against the number of buckets: one of two fits a wrong one at most
_PROBED_FILES = 64


def is_bucketed(state: TableState) -> bool | None:
    """Whether the newest commit that wrote files wrote them to buckets; None: none has written any."""
    for instant in reversed(state.timeline.commits):
        stats = state.commit_metadata(instant).stats
        if stats:
            return all(bucket_of(stat.file_id) is not None for stat in stats)
    return None


def is_consistently_hashed(state: TableState) -> bool:
    """Whether Hudi finds the file group of a key by consistent hashing (`hoodie.index.bucket.engine`), which it has for
    merge-on-read tables alone. File ids do not tell; the metadata of the hashing does (format notes, section 4)."""
    return state.properties.is_merge_on_read and state.storage.list(_HASHING) != Listing()


def refuse_consistent_hashing(state: TableState) -> None:
    """Before rows are placed, or file groups taken out. Raises UnsupportedTableError."""
    if is_consistently_hashed(state):
        raise UnsupportedTableError(
            f"Rows are not written to table {state.storage.base_path}, whose file groups Hudi finds by consistent hashing",
            found=f"{_HASHING}: Hudi's next write would double rows that are elsewhere, and lose those of groups that went",
            fix="nothing was written; write it with Hudi. Reads, deletions by key, compactions and cleans go on here",
        )


def check_buckets(state: TableState, slices: Sequence[FileSlice], buckets: Buckets, stored: StoredKeys) -> None:
    """Before a write to these slices. Raises ConfigError for another number of buckets than theirs, UnsupportedTableError for a
    file group that is no bucket, or a bucket that has two."""
    seen: dict[tuple[str, int], FileSlice] = {}
    for each in slices:
        bucket = bucket_of(each.file_id)
        if bucket is None:
            raise UnsupportedTableError(
                f"File group {each.file_id} of partition {each.partition!r} of table {state.storage.base_path} is no bucket",
                found=f"{INDEX_TYPE.name}=BUCKET, and a file group of a write with another index",
                fix=f"nothing was written; write with {INDEX_TYPE.name}=SIMPLE",
            )
        if bucket >= buckets.count:
            raise _wrong_number(
                state, buckets, f"file group {each.file_id}, bucket {bucket}, of partition {each.partition!r}"
            )
        other = seen.setdefault((each.partition, bucket), each)
        if other is not each:
            raise UnsupportedTableError(
                f"Bucket {bucket} of partition {each.partition!r} of table {state.storage.base_path} has two file groups",
                found=f"{other.file_id} and {each.file_id}, as two bulk inserts of Hudi's leave them",
                fix="nothing was written; write the partition anew by insert_overwrite from a read of it",
            )
    probed = 0
    for each, keys in _keys(state, slices[:_PROBED_FILES], stored):
        wrong = np.flatnonzero(buckets.of(keys) != bucket_of(each.file_id))
        if len(wrong):
            found = f"key {keys[int(wrong[0])].as_py()!r:.200} in file group {each.file_id}"
            raise _wrong_number(state, buckets, found)
        probed += len(keys)
        if probed >= _PROBED_KEYS:
            return


def _keys(
    state: TableState, slices: Sequence[FileSlice], stored: StoredKeys
) -> Iterator[tuple[FileSlice, pa.ChunkedArray]]:
    """Some keys of each slice that has any, but those of logs where it has a base file."""
    for each in slices:
        if each.base_file is not None:
            with open_base_file(state.storage, each.base_file) as reader:
                found = next((rows for rows in base_file_keys(reader, stored, _PROBED_KEYS) if rows.num_rows), None)
        else:
            found = next(iter(log_keys(state.storage, state.timeline, each, stored)), None)
        if found is not None:
            yield each, found[RECORD_KEY]


def _wrong_number(state: TableState, buckets: Buckets, found: str) -> ConfigError:
    return ConfigError(
        f"Option {BUCKETS.name}={buckets.count}, or the columns that are hashed, are not those of table "
        f"{state.storage.base_path}",
        found=found,
        fix=f"nothing was written; give {BUCKETS.name} and hoodie.bucket.index.hash.field as they were when the table was first "
        "written: they never change",
    )
