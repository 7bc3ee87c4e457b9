"""The BUCKET index of one write: of its partitions, and the file groups that are there."""

from __future__ import annotations

from collections.abc import Sequence

from hoodie.config.keys.index import BUCKETS
from hoodie.errors import UnsupportedTableError
from hoodie.index.bucket import BucketIndex
from hoodie.index.bucket_layout import check_buckets, homes_of_rings
from hoodie.index.buckets import Buckets, FixedBuckets, bucket_of, fixed_file_id
from hoodie.index.hashing import HashingMetadata, Rings
from hoodie.index.hashing_files import HASHING, load_hashing, make_hashing
from hoodie.keygen import StoredKeys
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.view import TableState
from hoodie.view.replaced_groups import replaced_groups
from hoodie.write.plan import WritePlan


def bucket_index(
    state: TableState, plan: WritePlan, partitions: Sequence[str], slices: Sequence[FileSlice], stored: StoredKeys
) -> BucketIndex:
    """Makes the hashing metadata of partitions that have none, where keys are found by it. Raises ConfigError,
    UnsupportedTableError for file groups that are not what the index takes them for, CorruptTableError."""
    fields, key_fields = plan.hashed_fields, plan.properties.record_key_fields
    if plan.hashed_consistently:
        rings = Rings(tuple(_ring(state, plan, partition, slices) for partition in partitions), fields, key_fields)
        numbers = homes_of_rings(state, slices, rings, partitions, stored)
        return BucketIndex(rings, tuple(partitions), numbers)
    buckets = Buckets(plan.options[BUCKETS], fields, key_fields)
    check_buckets(state, slices, buckets, stored)
    result = (buckets.number_of(partitions.index(file_slice.partition), file_slice.file_id) for file_slice in slices)
    homes = _fixed(state, buckets, partitions) if plan.non_blocking else buckets
    return BucketIndex(homes, tuple(partitions), tuple(home for home in result if home is not None))


def _fixed(state: TableState, buckets: Buckets, partitions: Sequence[str]) -> FixedBuckets:
    """Hudi's writers put rows into a replaced file group again, where readers skip them (apache/hudi#19791)."""
    last: dict[int, Time] = {}
    replaced_numbers: set[int] = set()
    for group, instant in replaced_groups(state).items():
        bucket = bucket_of(group.file_id)
        if bucket is None or group.partition not in partitions:
            continue
        number = partitions.index(group.partition) * buckets.count + bucket
        last[number] = max(last.get(number, instant.time), instant.time)
        if group.file_id == fixed_file_id(bucket):
            replaced_numbers.add(number)
    return FixedBuckets(buckets, {number: last[number] for number in replaced_numbers})


def _ring(state: TableState, plan: WritePlan, partition: str, slices: Sequence[FileSlice]) -> HashingMetadata:
    """The ring of a partition. The ring of a write that fails, or is killed, stays: it is the same for the next one, and has
    no file group."""
    own_slices = [file_slice for file_slice in slices if file_slice.partition == partition]
    metadata = load_hashing(
        state, partition, {file_slice.file_id for file_slice in own_slices if file_slice.base_file is not None}
    )
    if metadata is not None:
        return metadata
    if own_slices:
        raise UnsupportedTableError(
            f"Partition {partition!r} of table {state.storage.base_path} has file groups, and no consistent hashing",
            found=f"nothing in {HASHING}/{partition}",
            fix="nothing was written: its keys would be there twice. Restore the metadata from a backup",
        )
    return make_hashing(state, HashingMetadata.first(partition, plan.options[BUCKETS]))
