"""A write whose new keys another writer has inserted meanwhile: file groups do not show it (docs/decisions/0035)."""

from __future__ import annotations

from hoodie.config.concurrency_keys import CHECK_NEW_KEYS
from hoodie.errors import DuplicateKeyError, WriteConflictError
from hoodie.index.new_keys import NewKeys
from hoodie.timeline import Instant
from hoodie.transaction.window import Window
from hoodie.write.pipeline import Written
from hoodie.write.worker.context import WriteContext


def refuse_same_keys(meanwhile: Window, instant: Instant, written: Written, context: WriteContext) -> None:
    """Raises WriteConflictError when a commit of `meanwhile` holds a key that the write found nowhere; DuplicateKeyError for an
    insert, which would add the row again however often it is run."""
    state, stored = meanwhile.now, context.stored_keys
    keys = written.new_keys
    if keys is None:
        keys = NewKeys.of_files(state, instant.time, written.stats, stored)
    found = keys.inserted_by_others(meanwhile, written.touched, stored)
    if found is None:
        return
    winner, group = found
    what = f"Write {instant.time} of table {state.storage.base_path} lost against another that came first by {winner}"
    told = f"the other has inserted one of its keys, in file group {group.file_id} of partition {group.partition!r}"
    if context.operation.finds_keys:
        raise WriteConflictError(
            what,
            found=told,
            fix="nothing of this write is left; run it again, it then goes out from what the other has left "
            "(hoodie.write.num.retries.on.conflict.failures does so by itself)",
        )
    raise DuplicateKeyError(
        what,
        found=told,
        fix="nothing of this write is left; run it as an upsert, or set "
        f"{CHECK_NEW_KEYS.name}=false where a key may be there twice",
    )
