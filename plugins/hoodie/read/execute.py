"""Running a read plan: each file is opened once, only the needed columns of the needed row groups are decoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from hoodie.engine.base import Engine
from hoodie.formats.bootstrap_file import open_base_file
from hoodie.model.files import FileSlice
from hoodie.model.meta_columns import RECORD_KEY
from hoodie.read.logs import LogReader
from hoodie.read.plan import ReadPlan, plan_read
from hoodie.read.query import Query
from hoodie.read.slice_reader import SliceMerger
from hoodie.schema import conform
from hoodie.storage.base import Storage
from hoodie.view import TableState
from hoodie.view.missing_files import retried_when_missing


@dataclass(frozen=True)
class ReadSlice:
    """Task function: file slice -> its rows after merge, filter and projection."""

    storage: Storage
    plan: ReadPlan  # without its slices

    def __call__(self, file_slice: FileSlice) -> pa.Table:
        return _joined(self.plan.schema, self.batches(file_slice))

    def batches(self, file_slice: FileSlice) -> Iterator[pa.Table]:
        """The same, a batch at a time."""
        plan = self.plan
        rows = self._merged(file_slice) if file_slice.log_files else self._stored(file_slice)
        for batch in rows:
            passing = batch if plan.filter is None else batch.filter(plan.filter)
            yield _projected(passing.select(plan.scanned.names), plan.schema)

    def _stored(self, file_slice: FileSlice) -> Iterator[pa.Table]:
        if file_slice.base_file is None:
            return
        scanned = self.plan.scanned
        with open_base_file(self.storage, file_slice.base_file, columns=self.plan.columns) as reader:
            groups = self.plan.pruning.row_groups(reader)
            present = [name for name in scanned.names if name in reader.schema.names]
            # A file without any of the columns, which were added later, still has rows that count.
            for batch in reader.batches(present or [RECORD_KEY], groups):
                yield conform(batch, scanned) if present else _all_null(scanned, batch.num_rows)

    def _merged(self, file_slice: FileSlice) -> Iterator[pa.Table]:
        """Base file and logs."""
        plan = self.plan
        logs = LogReader(
            self.storage, plan.timeline, plan.rules, plan.merging, plan.keys, plan.as_of, plan.columns, plan.log_check
        )
        merger = SliceMerger(logs, plan.memory)
        if file_slice.base_file is None:
            yield from merger.unordered(file_slice, None, None, plan.scanned.names, by_position=False)
            return
        with open_base_file(self.storage, file_slice.base_file, columns=plan.columns) as reader:
            groups, columns = plan.pruning.row_groups(reader), plan.scanned.names
            yield from merger.unordered(file_slice, reader, groups, columns, by_position=plan.use_positions)


def _projected(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`; meta columns that were not read are null."""
    if all(name in rows.schema.names for name in schema.names):
        return rows.select(schema.names)
    return conform(rows, schema)


def _all_null(schema: pa.Schema, rows: int) -> pa.Table:
    return pa.table([pa.nulls(rows, field.type) for field in schema], schema=schema)


@retried_when_missing
def read_rows(state: TableState, query: Query, engine: Engine) -> pa.Table:
    """The rows that a query asks for. Raises what `plan_read` raises.

    A file may go between the plan and its reading: a listed log of version 6 may be of a write that is rolled back, and a clean
    may remove files that were current. If the timeline has moved since, the query is run once more.
    """
    return execute_read(plan_read(state, query), state.storage, engine)


def execute_read(plan: ReadPlan, storage: Storage, engine: Engine) -> pa.Table:
    """The rows of the plan, file by file."""
    task = ReadSlice(storage, plan.of_slice)
    return _joined(plan.schema, engine.map(task, plan.slices))


def _joined(schema: pa.Schema, tables: Iterable[pa.Table]) -> pa.Table:
    """All rows. Arrow's own `concat_tables` forgets how many rows tables without columns have."""
    if schema.names:
        return pa.concat_tables([schema.empty_table(), *tables])
    return pa.table([pa.nulls(sum(table.num_rows for table in tables))], ["rows"]).select([])
