"""Another Hudi table as a source: all its rows at first, then the rows or changes of each commit, by completion times."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate

from hoodie.changes import ChangeQuery
from hoodie.changes.columns import check_column_names
from hoodie.changes.consumer_lag import last_completed, unread
from hoodie.changes.range import ChangeRange, change_range
from hoodie.errors import ChangeRangeError, ConfigError, SourceError, TableNotFoundError
from hoodie.model.time import Time
from hoodie.read.incremental import time_in_range
from hoodie.read.times import moment_as_time
from hoodie.table import HoodieTable
from hoodie.timeline import parse_time
from hoodie.view import TableState
from hudi_services.sources.ingest.changes.batch import TableBatch
from hudi_services.sources.ingest.changes.position import KEY, TablePosition
from hudi_services.sources.ingest.locations import Places
from hudi_services.sources.positions import Position, Since

_log = logging.getLogger(__name__)
FAIL, RESNAPSHOT = "fail", "resnapshot"
ON_DATA_LOSS = (FAIL, RESNAPSHOT)
EARLIEST = "earliest"


@dataclass(frozen=True)
class TableSource:
    """The Hudi table at `path`: its `changes` with deletes, or only the rows that commits wrote.

    A target without a position gets all rows of the table (`start` is `earliest`), or what commits after the time `start` did.
    A batch has `max_commits` commits that wrote `max_bytes` bytes at most, one whole commit at least, and none that completed
    after `until`. `placed_by` are the columns that make key and partition of the target. `on_data_loss` says what becomes of
    a stream that has lost changes: `fail`, or `resnapshot`, which replaces all rows of the target by those of the source.
    """

    path: str
    changes: bool = True
    start: str = EARLIEST
    max_commits: int | None = None
    max_bytes: int | None = None
    until: Time | None = None
    placed_by: Sequence[str] = ()
    on_data_loss: str = FAIL

    @property
    def name(self) -> str:
        return self.path

    @property
    def position_key(self) -> str:
        return KEY

    def discover(
        self, position: Position | None, places: Places, *, start_fresh: bool, since: Since | None = None
    ) -> TableBatch:
        """The next batch. Raises ConfigError for a position of another table, ChangeRangeError for a range that is gone."""
        if since is not None:
            raise ConfigError(
                "Commits of a table cannot be loaded again from an instant on",
                fix="pass --start-fresh to load all rows of the source again",
            )
        places.check_source(self.path)
        state = self._state()
        if position is None or start_fresh:
            return self._first(state)
        reached = TablePosition.decode(position)
        reached.check_source(state, position.where)
        try:
            reached.check_reached(state)
            return self._after(state, reached.completion)
        except ChangeRangeError as error:
            return self._after_loss(state, error)

    def last(self) -> Time | None:
        """The completion of the source's last commit; None before the first."""
        return last_completed(self._state())

    def until_now(self) -> TableSource:
        """The same source, whose batches end with the last commit that it has now."""
        return replace(self, until=self.last())

    def waiting(self, position: Time | None) -> datetime | None:
        """The completion time of the first commit after the position that changed rows; None if there is none."""
        state = self._state()
        unread_commits = unread(state, position)
        commits = (
            []
            if unread_commits is None
            else [commit for commit in unread_commits.commits if not state.commit_metadata(commit).moves_rows]
        )
        return parse_time(time_in_range(state, commits[0]), state.zone) if commits else None

    def _state(self) -> TableState:
        try:
            return HoodieTable.open(self.path).state()
        except TableNotFoundError as error:
            raise SourceError(
                f"The source {self.path} of the stream is not there",
                found=error.what,
                fix="correct the path, or load the source first",
            ) from error

    def _first(self, state: TableState) -> TableBatch:
        if self.start != EARLIEST:
            begin = last_completed(state, moment_as_time(state, self.start))
            if begin is None:
                raise ConfigError(
                    f"The stream cannot begin at {self.start}",
                    found=f"table {state.storage.base_path} had no commit then",
                    fix="begin at a later time, or at earliest, which loads all rows first",
                )
            return self._after(state, begin)
        return self._snapshot(state, replaces=False)

    def _snapshot(self, state: TableState, *, replaces: bool) -> TableBatch:
        return TableBatch(state=state, end=last_completed(state), replaces=replaces)

    def _after(self, state: TableState, begin: Time) -> TableBatch:
        last = last_completed(state, self.until)
        empty = TableBatch(state=state, begin=begin)
        if last is None or last <= begin:
            return empty
        table_batch = change_range(state, ChangeQuery(begin, last))
        commits = table_batch.commits[: self._count(table_batch)]
        if not commits:
            return empty
        # Changes have the columns as of the end of their range. Rows have those of now.
        until = table_batch.completion(commits[-1]) if self.changes else None
        check_column_names(state, begin, until, renamed=True)
        return TableBatch(
            state=state,
            begin=begin,
            end=table_batch.completion(commits[-1]),
            commits=commits,
            changes=self.changes,
            placed_by=self.placed_by,
            on_loss=lambda error: self._after_loss(state, error),
        )

    def _count(self, commits: ChangeRange) -> int:
        """The number of commits of the next batch."""
        sizes = [commits.state.commit_metadata(commit).bytes_written for commit in commits.commits]
        count = len(sizes) if self.max_commits is None else min(len(sizes), self.max_commits)
        if self.max_bytes is None:
            return count
        return min(count, max(1, sum(total <= self.max_bytes for total in accumulate(sizes))))

    def _after_loss(self, state: TableState, error: ChangeRangeError) -> TableBatch:
        if self.on_data_loss == FAIL:
            raise ChangeRangeError(
                error.what,
                found=error.found,
                fix="set on_data_loss to resnapshot (`--on-data-loss resnapshot`): the rows of the target are then replaced by "
                "those of the source",
            ) from error
        _log.warning("All rows of table %s are loaded again: %s", self.path, error)
        return self._snapshot(state, replaces=True)
