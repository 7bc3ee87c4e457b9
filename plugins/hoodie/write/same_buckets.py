"""Two writers at one bucket that is not there yet, one of which makes it: file groups do not show that they touch one place."""

from __future__ import annotations

from collections.abc import Collection

from hoodie.index.buckets import bucket_of
from hoodie.model.files import GroupId
from hoodie.timeline import Instant
from hoodie.transaction.conflicts import Conflict, conflict_error
from hoodie.transaction.window import Window


def refuse_same_buckets(meanwhile: Window, instant: Instant, touched: Collection[GroupId]) -> None:
    """Raises WriteConflictError when a commit of `meanwhile` has another file group for a bucket that the write has `touched`,
    also where it found nothing to delete: the other may have inserted it."""
    own = {(group.partition, bucket_of(group.file_id)): group for group in touched}
    for commit in meanwhile.commits:
        for group in {stat.group for stat in meanwhile.now.commit_metadata(commit).stats}:
            bucket = bucket_of(group.file_id)
            mine = own.get((group.partition, bucket))
            if bucket is not None and mine is not None and mine != group:
                raise conflict_error(
                    meanwhile.now,
                    instant,
                    Conflict(f"the other has made a file group of bucket {bucket}", commit, (group,)),
                )
