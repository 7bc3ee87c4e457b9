"""Conflicts that file groups do not show: new keys, or a new bucket, that another writer adds too (decision 35)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hoodie.config.keys.concurrency import CHECK_NEW_KEYS
from hoodie.errors import DuplicateKeyError
from hoodie.index.buckets import bucket_of
from hoodie.index.new_keys import NewKeys
from hoodie.model.commit import WriteStat
from hoodie.model.files import GroupId
from hoodie.timeline import Instant
from hoodie.transaction.conflicts import Conflict, conflict_error
from hoodie.transaction.window import Window
from hoodie.view import TableState
from hoodie.write.pipeline import Written
from hoodie.write.worker.context import WriteContext


def refuse_same_keys(
    start: TableState, meanwhile: Window, instant: Instant, written: Written, context: WriteContext
) -> None:
    """Raises WriteConflictError when a commit of `meanwhile` holds a key that the write found nowhere, or in a group that was
    compacted since its `start`; DuplicateKeyError for an insert, which would add the row again however often it is run."""
    state, stored = meanwhile.now, context.stored_keys
    keys = written.new_keys
    if keys is None:
        keys = NewKeys.of_files(state, instant.time, written.stats, stored)
    compacted = _to_compacted(Window(start, state), written.stats)
    if compacted:
        keys = NewKeys.union([keys, NewKeys.of_logs(state.storage, compacted, stored)])
    inserted = keys.inserted_by_others(meanwhile, written.touched, stored, anywhere=context.global_keys)
    if inserted is None:
        return
    winner, group = inserted
    error = conflict_error(state, instant, Conflict("the other has inserted one of its keys", winner, (group,)))
    if context.looks_up:
        raise error
    raise DuplicateKeyError(
        error.what,
        found=error.found,
        fix="nothing of this write is left; run it as an upsert, or set "
        f"{CHECK_NEW_KEYS.name}=false where a key may be there twice",
    )


def refuse_same_buckets(meanwhile: Window, instant: Instant, touched: Collection[GroupId]) -> None:
    """Raises WriteConflictError when a commit of `meanwhile` has another file group for a bucket that the write has `touched`,
    also where it found nothing to delete: the other may have inserted it."""
    own = {(group.partition, bucket_of(group.file_id)): group for group in touched}
    for commit in meanwhile.commits:
        for group in {stat.group for stat in meanwhile.now.commit_metadata(commit).stats}:
            bucket = bucket_of(group.file_id)
            touched_group = own.get((group.partition, bucket))
            if bucket is not None and touched_group is not None and touched_group != group:
                raise conflict_error(
                    meanwhile.now,
                    instant,
                    Conflict(f"the other has made a file group of bucket {bucket}", commit, (group,)),
                )


def _to_compacted(since: Window, stats: Sequence[WriteStat]) -> list[WriteStat]:
    """The log files in groups whose rows a service has rewritten. A key whose row a log had deleted was found in the base file
    before; after the compaction it is gone, and the next writer of the key adds it to another group."""
    metadata = [since.now.commit_metadata(commit) for commit in since.commits]
    groups = {stat.group for body in metadata if body.moves_rows for stat in body.stats}
    return [stat for stat in stats if stat.log is not None and stat.group in groups]
