"""A write whose new keys another writer has inserted meanwhile: file groups do not show it (docs/decisions/0035)."""

from __future__ import annotations

from hoodie.config.concurrency_keys import CHECK_NEW_KEYS
from hoodie.errors import DuplicateKeyError
from hoodie.index.new_keys import NewKeys
from hoodie.timeline import Instant
from hoodie.transaction.conflicts import Conflict, conflict_error
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
    found = keys.inserted_by_others(meanwhile, written.touched, stored, anywhere=context.global_keys)
    if found is None:
        return
    winner, group = found
    lost = conflict_error(state, instant, Conflict("the other has inserted one of its keys", winner, (group,)))
    if context.looks_up:
        raise lost
    raise DuplicateKeyError(
        lost.what,
        found=lost.found,
        fix="nothing of this write is left; run it as an upsert, or set "
        f"{CHECK_NEW_KEYS.name}=false where a key may be there twice",
    )
