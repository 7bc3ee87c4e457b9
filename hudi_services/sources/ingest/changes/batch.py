"""A batch of a source that is a Hudi table: all rows of a moment, or what a range of commits changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from hoodie.changes import ChangeQuery, read_changes
from hoodie.changes.range import last_begin
from hoodie.config.operations import Operation, operation_named
from hoodie.display import counted
from hoodie.engine import Engine
from hoodie.errors import ChangeRangeError, TimeTravelError
from hoodie.model.files import FileSlice
from hoodie.model.time import Time
from hoodie.read.execute import ReadSlice
from hoodie.read.incremental import time_in_range
from hoodie.read.plan import ReadPlan, plan_read
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.services.stages import Facts, Item, Items
from hoodie.timeline import Instant
from hoodie.view import TableState
from hoodie.write.plan import WritePlan
from hudi_services.sources.ingest.changes.position import TablePosition
from hudi_services.sources.ingest.changes.rows import DELETED, rows_to_apply
from hudi_services.sources.ingest.source import Delivered, Reject, SourceSplit

_OVERWRITE = operation_named("insert_overwrite_table")


@dataclass(frozen=True)
class _SplitRows:
    """Some rows that the driver has read."""

    rows: pa.Table
    origin: str
    files: int = 0

    @property
    def size(self) -> int:
        return int(self.rows.nbytes)

    def tables(self, _reject: Reject) -> Iterator[Delivered]:
        yield Delivered(self.origin, self.rows, _numbers)


@dataclass(frozen=True)
class _SplitSlices:
    """Some file slices, which a worker reads."""

    read: ReadSlice
    slices: Sequence[FileSlice]
    origin: str

    @property
    def size(self) -> int:
        return sum(file_slice.size for file_slice in self.slices)

    @property
    def files(self) -> int:
        return len(self.slices)

    def tables(self, _reject: Reject) -> Iterator[Delivered]:
        for file_slice in self.slices:
            for rows in self.read.batches(file_slice):
                yield Delivered(f"{self.origin}, file group {file_slice.group.file_id}", rows, _numbers)


def _numbers(places: Sequence[int]) -> Sequence[str]:
    return [f"row {place + 1}" for place in places]


@dataclass(frozen=True, kw_only=True)
class TableBatch:
    """The part of a table that is new: nothing, where `end` is None.

    `commits` are those of the range, `end` is the position after it. Without a `begin` the batch holds all rows at its end;
    `replaces` says that they take the place of all rows of the target. `on_loss` gives another batch
    where changes are gone, or raises.
    """

    state: TableState
    begin: Time | None = None
    end: Time | None = None
    commits: Sequence[Instant] = ()
    changes: bool = True
    placed_by: Sequence[str] = ()
    replaces: bool = False
    on_loss: Callable[[ChangeRangeError], TableBatch] | None = None
    _rows: pa.Table | None = field(default=None, repr=False)
    _plan: ReadPlan | None = field(default=None, repr=False)
    again: int = 0
    files_skipped: int = 0

    @property
    def items(self) -> Items:
        """The commits, or the table as one item where all its rows are loaded."""
        if self.end is None:
            return Items("load", (), 0, "commit")
        if self.begin is None:
            items = [Item(f"all rows as of {self.end}", self._stored)]
        else:
            sizes = [self.state.commit_metadata(commit).bytes_written for commit in self.commits]
            items = [Item(f"commit {commit.time}", size) for commit, size in zip(self.commits, sizes, strict=True)]
        return Items("load", tuple(items), sum(item.bytes for item in items), "commit")

    @property
    def reason(self) -> str:
        name, path = self.state.properties.name, self.state.storage.base_path
        if self.end is None:
            return f"table {name} at {path} has no commit that is not taken in"
        if self.begin is None:
            return f"all rows of table {name} at {path} as of {self.end}"
        noun = "changes" if self.changes else "rows"
        return f"{noun} of {counted(len(self.commits), 'commit')} of table {name} at {path}, up to {self.end}"

    @property
    def outcome(self) -> str:
        return self.reason

    @property
    def stage(self) -> Facts:
        return Facts({"after": self.begin, "position": self.end})

    @property
    def files(self) -> int:
        return len(self._plan.slices) if self._plan is not None else 0

    @property
    def position(self) -> str:
        assert self.end is not None, "a batch with items"
        return TablePosition(self.state.properties.name, self.end, last_begin(self.state, self.end)).encode()

    @property
    def operation(self) -> Operation | None:
        """The operation in place of the one that was asked for; None if that is right."""
        return _OVERWRITE if self.replaces else None

    @property
    def deletions(self) -> str | None:
        """The column of the rows that are deletions."""
        return DELETED if self._rows is not None else None

    @property
    def is_history(self) -> bool:
        """True for all rows of the table."""
        return self.begin is None

    @property
    def _stored(self) -> int:
        return sum(file_slice.size for file_slice in self._all_rows().slices)

    def opened(self, known: pa.Schema | None, engine: Engine) -> tuple[TableBatch, pa.Schema]:
        """The batch with its rows or files, and its columns. Raises ChangeRangeError for changes that are gone."""
        try:
            return self._opened(engine)
        except TimeTravelError as error:
            if self.begin is None:
                raise
            lost_range = error if isinstance(error, ChangeRangeError) else _as_lost(self.state, self.begin, error)
            assert self.on_loss is not None, "a batch of a range"
            return self.on_loss(lost_range).opened(known, engine)

    def _opened(self, engine: Engine) -> tuple[TableBatch, pa.Schema]:
        if self.begin is None:
            plan = self._all_rows()
        elif self.changes:
            changes = read_changes(self.state, ChangeQuery(self.begin, self.end, net=True), engine)
            rows = rows_to_apply(changes, self.placed_by)
            return replace(self, _rows=rows), rows.schema
        else:
            plan = plan_read(self.state, Query(kind=Incremental(self.begin, self.end)))
        return replace(self, _plan=plan), plan.schema

    def splits(self, _schema: pa.Schema, tasks: int, _plan: WritePlan) -> Sequence[SourceSplit]:
        """The rows in order, or the file slices, about evenly."""
        origin = f"table {self.state.properties.name}"
        if self._rows is not None:
            count = max(1, -(-self._rows.num_rows // tasks))
            starts = range(0, max(1, self._rows.num_rows), count)
            return [_SplitRows(self._rows.slice(start, count), origin) for start in starts]
        assert self._plan is not None, "an opened batch"
        read = ReadSlice(self.state.storage, self._plan.of_slice)
        slices = sorted(self._plan.slices, key=lambda file_slice: -file_slice.size)
        some = [slices[number::tasks] for number in range(max(1, tasks))]
        return [_SplitSlices(read, slices, origin) for slices in some if slices]

    def _all_rows(self) -> ReadPlan:
        """The batch without commits after the position: they come with the next one."""
        assert self.end is not None
        later = [commit for commit in self.state.timeline.commits if time_in_range(self.state, commit) > self.end]
        return plan_read(self.state.before(later), Query(kind=Snapshot()))


def _as_lost(state: TableState, begin: Time, error: TimeTravelError) -> ChangeRangeError:
    return ChangeRangeError(
        f"Rows of table {state.storage.base_path} that were written after {begin} are gone",
        found=error.found or error.what,
        fix="load the source again",
    )
