"""`spark.readStream.format("hoodie")`: the rows or the changes of new commits, batch by batch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from hoodie.changes import ChangeQuery, open_changes
from hoodie.changes.columns import check_column_names
from hoodie.changes.consumer_lag import last_completed
from hoodie.changes.plan import CommitTimes, GroupChange
from hoodie.changes.range import change_range
from hoodie.engine import LocalEngine
from hoodie.error_boundary import call
from hoodie.errors import ChangeRangeError, TimeTravelError
from hoodie.model.changes import AFTER
from hoodie.model.time import Time
from hoodie.read.execute import ReadSlice
from hoodie.read.plan import ReadPlan, plan_before, plan_read
from hoodie.read.query import Incremental, Query, Snapshot
from hoodie.spark.changes import ChangesOfTasks, change_tasks
from hoodie.spark.scan import WorkedSlices, tasks_of
from hoodie.spark.stream.columns import check_columns
from hoodie.spark.stream.offsets import Offset, first_offset, next_offset
from hoodie.spark.stream.options import FAIL, FROM_EARLIEST, StreamOptions
from hoodie.table import HoodieTable
from hoodie.timeline import Action
from hoodie.view import TableState

_log = logging.getLogger(__name__)
_TASKS = 32
_Work = ChangesOfTasks | WorkedSlices


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Compactions, clusterings and the like have no rows and no changes, so they make no batch."""

    def __init__(self, options: StreamOptions, schema: StructType) -> None:
        """`schema` is what `stream_columns` gave when the query started, or some of its columns."""
        self._options = options
        self._schema = schema
        self._target: str | None = None

    def initialOffset(self) -> dict[str, str]:  # noqa: N802, Spark calls it so
        """The begin of a query without a checkpoint."""
        with call("starting a stream"):
            return first_offset(self._state(), self._options).stored()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Spark knows no limit of commits: its number of files stands for it."""
        if self._options.max_commits is not None:
            return ReadMaxFiles(self._options.max_commits)
        return ReadAllAvailable() if self._options.max_bytes is None else ReadMaxBytes(self._options.max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """The query ends with the commits that are complete now."""
        with call("starting a stream"):
            self._target = last_completed(self._state()) or ""

    def latestOffset(self, start: dict[str, str], limit: ReadLimit) -> dict[str, str]:  # noqa: N802
        """The end of the next batch. Raises ChangeRangeError for the checkpoint of another table, with onDataLoss=fail also for
        a table that was restored to a time before `start`."""
        with call("looking for new commits"):
            state, begin = self._state(), Offset.of(start)
            limited = not isinstance(limit, ReadAllAvailable)
            try:
                begin.check(state)
                return next_offset(state, self._options, begin, self._target, limited=limited).stored()
            except ChangeRangeError:
                if self._options.on_data_loss == FAIL or begin.table != state.properties.name:
                    raise
                return Offset.at(state, last_completed(state)).stored()

    def reportLatestOffset(self) -> dict[str, str]:  # noqa: N802
        """The last commit, for Spark's page of the query."""
        with call("looking for new commits"):
            state = self._state()
            return Offset.at(state, last_completed(state)).stored()

    def partitions(self, start: dict[str, str], end: dict[str, str]) -> Sequence[InputPartition]:
        """The tasks of a batch. Raises ChangeRangeError or TimeTravelError when files of the range were cleaned, unless
        `onDataLoss` says how to go on."""
        begin, last = Offset.of(start), Offset.of(end)
        if begin == last:
            return []
        with call("planning a batch"):
            state = self._state()
            try:
                begin.check(state)
                if begin.position:  # the columns are those of now, also for commits before an ALTER
                    check_column_names(state, Time.of(begin.position), renamed=False)
                return self._planned(state, begin.start, last.position)
            except TimeTravelError as error:
                if self._options.on_data_loss == FAIL or begin.table != state.properties.name:
                    raise ChangeRangeError(
                        f"The stream has lost changes of table {state.storage.base_path} after {begin.position or 'its begin'}",
                        found=error.found or error.what,
                        fix="set onDataLoss to earliest (go on with the commits that can be read) or resnapshot (give the whole "
                        f"table once more). {error.fix or ''}",
                    ) from error
                _log.warning("Table %s: %s", state.storage.base_path, error)
                if self._options.on_data_loss == FROM_EARLIEST:
                    return self._from_earliest(state, last.position)
                return self._snapshot(state, last.position)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows or changes of one task, in the columns of the query."""
        work: _Work = partition.value
        schema = to_arrow_schema(self._schema, timezone="UTC")
        for batch in work.rows((0,)) if isinstance(work, WorkedSlices) else work.batches((0,)):
            yield batch.select(schema.names).cast(schema)

    def _state(self) -> TableState:
        return HoodieTable.open(self._options.path).state()

    def _planned(self, state: TableState, start: str | None, end: str) -> Sequence[InputPartition]:
        check_columns(state, self._options, self._schema)
        if self._options.changes:
            stream = open_changes(state, self._changes(start, end), LocalEngine(1))
            return [_partition(ChangesOfTasks(stream.task, (some,))) for some in change_tasks(stream, _TASKS)]
        return self._rows(state, plan_read(state, self._query(Incremental(start, end))))

    def _from_earliest(self, state: TableState, end: str) -> Sequence[InputPartition]:
        """The changes from the first commit on that can be read; none where all of the batch are gone."""
        commits = change_range(state, ChangeQuery(None, end))
        for start in (None, *(commits.completion(commit) for commit in commits.commits[:-1])):
            try:
                return self._planned(state, start, end)
            except TimeTravelError:
                continue
        return []

    def _snapshot(self, state: TableState, end: str) -> Sequence[InputPartition]:
        """All rows of the table at the end of the batch, or now if a clean may have removed files of that time. As changes they
        are inserts."""
        check_columns(state, self._options, self._schema)
        commits = change_range(state, ChangeQuery(None, end))
        if not commits.commits:
            return []
        last = commits.commits[-1]
        cleaned = any(instant.action is Action.CLEAN and instant.time > last.time for instant in state.timeline)
        later = () if cleaned or not state.timeline.covers(last.time) else commits.later(last)
        if not self._options.changes:
            return self._rows(state, plan_before(commits.state, self._query(Snapshot()), later))
        stream = open_changes(state, self._changes(None, end), LocalEngine(1))
        timeline = commits.state.before(later).timeline
        times = CommitTimes(last.time, commits.completion(last), timeline, timeline)
        slices = plan_before(commits.state, Query(), later).slices
        inserts = [GroupChange(times, file_slice.group, None, file_slice) for file_slice in slices]
        return [_partition(ChangesOfTasks(stream.task, ((insert,),))) for insert in inserts]

    def _rows(self, state: TableState, plan: ReadPlan) -> Sequence[InputPartition]:
        read = ReadSlice(state.storage, plan.of_slice)
        return [_partition(WorkedSlices(read, (some,))) for some in tasks_of(plan.slices, _TASKS)]

    def _query(self, kind: Snapshot | Incremental) -> Query:
        columns = self._schema.fieldNames()
        return Query(columns, None, kind, options=self._options.read, current_columns=True)

    def _changes(self, start: str | None, end: str) -> ChangeQuery:
        """The images have the columns that the table had when the query started."""
        image: Any = self._schema[AFTER].dataType if AFTER in self._schema.names else None
        columns = None if image is None else image.fieldNames()
        return ChangeQuery(start, end, columns, options=self._options.read, current_columns=True)


def _partition(work: _Work) -> InputPartition:
    return InputPartition(work)
