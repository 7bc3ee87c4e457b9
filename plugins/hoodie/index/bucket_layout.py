"""Check that the file groups of a table are buckets, and the buckets that a write takes them for.

Nothing in a table says so. A write with another number of buckets, or without any, would put keys where those with the right one
do not look: they would be there twice, without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from hoodie.config.keys.index import BUCKET_FIELDS, BUCKETS, INDEX_TYPE
from hoodie.errors import ConfigError, UnsupportedTableError
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.index.buckets import Buckets, bucket_of
from hoodie.index.hashing import Rings
from hoodie.index.simple import base_file_keys, log_keys
from hoodie.keygen import StoredKeys
from hoodie.model.files import FileSlice, GroupId
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.view import TableState
from hoodie.view.replaced_groups import replaced_groups

_PROBED_KEYS = 64  # stored keys that are held against the number of buckets: one of two fits a wrong one at most
_PROBED_FILES = 64


def is_bucketed(state: TableState) -> bool | None:
    """Return whether the newest commit that wrote files wrote them to buckets; None: no commit has written any."""
    for instant in reversed(state.timeline.commits):
        stats = state.commit_metadata(instant).stats
        if stats:
            return all(bucket_of(stat.file_id) is not None for stat in stats)
    return None


def homes_of_rings(
    state: TableState, slices: Sequence[FileSlice], rings: Rings, partitions: Sequence[str], stored: StoredKeys
) -> tuple[int, ...]:
    """Before a write to these slices: the number of each among the nodes of its partition's ring. Raises ConfigError for other
    hashed columns than the table's, UnsupportedTableError for a file group that is not a node, or a node whose rows went."""
    numbers = []
    for file_slice in slices:
        number = rings.number_of(partitions.index(file_slice.partition), file_slice.file_id)
        if number is None:
            raise UnsupportedTableError(
                f"File group {file_slice.file_id} of partition {file_slice.partition!r} of table {state.storage.base_path} "
                "is not a node of its consistent hashing",
                found="a file group of an overwrite, of another index, or of a resizing that was rolled back",
                fix="nothing was written: its keys would be there twice. Write its rows to a new table",
            )
        numbers.append(number)
    replaced = replaced_groups(state)
    for place, ring in enumerate(rings.rings):
        for node in ring.nodes:
            if GroupId(partitions[place], node.file_id) in replaced:
                raise UnsupportedTableError(
                    f"File group {node.file_id} of partition {ring.partition!r} of table {state.storage.base_path} was replaced",
                    found=f"an overwrite or a drop by {replaced[GroupId(partitions[place], node.file_id)]}, after which the "
                    "hashing still names it: no reader sees what Hudi writes to it",
                    fix="nothing was written; write the rows of the partition to a new table",
                )
    probed = 0
    for file_slice, keys in _keys(state, slices[:_PROBED_FILES], stored):
        place = partitions.index(file_slice.partition)
        wrong = np.flatnonzero(
            rings.numbers(np.full(len(keys), place), keys) != rings.number_of(place, file_slice.file_id)
        )
        if len(wrong):
            raise ConfigError(
                f"The columns that are hashed are not those of table {state.storage.base_path}",
                found=f"key {keys[int(wrong[0])].as_py()!r:.200} in file group {file_slice.file_id}",
                fix=f"nothing was written; give {BUCKET_FIELDS.name} as it was at first: it never changes",
            )
        probed += len(keys)
        if probed >= _PROBED_KEYS:
            break
    return tuple(numbers)


def check_buckets(state: TableState, slices: Sequence[FileSlice], buckets: Buckets, stored: StoredKeys) -> None:
    """Before a write to these slices. Raises ConfigError for another number of buckets than theirs, UnsupportedTableError for a
    file group that is not a bucket, or a bucket that has two."""
    slice_of_bucket: dict[tuple[str, int], FileSlice] = {}
    for file_slice in slices:
        bucket = bucket_of(file_slice.file_id)
        if bucket is None:
            raise UnsupportedTableError(
                f"File group {file_slice.file_id} of partition {file_slice.partition!r} of table {state.storage.base_path} "
                "is not a bucket",
                found=f"{INDEX_TYPE.name}=BUCKET, and a file group of a write with another index",
                fix=f"nothing was written; write with {INDEX_TYPE.name}=SIMPLE",
            )
        if bucket >= buckets.count:
            raise _wrong_number(
                state,
                buckets,
                f"file group {file_slice.file_id}, bucket {bucket}, of partition {file_slice.partition!r}",
            )
        other = slice_of_bucket.setdefault((file_slice.partition, bucket), file_slice)
        if other is not file_slice:
            raise UnsupportedTableError(
                f"Bucket {bucket} of partition {file_slice.partition!r} of table {state.storage.base_path} has two file groups",
                found=f"{other.file_id} and {file_slice.file_id}, as two bulk inserts of Hudi's leave them",
                fix="nothing was written; rewrite the partition by insert_overwrite from a read of it",
            )
    probed = 0
    for file_slice, keys in _keys(state, slices[:_PROBED_FILES], stored):
        wrong = np.flatnonzero(buckets.of(keys) != bucket_of(file_slice.file_id))
        if len(wrong):
            detail = f"key {keys[int(wrong[0])].as_py()!r:.200} in file group {file_slice.file_id}"
            raise _wrong_number(state, buckets, detail)
        probed += len(keys)
        if probed >= _PROBED_KEYS:
            return


def _keys(
    state: TableState, slices: Sequence[FileSlice], stored: StoredKeys
) -> Iterator[tuple[FileSlice, pa.ChunkedArray]]:
    """Some keys of each slice that has any, but those of logs where it has a base file."""
    for file_slice in slices:
        if file_slice.base_file is not None:
            with open_base_file(state.storage, file_slice.base_file) as reader:
                probe = next((rows for rows in base_file_keys(reader, stored, _PROBED_KEYS) if rows.num_rows), None)
        else:
            probe = next(iter(log_keys(state.storage, state.timeline, file_slice, stored)), None)
        if probe is not None:
            yield file_slice, probe[RECORD_KEY]


def _wrong_number(state: TableState, buckets: Buckets, detail: str) -> ConfigError:
    return ConfigError(
        f"Option {BUCKETS.name}={buckets.count}, or the columns that are hashed, are not those of table "
        f"{state.storage.base_path}",
        found=detail,
        fix=f"nothing was written; give {BUCKETS.name} and hoodie.bucket.index.hash.field as they were when the table was first "
        "written: they never change",
    )
