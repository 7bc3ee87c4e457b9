"""Offsets of a stream: the table, and the completion of the last commit that was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from hoodie.changes.consumer_lag import last_completed
from hoodie.changes.query import ChangeQuery
from hoodie.changes.range import ChangeRange, change_range, is_committed, is_position, last_begin
from hoodie.errors import ChangeRangeError
from hoodie.model.time import Time
from hoodie.read.times import moment_as_time
from hoodie.spark.stream.options import EARLIEST, LATEST, StreamOptions
from hoodie.view import TableState


@dataclass(frozen=True)
class Offset:
    """A place in the changes of a table. `position` is empty before the first commit."""

    table: str
    position: str
    began: str = ""
    """See `last_begin`. Empty where it is not known."""

    @staticmethod
    def at(state: TableState, position: Time | None) -> Offset:
        """After the commits that completed by a time. None: before the first one."""
        began = last_begin(state, position) if position is not None else None
        return Offset(state.properties.name, position or "", began or "")

    @staticmethod
    def of(stored: Mapping[str, str]) -> Offset:
        """From a checkpoint. Raises ChangeRangeError for that of another source."""
        try:
            return Offset(str(stored["table"]), str(stored["position"]), str(stored.get("began", "")))
        except (KeyError, TypeError) as error:
            raise ChangeRangeError(
                "The checkpoint of the stream is not that of a Hudi table",
                found=f"offset {dict(stored)!r:.200}",
                fix="give the query a checkpoint location of its own",
            ) from error

    @property
    def start(self) -> str | None:
        """The exclusive begin of a range."""
        return self.position or None

    def stored(self) -> dict[str, str]:
        """For a checkpoint."""
        began = {"began": self.began} if self.began else {}
        return {"table": self.table, "position": self.position, **began}

    def check(self, state: TableState) -> None:
        """Raises ChangeRangeError when the offset is of another table than that of `state`.

        A table that was made again, or restored to an earlier time, has no commit with that completion.
        """
        name, path = state.properties.name, state.storage.base_path
        if self.table != name:
            raise ChangeRangeError(
                f"The checkpoint of the stream is of another table than {path}",
                found=f"table {self.table!r} in the checkpoint, {name!r} at the path",
                fix="load the path of that table, or give the query a checkpoint location of its own",
            )
        missing = self._missing_commit(state)
        if missing is not None:
            raise ChangeRangeError(
                f"The stream cannot go on in table {path}",
                found=f"{missing}: the table was created again, or restored to an earlier time",
                fix="give the query a new checkpoint location, and an empty target",
            )

    def _missing_commit(self, state: TableState) -> str | None:
        """The commit that was read and that the table does not have."""
        if self.position and not is_position(state, Time.of(self.position)):
            return f"no commit that completed at {self.position}, where the checkpoint ends"
        if self.began and not is_committed(state, Time.of(self.began)):
            return f"no commit that began at {self.began}, which was read"
        return None


def first_offset(state: TableState, options: StreamOptions) -> Offset:
    """Return where a new stream begins: after the last commit that was complete at `start`."""
    start = options.start
    if start.lower() == EARLIEST:
        return Offset.at(state, None)
    until = None if start.lower() == LATEST else moment_as_time(state, start)
    return Offset.at(state, last_completed(state, until))


def next_offset(
    state: TableState, options: StreamOptions, begin: Offset, until: str | None, *, limited: bool
) -> Offset:
    """Return the end of the next batch, `begin` if no commit changed rows. It is not after `until`; None: up to now.

    With `limited` the options' limits hold, but a batch has a whole commit at least.
    """
    last = last_completed(state, None if until is None else Time.of(until))
    if last is None or (begin.position and last <= begin.position):
        return begin
    result = change_range(state, ChangeQuery(begin.start, last))
    commits = result.commits[: _count(result, options)] if limited else result.commits
    return Offset.at(result.state, result.completion(commits[-1])) if commits else begin


def _count(commits: ChangeRange, options: StreamOptions) -> int:
    sizes: Sequence[int] = [commits.state.commit_metadata(commit).bytes_written for commit in commits.commits]
    count = len(sizes) if options.max_commits is None else min(len(sizes), options.max_commits)
    if options.max_bytes is not None:
        fitting = sum(total <= options.max_bytes for total in accumulate(sizes))
        count = min(count, max(1, fitting))
    return count
