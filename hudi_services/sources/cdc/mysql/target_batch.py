"""Changes for one Hudi table that wait for their commit: those of all its sources, up to one place of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import pyarrow as pa

from hoodie.config.properties.table import TableProperties
from hoodie.errors import HoodieError, SourceError
from hoodie.model.changes import AFTER
from hudi_services.sources.cdc.mysql.binlog.changes import Shape
from hudi_services.sources.cdc.mysql.binlog.transaction_batch import Changes, Unreadable
from hudi_services.sources.cdc.mysql.definition import TableName
from hudi_services.sources.cdc.mysql.held_changes import HeldChanges
from hudi_services.sources.cdc.mysql.key_arrivals import MOST_WAITS, KeyArrivals
from hudi_services.sources.cdc.mysql.key_owners import NO_ARRIVALS, Arrivals
from hudi_services.sources.cdc.mysql.load_result import LoadResult
from hudi_services.sources.cdc.mysql.log_identity import StoredPosition
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.source_columns import (
    changes_schema,
    changes_with_source,
    fitted_changes,
    schema_with_source,
    widest,
    widest_inputs,
)
from hudi_services.sources.cdc.mysql.stored_rows import UnclearRowsError, row_columns
from hudi_services.sources.cdc.mysql.table_source import TableSource
from hudi_services.sources.cdc.mysql.target import UniqueKey, check_text_columns
from hudi_services.sources.cdc.mysql.target_table import TargetTable

ROWS, BYTES = 500_000, 256 << 20  # changes in a commit
Positions = Callable[[str, LogPosition], StoredPosition]
"""Function: source, place in the log -> the position as commits hold it."""


@dataclass
class TargetCommits:
    """The commits of a run to a Hudi table. Its last one holds the position `stored` (None: there is none yet)."""

    target: TargetTable
    stored: StoredPosition | None

    def place(self, source: TableSource) -> StoredPosition | None:
        """Return how far a source of the table is."""
        if not self.target.is_merged:
            return self.stored
        return self.stored.tables.get(source.full_name) if self.stored is not None else None


class Member(Protocol):
    """A source that goes on. Its table has all changes up to `since`."""

    source: TableSource
    since: LogPosition
    result: LoadResult


@dataclass
class TargetBatch:
    """Changes of `members` that were read and not committed yet. `has_failed`: a commit failed, so no member goes on.

    The log hands out changes of several transactions at once. A commit takes all that end at one place, or nothing of them, so
    it has whole transactions of all members. Changes of members that share keys wait until none is behind another.
    """

    commits: TargetCommits
    positions: Positions
    members: dict[str, Member] = field(default_factory=dict)
    has_failed: bool = False
    count: int = 0
    """Commits so far."""
    arrivals: KeyArrivals = field(default_factory=KeyArrivals)
    _held: HeldChanges = field(default_factory=HeldChanges)
    _results: dict[str, LoadResult] = field(default_factory=dict)
    _emptied: dict[str, TableSource] = field(default_factory=dict)
    _left: dict[str, tuple[TableSource, LogPosition]] = field(default_factory=dict)
    _filled: dict[str, set[TableName]] = field(default_factory=dict)
    _shapes: dict[TableName, Shape] = field(default_factory=dict)
    _properties: TableProperties | None = None
    _schema: pa.Schema | None = None
    _images: pa.Schema | None = None
    _end: LogPosition | None = None
    _before: LogPosition | None = None
    _coming: LogPosition | None = None

    @property
    def target(self) -> TargetTable:
        return self.commits.target

    @property
    def schema(self) -> pa.Schema:
        """The data columns of the table. They are read once for each commit, not for each of a thousand sources."""
        if self._schema is None:
            self._schema = self.target.schema
        return self._schema

    @property
    def _key_columns(self) -> tuple[str, ...]:
        """The columns that say which row one is, and where."""
        if self._properties is None:
            self._properties = self.target.properties
        return row_columns(self._properties)

    def key(self, keys: tuple[UniqueKey, ...] | None) -> UniqueKey | None:
        """Return which of the server's keys of a source makes record keys differ. Raises ConfigError, as `TargetTable.key`."""
        if self._properties is None:
            self._properties = self.target.properties
        return self.target.key_by(self._properties, keys)

    @property
    def memory(self) -> int:
        """The bytes of changes that wait in memory."""
        return self._held.memory

    @property
    def is_full(self) -> bool:
        return not self.catches_up and self._holds(self._held.rows, self._held.size)

    @property
    def catches_up(self) -> bool:
        """Members that share keys are behind others: the changes of many transactions may say together whose a row is."""
        return self.target.shares_keys and self.arrivals.are_awaited

    def is_within(self, end: LogPosition) -> bool:
        """Return True if changes that wait are of transactions that end at `end`: others of them may come."""
        return self._held.position == end

    def reach(self, end: LogPosition) -> None:
        """Note that changes of transactions up to `end` come."""
        if end != self._end:
            self._before, self._end = self._end, end

    def compare(self, log_end: LogPosition) -> LogPosition:
        """Return the place at which no member is behind another table any more: no group of changes may go across it."""
        if self.target.shares_keys and self.commits.stored is not None:
            self.arrivals.compare(self.commits.stored.tables, log_end)
        assert self.arrivals.level is not None, "a batch has members"
        return self.arrivals.level

    def begin(self, end: LogPosition) -> None:
        """Note that changes of transactions up to `end` come. Those before are committed where they are many."""
        is_next, self._coming = end != self._coming, end
        if not is_next or not self.catches_up:
            return
        came, level = self.arrivals.held, self.arrivals.level
        if level is not None and level < end:
            if self.arrivals.absent:  # their rows came before this place, and no more is known
                self.commit(level)
            self.arrivals.reach(level)
        elif not self._held.rows:
            came.clear()  # only rows that come later than those of changes that wait are of interest
        elif self._holds(self._held.rows + came.rows, self._held.size + came.size, self.arrivals.waits):
            self.commit()

    def _holds(self, rows: int, size: int, commits: int = 1) -> bool:
        return rows >= commits * ROWS or size >= commits * BYTES

    def pass_by(self, member: Member, changes: Changes | Unreadable) -> None:
        """Keep what changes that a member has say to those which are behind it: when rows came to it."""
        if not self.catches_up:
            return
        try:
            if isinstance(changes, Unreadable):
                raise SourceError(changes.reason)
            self._join_columns(changes.shape)
            located_by = () if self.target.filter.text else self._key_columns
            piece = changes_with_source(changes.changes, member.source)
            self.arrivals.add(changes.end, member.source.full_name, piece, located_by)
        except HoodieError:
            self.arrivals.lose(member.source.full_name)

    def give_up(self, member: Member) -> None:
        """Let a member that is behind others leave where too many changes wait. Raises SourceError then."""
        level = self.arrivals.level
        if not self.catches_up or self.arrivals.waits <= MOST_WAITS or level is None or member.since >= level:
            return
        name = member.source.full_name
        self._held.forget(name)
        self._left[name] = (member.source, member.since)
        self.arrivals.waits = 1
        raise SourceError(
            f"Rows of {member.source.source} moved to other tables of {self.target.base_path}, which are far ahead of it",
            found=f"more than {MOST_WAITS * ROWS:,} changes up to {level}, which wait for one commit",
            fix="load the table as it is now with --start-fresh",
        )

    def take(self, member: Member, changes: Changes) -> None:
        """Hold changes. Raises SchemaConflictError for columns that the Hudi table cannot take."""
        piece = changes.changes
        self.target.columns(self.schema).check(changes.shape.schema, member.source.full_name)
        if self.target.is_merged:
            self._join_columns(changes.shape)
            piece = changes_with_source(piece, member.source)
        else:
            self._images = pa.schema(list(piece.schema.field(AFTER).type))
        self._held.add(changes.end, piece, member.source.full_name)

    def _join_columns(self, shape: Shape) -> None:
        """Make room for the columns of a source. Most changes have those that earlier ones had."""
        name = (shape.database, shape.table)
        if self._images is not None and self._shapes.get(name) == shape:
            return
        columns = self.target.columns()
        schema = schema_with_source(columns.read(shape.schema))  # types of others need not go together
        # With masks the columns have other types in the table.
        known = columns.carried(self.schema) if columns.masks.are_none else None
        images = widest_inputs(self._images or known, schema, columns.unstored(self.schema))
        widest(columns.carried(self.schema), columns.carried(schema))
        self._images = images
        self._shapes[name] = shape

    def drop(self, member: Member, end: LogPosition) -> None:
        """Forget changes of a member that end at `end`, where it failed."""
        self._held.drop(end, member.source.full_name)
        self.stop_before(member, end)

    def stop_before(self, member: Member, end: LogPosition) -> None:
        """Let a member leave at the place before `end`, where it cannot go on."""
        before = self._before if self._end == end else self._end
        place = member.since if before is None else max(member.since, before)
        self._left[member.source.full_name] = (member.source, place)

    def empty(self, member: Member, place: LogPosition) -> None:
        """Take all rows of a member out of a table of several sources, and forget its changes that wait."""
        self.reach(place)
        self._held.forget(member.source.full_name)
        self._emptied[member.source.full_name] = member.source

    def empty_all(self, place: LogPosition) -> None:
        """Take all rows out of a table of one source, in a commit that holds `place`."""
        [member] = self.members.values()
        stored = self._stored()
        after = self._position_of(member, self.positions(member.source.source, place), place)
        self.target.write_no_rows(stored, after)
        self._committed(after)
        member.result.committed(after)

    def leave(self, member: Member) -> None:
        """Take a member out. Its changes that wait are committed with those of the others."""
        name = member.source.full_name
        if self.members.pop(name, None) is not None and self._end is not None:
            self._left.setdefault(name, (member.source, self._end))

    def commit(self, reached: LogPosition | None = None) -> None:
        """Commit what waits, if anything does. `reached` is a later place up to which members have no other changes.

        A member is equal to its source from the end of its snapshot on. A commit without changes says so where there are none.
        Raises HoodieError, and has failed then: it commits nothing any more.
        """
        if self.has_failed:
            return  # its members have left, so no position would say that the changes are there
        if not self._held.rows and not self._emptied and not self._ends_snapshot(reached):
            return
        places = [place for place in (reached, self._end) if place is not None]
        try:
            self._commit(max(places))
        except UnclearRowsError:
            if reached is None and self.members:
                self.arrivals.waits *= 2
                return
            self.has_failed = True
            raise
        except HoodieError:
            self.has_failed = True
            raise

    def _commit(self, place: LogPosition) -> None:
        stored = self._stored()
        at = self.positions(self.target.source.source, place)
        tables = {name: self._position_of(member, at, place) for name, member in self.members.items()}
        for name, (source, log_place) in self._left.items():
            old = self.commits.place(source)
            if old is not None and old.place < log_place:
                tables[name] = _progressed(old, self.positions(source.source, log_place), log_place)
        after = self.target.joined(stored, tables)
        rows = self._held.rows_by_source()
        if rows or self._emptied:
            schema = changes_schema(self._images) if self._images is not None else None
            emptied = tuple(self._emptied.values())
            came = NO_ARRIVALS
            if self.target.shares_keys:
                came = Arrivals(lambda: self._parts(schema, self.arrivals.held), self.arrivals.unseen(stored, place))
            self.target.write_batch(
                lambda: self._parts(schema, self._held),
                schema,
                stored,
                after,
                emptied,
                size=self._held.size,
                arrivals=came,
            )
        else:
            self.target.write_position(stored, after)
        for name, result in self._results_of({*rows, *self._emptied}, tables):
            result.committed(tables.get(name, after), changes=rows.get(name, 0))
        self._committed(after)
        self.arrivals.committed(place)
        self._held.clear()
        self._emptied.clear()
        self._left.clear()
        self._images = None
        self._shapes.clear()

    def _committed(self, after: StoredPosition) -> None:
        self.commits.stored = after
        self.count += 1
        self._schema = self._properties = None
        self._filled.clear()

    def check_text(self, columns: pa.Schema) -> None:
        """Raise ConfigError for columns that are text in the table and dates or bytes here, or the other way round."""
        check_text_columns(self.schema, self.target.columns().carried(columns))

    def columns(self) -> pa.Schema:
        """The columns of the server on which rows of the table depend, with those of changes that wait.

        The table says the types of those that it has from the server.
        """
        columns = self.target.columns()
        unknown = [pa.field(name, pa.null()) for name in sorted(columns.unstored(self.schema))]
        fields = {field.name: field for field in (*(self._images or ()), *unknown, *columns.carried(self.schema))}
        return pa.schema(fields.values())

    def filled(self, source: TableSource, names: list[str]) -> set[str]:
        """Return which of the columns may have values in rows of a source: in a table of one source all of them, and
        those that are not stored.

        A table of several sources is read, once for each column until the next commit.
        """
        if not self.target.is_merged:
            return set(names)
        unstored = self.target.columns().unstored(self.schema)
        hidden = {name for name in names if name.lower() in unstored}
        stored = [name for name in names if name not in hidden]
        unknown = [name for name in stored if name not in self._filled]
        if unknown:
            self._filled |= self.target.filled(unknown)
        return hidden | {name for name in stored if (source.database, source.name) in self._filled[name]}

    def join(self, member: Member) -> None:
        """Add a member."""
        self.members[member.source.full_name] = member
        self.arrivals.join(member.source.full_name, member.since)
        self._results[member.source.full_name] = member.result

    def _results_of(self, changed: set[str], tables: dict[str, StoredPosition]) -> Iterator[tuple[str, LoadResult]]:
        named = changed if self.target.is_merged and changed else set(tables)
        yield from ((name, self._results[name]) for name in sorted(named))

    def _parts(self, schema: pa.Schema | None, held: HeldChanges) -> Iterator[pa.Table]:
        if self._images is not None and schema is not None:
            images = self._images
            yield from held.tables(lambda piece: fitted_changes(piece, images).select(schema.names))

    def _position_of(self, member: Member, at: StoredPosition, place: LogPosition) -> StoredPosition:
        """The place as a commit holds it: with the progress of the snapshot, until all changes of its time are there."""
        old = self.commits.place(member.source)
        assert old is not None, "a member has rows"
        if self.target.is_merged and member.since > place:
            return old
        return _progressed(old, replace(at, source=member.source.source), place)

    def _ends_snapshot(self, reached: LogPosition | None) -> bool:
        olds = [self.commits.place(member.source) for member in self.members.values()]
        return reached is not None and any(
            old is not None and old.snapshot is not None and reached >= old.snapshot.high for old in olds
        )

    def _stored(self) -> StoredPosition:
        assert self.commits.stored is not None, "a batch is of a table that has rows"
        return self.commits.stored


def _progressed(old: StoredPosition, at: StoredPosition, place: LogPosition) -> StoredPosition:
    snapshot = old.snapshot
    return replace(at, snapshot=snapshot) if snapshot is not None and place < snapshot.high else at
