"""Batches of streaming queries in the commits of a table: which one was written last, and by which run of the query."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hoodie.errors import CorruptTableError, StreamBatchError
from hoodie.model.time import BEGINNING, Time
from hoodie.timeline import Action, Instant
from hoodie.view import TableState

KEY = "hoodie.stream.batch."
"""Prefix of the key in a commit's extra metadata. The identifier of the query follows."""


@dataclass(frozen=True)
class WrittenBatch:
    """The last batch of a query that a table has. `run` is the token of the sink that wrote it."""

    batch: int
    run: str
    instant: Time
    checkpoint: str = ""
    """Spark's identifier of the query, which lives as long as the checkpoint; empty where it is not known."""


@dataclass(frozen=True)
class StreamBatch:
    """A batch of a query that a run of it is to write."""

    query: str
    batch: int
    run: str
    checkpoint: str = ""
    after_restore: bool = False
    """True if batches that a restore rolled back are not missed."""

    @property
    def metadata(self) -> dict[str, str]:
        """The extra metadata of its commit."""
        stored = {"batch": self.batch, "run": self.run, **({"checkpoint": self.checkpoint} if self.checkpoint else {})}
        return {KEY + self.query: json.dumps(stored)}

    def written(self, instant: Time) -> WrittenBatch:
        """Return what a sink remembers when the commit at `instant` has the batch."""
        return WrittenBatch(self.batch, self.run, instant, self.checkpoint)


def last_batch(state: TableState, query: str, last_written: WrittenBatch | None = None) -> WrittenBatch | None:
    """Return the newest batch of the query, on the active timeline or archived. Commits before `last_written` are not
    read.

    Raises CorruptTableError or MissingFileError when a commit or the archive cannot be read: a batch might be written twice.
    Raises StreamBatchError when the `last_written` batch was rolled back.
    """
    for instant in state.newest_commits():
        if last_written is not None and instant.time <= last_written.instant:
            if instant.time == last_written.instant:
                return last_written
            break
        text = state.commit_metadata(instant).extra.get(KEY + query)
        if text:
            return _parsed(state, instant, text)
    if last_written is not None:
        raise _taken_back(state, query, f"no commit {last_written.instant}, which had batch {last_written.batch}")
    return None


def check_batch(
    state: TableState, batch: StreamBatch, last_written: WrittenBatch | None, stored: WrittenBatch | None = None
) -> WrittenBatch | None:
    """Return the last batch of the query if it is this one, None when this one is to be written.

    `last_written` is the last batch that this run has written, `stored` the last one of earlier runs (see `BatchFile`). Raises
    StreamBatchError when another run has written since, when the table has a later batch, or batches of another checkpoint,
    or when batches before this one were rolled back.
    """
    last = last_batch(state, batch.query, last_written)
    if last is not None and last.checkpoint and batch.checkpoint and last.checkpoint != batch.checkpoint:
        raise _refused(
            state,
            batch,
            f"commit {last.instant} of batch {last.batch} from another checkpoint",
            "give the query another name: its batches are counted from 0 again, and would be taken for those in the table",
        )
    if last_written is not None and last is not None and last.run != batch.run:
        raise _refused(
            state,
            batch,
            f"commit {last.instant} of batch {last.batch} by another run of the query, which began later",
            "end one of the two: a query runs once at a time",
        )
    if last is not None and last.batch > batch.batch:
        raise StreamBatchError(
            f"Batch {batch.batch} of query {batch.query} is older than the last one in table {state.storage.base_path}",
            found=f"batch {last.batch} in commit {last.instant}",
            fix="start the query with the newest copy of its checkpoint, or with a new checkpoint location if its rows are to be "
            "written again",
        )
    if last is not None and last.batch == batch.batch:
        return last
    if last_written is None and not batch.after_restore and batch.batch != (last.batch + 1 if last is not None else 0):
        _check_not_taken_back(state, batch, last, stored)
    return None


def _check_not_taken_back(
    state: TableState, batch: StreamBatch, last: WrittenBatch | None, stored: WrittenBatch | None
) -> None:
    """Raise StreamBatchError when a rollback or restore undid batches before this one: Spark does not send them again.

    The table may lack them because they had no rows. The stored batch had some. If it is not before this one, the query runs
    from an old copy of its checkpoint, and only a restore says that more is missing.
    """
    if stored is not None and batch.checkpoint and stored.checkpoint and stored.checkpoint != batch.checkpoint:
        stored = None
    if stored is None or stored.batch >= batch.batch:
        _check_not_restored(state, batch, last)
    elif last is None or last.batch < stored.batch:
        raise _taken_back(state, batch.query, f"no commit {stored.instant}, which had batch {stored.batch}")


def _check_not_restored(state: TableState, batch: StreamBatch, last: WrittenBatch | None) -> None:
    """Raise StreamBatchError when the table was restored since the last batch."""
    since = last.instant if last is not None else BEGINNING
    restore = next((instant for instant in state.timeline.completed(Action.RESTORE) if instant.time > since), None)
    if restore is not None:
        have = f"batch {last.batch} in commit {last.instant}" if last is not None else "no batch of the query"
        raise _taken_back(state, batch.query, f"{have}, and {state.where(restore)} after it")


def _taken_back(state: TableState, query: str, detail: str) -> StreamBatchError:
    return StreamBatchError(
        f"Batches of query {query} were rolled back from table {state.storage.base_path}",
        found=detail,
        fix="start the query with the copy of its checkpoint of that time, or with a new checkpoint location: its next batches "
        "do not bring these rows again. To go on without them: stream_sink(path, after_restore=True), or the option "
        "hoodie.stream.after.restore=continue",
    )


def _refused(state: TableState, batch: StreamBatch, detail: str, fix: str) -> StreamBatchError:
    return StreamBatchError(
        f"Batch {batch.batch} of query {batch.query} is not written to table {state.storage.base_path}",
        found=detail,
        fix=fix,
    )


def _parsed(state: TableState, instant: Instant, text: str) -> WrittenBatch:
    try:
        stored = json.loads(text)
        checkpoint = str(stored.get("checkpoint", ""))
        return WrittenBatch(int(stored["batch"]), str(stored["run"]), instant.time, checkpoint)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptTableError(
            f"The batch that {state.where(instant)} names cannot be read",
            found=f"{text!r:.200}",
            fix="find the writer of this commit, and start the query with a new checkpoint location and an empty table",
        ) from error
