"""The files of consistent hashing, below `.hoodie/.bucket_index`: which version of a partition's metadata counts.

A resizing writes a new version before it commits, and Hudi marks the valid versions when it next looks. Hudi decides by the
timeline and, for archived instants, by the base files; this comes to the same answer from the same files, and marks none (Hudi's
`ConsistentBucketIndexUtils`, decision 55).
"""

from __future__ import annotations

from collections.abc import Collection

from hoodie.errors import CorruptTableError, PendingInstantError, UnsupportedTableError
from hoodie.index.hashing import FIRST_VERSION, HashingMetadata
from hoodie.storage.base import Listing, join
from hoodie.timeline import Action
from hoodie.timeline.name_checks import named_instant
from hoodie.transaction.rollback import is_plan
from hoodie.view import TableState

FOLDER = ".hoodie/.bucket_index"
HASHING = f"{FOLDER}/consistent_hashing_metadata"
_RULES = f"{FOLDER}/partition_bucket_index_meta"
_METADATA, _COMMITTED = ".hashing_meta", ".commit"


def bucket_folders(state: TableState) -> Collection[str]:
    """Return the folders with metadata of buckets. One listing."""
    return state.storage.list(FOLDER).folders


def is_consistently_hashed(state: TableState, folders: Collection[str] | None = None) -> bool:
    """Return whether Hudi finds the file group of a key by consistent hashing (`hoodie.index.bucket.engine`), which it has for
    merge-on-read tables alone. File ids do not show it; the metadata of the hashing does (format notes, section 4). `folders`
    are those of `bucket_folders`, if they are known."""
    if not state.properties.is_merge_on_read:
        return False
    present = bucket_folders(state) if folders is None else folders
    return HASHING in present and state.storage.list(HASHING) != Listing()


def refuse_rules(state: TableState, folders: Collection[str]) -> None:
    """Before a write to buckets. Raises UnsupportedTableError if partitions have numbers of buckets of their own.

    Hudi keeps them in files and in no table property (PartitionBucketIndexHashingConfig of Hudi 1.2.0). A new partition would
    get another number of buckets than Hudi's writers take.
    """
    if _RULES in folders:
        raise UnsupportedTableError(
            f"Partitions of table {state.storage.base_path} have numbers of buckets of their own",
            found=f"{_RULES}, which Hudi makes for hoodie.bucket.index.partition.expressions",
            fix="nothing was written: keys would be where Hudi's writers do not look for them. Write to this table by Hudi, or "
            "write its rows to a new table with one number of buckets",
        )


def refuse_replacing(state: TableState) -> None:
    """Before file groups are taken out. Raises UnsupportedTableError."""
    if is_consistently_hashed(state):
        raise UnsupportedTableError(
            f"No file groups are replaced in table {state.storage.base_path}, whose keys are found by consistent hashing",
            found=f"{HASHING}: it would go on to name them, and no reader would see rows written to them",
            fix="nothing was written; delete rows by their keys instead",
        )


def refuse_while_resized(state: TableState) -> None:
    """Before the write has touched anything: of a table whose keys are found by consistent hashing. Raises PendingInstantError
    while a clustering waits.

    Hudi's writers write to the file groups that the plan is to make. Their logs have the name of its instant, so that a metadata
    table which Hudi has to build again before the plan is complete, as after a write of ours, misses them: Hudi then reads older
    rows.
    """
    for instant in state.timeline.pending:
        if instant.action is state.layout.clustering and is_plan(state, instant.time, instant.action):
            raise PendingInstantError(
                f"Buckets of table {state.storage.base_path}, whose keys are found by consistent hashing, wait to be resized",
                found=f"pending {state.where(instant)}",
                fix="nothing was touched; let Hudi carry that clustering out, then write again",
            )


def load_hashing(state: TableState, partition: str, base_files: Collection[str]) -> HashingMetadata | None:
    """The metadata that counts in this state; `base_files` are the ids of the partition's groups that have a base file. None:
    the partition has none yet. One listing, and one read or few.

    Raises CorruptTableError for metadata that is damaged or gone.
    """
    names = {file.name for file in state.storage.list(join(HASHING, partition)).files}
    versions = sorted(name.removesuffix(_METADATA) for name in names if name.endswith(_METADATA))
    marked = sorted(name.removesuffix(_COMMITTED) for name in names if name.endswith(_COMMITTED))
    lost_versions = sorted({*marked} - {*versions})
    if lost_versions:
        raise CorruptTableError(
            f"The consistent hashing of partition {partition!r} of table {state.storage.base_path} has lost a version",
            found=f"{lost_versions[0]}{_COMMITTED} without {lost_versions[0]}{_METADATA}",
            fix=f"nothing was written; restore the file in {join(HASHING, partition)} from a backup",
        )
    completed = {instant.time for instant in state.timeline.completed(Action.COMMIT, Action.REPLACE_COMMIT)}
    pending = {instant.time for instant in state.timeline.pending}
    latest = state.timeline.latest_time
    metadata: HashingMetadata | None = None
    for version in versions[versions.index(marked[0]) if marked else 0 :]:
        time = named_instant(version, f"{state.storage.base_path}/{join(HASHING, partition)}")
        if version == FIRST_VERSION or version in marked[:1] or time in completed:
            metadata = _read(state, partition, version)
        elif (
            time not in pending and latest is not None and time <= latest
        ):  # archived, or rolled back; otherwise begun since
            read = _read(state, partition, version)
            if any(node.file_id in base_files for node in read.nodes):
                _check_committed(state, read)
                metadata = read
    return metadata


def _check_committed(state: TableState, read: HashingMetadata) -> None:
    """Hudi takes any version of which a base file is there, those of resizings that were rolled back among them."""
    if not state.timeline.is_committed(named_instant(read.instant, "consistent hashing")):
        path = join(HASHING, read.partition, f"{read.instant}{_METADATA}")
        raise UnsupportedTableError(
            f"The consistent hashing of partition {read.partition!r} of table {state.storage.base_path} is not clear",
            found=f"{path} of a resizing that was rolled back; Hudi would use it, and have keys twice",
            fix=f"nothing was written; move that file away, and {read.instant}{_COMMITTED} beside it if it is there",
        )


def make_hashing(state: TableState, metadata: HashingMetadata) -> HashingMetadata:
    """Write the first metadata of a partition, or get that which another writer has made at the same time."""
    path = join(HASHING, metadata.partition, f"{metadata.instant}{_METADATA}")
    try:
        state.storage.create(path, metadata.encode())
    except FileExistsError:
        return _read(state, metadata.partition, metadata.instant)
    return metadata


def _read(state: TableState, partition: str, version: str) -> HashingMetadata:
    path = join(HASHING, partition, f"{version}{_METADATA}")
    return HashingMetadata.decode(state.storage.read(path), f"{state.storage.base_path}/{path}")
