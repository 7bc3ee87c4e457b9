"""Consumer: a reader of changes whose position is kept with the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import pyarrow as pa

from hoodie.changes import ChangeQuery, open_changes, read_changes
from hoodie.changes.columns import check_column_names
from hoodie.changes.consumer_lag import last_completed
from hoodie.changes.consumer_position import PositionFile, StoredPosition, reset_command
from hoodie.changes.range import change_range, check_begun, last_begin
from hoodie.config import given_options
from hoodie.display import Shown, Shows
from hoodie.error_boundary import call
from hoodie.errors import ArgumentError, ChangeRangeError, ConfigError, StaleConsumerError
from hoodie.model.time import BEGINNING, Time
from hoodie.read.filters import Filter
from hoodie.read.times import moment_as_time
from hoodie.view import TableState
from hoodie.view.access import TableAccess

EARLIEST, LATEST = "earliest", "latest"


class Consumer(Shows):
    """A named reader of the changes of a table. Make one with `HoodieTable.consumer`.

    `read` hands out the changes after the position, and `commit` stores how far that was. If a process dies in between, the next
    read hands out the same changes again: each change at least once. A program that stores `next_position` together with its
    results, in one transaction, has each change exactly once (docs/how-to/consumers.md).
    """

    def __init__(self, access: TableAccess, name: str) -> None:
        """Use `HoodieTable.consumer`."""
        self._access = access
        self._file = PositionFile(access.storage, name)
        self._read: StoredPosition | None = None  # what was stored at the last read
        self._next: Time | None = None
        self._next_begin: Time | None = None  # see `last_begin`, of the next position
        self._attempted: StoredPosition | None = None  # what a commit has tried to store
        self._has_read = False

    def shown(self) -> Shown:
        """Its name and table."""
        return Shown(f"Consumer({self.name!r} of {self._access.storage.base_path})")

    @property
    def name(self) -> str:
        """The name of the consumer."""
        return self._file.consumer

    @property
    @call("reading the position of a consumer")
    def position(self) -> str | None:
        """The completion time of the last commit whose changes are committed; None before the first one. Reads the file.

        Raises CorruptTableError when the file is damaged.
        """
        stored = self._file.load()
        return stored.position.position if stored is not None else None

    @property
    def next_position(self) -> str | None:
        """The position that `commit` stores: the end of the last read."""
        return self._next

    @call("reading changes")
    def read(
        self,
        start: str | datetime = EARLIEST,
        *,
        limit: int | None = None,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        net: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """Return the changes of the commits after the position, of `limit` commits at most. `HoodieTable.read_changes` describes
        the columns and the other arguments.

        `start` is where a new consumer begins: `earliest`, `latest` or a time. Raises ChangeRangeError when files of the range
        were cleaned or the table was restored to an earlier time, CorruptTableError when the file of the position is damaged.
        """
        state = self._access.state()
        query = ChangeQuery(None, None, columns, filter, net, given_options(options))
        stored, query = self._begin(state, query, start, limit)
        with _way_on(self.name):
            changes = read_changes(state, query, self._access.engine)
        self._end(stored, query)
        return changes

    @call("reading changes")
    def stream(
        self,
        start: str | datetime = EARLIEST,
        *,
        limit: int | None = None,
        columns: Sequence[str] | None = None,
        filter: Filter | None = None,
        options: Mapping[str, object] | None = None,
    ) -> pa.RecordBatchReader:
        """Return the same changes batch by batch: memory holds a few file groups. `commit` is possible after the last batch."""
        state = self._access.state()
        query = ChangeQuery(None, None, columns, filter, options=given_options(options))
        stored, query = self._begin(state, query, start, limit)
        with _way_on(self.name):
            opened = open_changes(state, query, self._access.engine)

        def batches() -> Iterator[pa.RecordBatch]:
            with _way_on(self.name):
                for table in opened.tables():
                    yield from table.to_batches()
            self._end(stored, query)

        return pa.RecordBatchReader.from_batches(opened.schema, batches())

    @call("committing the position of a consumer", changes=True)
    def commit(self, position: str | None = None) -> str | None:
        """Store how far the last read went, and return it. With `position` a later one, which you have stored with your results.

        Raises StaleConsumerError when another process has moved the consumer since the last read, and ConfigError when nothing
        was read yet. Then nothing is stored, and the next read begins at the position that is stored.
        """
        if position is not None:
            self._advance(position)
        if not self._has_read:
            raise ConfigError(
                f"Consumer {self.name!r} has nothing to commit",
                found="no read that came to its end since the last commit",
                fix="read its changes first, a stream to its last batch",
            )
        self._store(self._next)
        return self._next

    @call("moving a consumer", changes=True)
    def reset(self, to: str | datetime) -> str | None:
        """Move the consumer, forward or back, or make it, and return its position: `earliest`, `latest`, or the last commit that
        was complete at a time.

        Reads that began before can no longer be committed. Raises TimeTravelError for what is not a time.
        """
        state = self._access.state()
        position = _resolved(state, to)
        self._has_read = False
        self._file.overwrite(self._file.new_position(position, self._access.clock, _begin_of(state, position)))
        return position

    @call("deleting a consumer", changes=True)
    def delete(self) -> bool:
        """Forget the consumer: nothing is kept for it any more. False when there is none."""
        self._has_read = False
        return self._file.delete()

    def _begin(
        self, state: TableState, query: ChangeQuery, start: str | datetime, limit: int | None
    ) -> tuple[StoredPosition | None, ChangeQuery]:
        """The stored position, and the query with its range: from the position to what `commit` is to store."""
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ArgumentError(
                "The argument 'limit' has a value that it cannot have",
                found=f"{limit!r:.100}",
                fix="give a number of commits from 1 on, or leave it out",
            )
        self._has_read = False
        stored = self._file.load()
        position = stored.position.position if stored is not None else _resolved(state, start)
        with _way_on(self.name):
            if stored is not None and position is not None:
                check_begun(state, position, stored.position.began)
            commits = change_range(state, replace(query, start=position))
        after = position or BEGINNING
        ends = [time for commit in commits.state.timeline.commits if (time := commits.completion(commit)) > after]
        if limit is not None and len(commits.commits) > limit:
            end: Time | None = commits.completion(commits.commits[limit - 1])
        else:
            end = max(ends, default=position)
        if stored is not None and position is not None and end != position:
            with _way_on(self.name):
                check_column_names(state, position, end, renamed=False)
        self._next_begin = _begin_of(commits.state, end)
        return stored, replace(query, start=position, end=end)

    def _end(self, stored: StoredPosition | None, query: ChangeQuery) -> None:
        end = query.end
        assert end is None or isinstance(end, str), "a position is an instant"
        self._read, self._next, self._attempted, self._has_read = stored, Time.of(end) if end else None, None, True

    def _store(self, position: Time | None) -> None:
        """Put the position in place of what the last read has met."""
        if self._read is not None and self._read.position.position == position:
            return
        if self._attempted is None:  # a commit whose answer was lost is tried again with the same bytes
            self._attempted = self._file.new_position(position, self._access.clock, self._next_begin)
        try:
            self._file.store(self._attempted, self._read)
        except StaleConsumerError:
            self._has_read = False
            raise
        self._read, self._attempted = self._attempted, None

    def _advance(self, position: str) -> None:
        """Make a position that the program has stored the next one. Raises ConfigError for one that is not a later commit."""
        state = self._access.state()
        time = moment_as_time(state, position)
        if not self._has_read:
            self._read, self._attempted = self._file.load(), None
        stored = self._read.position.position if self._read is not None else None
        if last_completed(state, time) != time or (stored is not None and time < stored):
            raise ConfigError(
                f"Consumer {self.name!r} cannot commit the position {position!r:.50}",
                found=f"its position is {stored}, and a later one has to be the completion time of a commit",
                fix=f"commit the next_position of a read. To go back, use {reset_command(self.name, 'TIME')}",
            )
        if self._has_read and time != self._next:
            self._attempted = None
        if time != self._next:
            self._next_begin = _begin_of(state, time)
        self._next, self._has_read = time, True


def _resolved(state: TableState, to: str | datetime) -> Time | None:
    """The position of a consumer that begins at `to`; None: before the first commit."""
    if to == EARLIEST:
        return None
    return last_completed(state, None if to == LATEST else moment_as_time(state, to))


def _begin_of(state: TableState, position: Time | None) -> Time | None:
    return last_begin(state, position) if position is not None else None


@contextmanager
def _way_on(name: str) -> Iterator[None]:
    """Add how a consumer goes on to the error of changes that are gone."""
    try:
        yield
    except ChangeRangeError as error:
        fix = f"{error.fix}. Move the consumer with {reset_command(name)} before you read the snapshot"
        raise ChangeRangeError(error.what, found=error.found, fix=fix) from error
