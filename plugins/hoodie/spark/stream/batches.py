"""Batches of streaming queries in the commits of a table: which one was written last, and by which run of the query."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hoodie.errors import CorruptTableError, StreamBatchError
from hoodie.model.time import Time
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


def batch_metadata(query: str, batch: int, run: str) -> dict[str, str]:
    """Return the extra metadata of the commit of a batch."""
    return {KEY + query: json.dumps({"batch": batch, "run": run})}


def last_batch(state: TableState, query: str, known: WrittenBatch | None = None) -> WrittenBatch | None:
    """Return the newest batch of the query, on the active timeline or archived. Commits up to that of the `known` batch are not
    read.

    Raises CorruptTableError or MissingFileError when a commit or the archive cannot be read: a batch might be written twice.
    Raises StreamBatchError when the `known` batch was taken back.
    """
    for instant in state.newest_commits():
        if known is not None and instant.time <= known.instant:
            if instant.time == known.instant:
                return known
            break
        text = state.commit_metadata(instant).extra.get(KEY + query)
        if text:
            return _parsed(state, instant, text)
    if known is not None:
        raise _taken_back(state, query, f"no commit {known.instant}, which had batch {known.batch}")
    return None


def check_batch(state: TableState, query: str, batch: int, run: str, known: WrittenBatch | None) -> WrittenBatch | None:
    """Return the last batch if it is this one or a later commit of it, None when `batch` is to be written.

    `known` is the last batch that this run has written. Raises StreamBatchError when another run has written since, when the
    table has a later batch than this one, or when a restore may have taken back the batches before it.
    """
    last = last_batch(state, query, known)
    if last is None or (last.batch < batch and (known is None or last.run == run)):
        if last is not None and known is None:
            _check_not_restored(state, query, batch, last)
        return None
    if known is not None and last.run != run:
        raise StreamBatchError(
            f"Batch {batch} of query {query} is not written to table {state.storage.base_path}",
            found=f"commit {last.instant} of batch {last.batch} by another run of the query, which began later",
            fix="end one of the two: a query runs once at a time",
        )
    if last.batch > batch:
        raise StreamBatchError(
            f"Batch {batch} of query {query} is older than what table {state.storage.base_path} has of it",
            found=f"batch {last.batch} in commit {last.instant}",
            fix="start the query with the newest copy of its checkpoint, or with a new checkpoint location if its rows are to be "
            "written again",
        )
    return last


def _check_not_restored(state: TableState, query: str, batch: int, last: WrittenBatch) -> None:
    """Raise StreamBatchError when batches are missing and the table was restored since the last one.

    Batches without rows have no commit, so missing batches alone are no error.
    """
    restores = [each for each in state.timeline.completed(Action.RESTORE) if each.time > last.instant]
    if restores and batch > last.batch + 1:
        found = f"batch {last.batch} in commit {last.instant} as the last one, and {state.where(restores[-1])}"
        raise _taken_back(state, query, found)


def _taken_back(state: TableState, query: str, found: str) -> StreamBatchError:
    return StreamBatchError(
        f"Batches of query {query} were taken back from table {state.storage.base_path}",
        found=found,
        fix="start the query with the copy of its checkpoint of that time, or with a new checkpoint location: its next batches "
        "do not bring these rows again. To go on without them, give it another name: stream_sink(path, query=...)",
    )


def _parsed(state: TableState, instant: Instant, text: str) -> WrittenBatch:
    try:
        found = json.loads(text)
        return WrittenBatch(int(found["batch"]), str(found["run"]), instant.time)
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptTableError(
            f"The batch that {state.where(instant)} names cannot be read",
            found=f"{text!r:.200}",
            fix="find out who wrote this commit, and start the query with a new checkpoint location and an empty table",
        ) from error
