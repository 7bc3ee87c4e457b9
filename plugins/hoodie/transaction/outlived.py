"""Tasks that outlive their write: what they finish after its rollback is taken away again.

Spark may go on with tasks of a write that has failed, or whose driver was killed. A file that such a task finished after the
rollback would count as committed once the timeline begins after its instant (format notes, section 2.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hoodie.errors import PendingInstantError
from hoodie.storage.base import Storage
from hoodie.transaction.guard import delete_data_files


@contextmanager
def only_while_pending(storage: Storage, inflight: str, path: str) -> Iterator[None]:
    """Around the writing of the data file `path` by the instant whose inflight file is `inflight`.

    Raises PendingInstantError, and deletes the data file, when the instant was rolled back meanwhile.
    """
    yield
    if storage.info(inflight) is None:
        delete_data_files(storage, {path})
        raise PendingInstantError(
            f"File {path} of table {storage.base_path} was finished too late",
            found=f"{inflight} is gone: its write was rolled back meanwhile",
            fix="nothing is left of it; run the write again",
        )
