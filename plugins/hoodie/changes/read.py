"""Reading the changes of a range: file groups side by side, in the order of commits."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from hoodie.changes.plan import ChangePlan, GroupChange
from hoodie.changes.query import ChangeQuery, change_schema, keyed_schema
from hoodie.changes.range import change_range
from hoodie.changes.slices import ReadGroupChanges
from hoodie.changes.summary import NetChanges
from hoodie.config.groups import READ_OPTIONS
from hoodie.config.key import resolve
from hoodie.config.keys.memory import MergeMemory
from hoodie.config.keys.read import CHECK_FILES, READ_KEYS
from hoodie.config.service_options import own_options
from hoodie.engine.base import Engine
from hoodie.errors import ConfigError
from hoodie.merge import MergeRules, merge_rules
from hoodie.merge.spill import Spill
from hoodie.model.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from hoodie.read.columns import read_columns
from hoodie.read.filters import as_expression
from hoodie.read.logs import LogReader
from hoodie.read.query import Query
from hoodie.schema import with_meta_columns
from hoodie.schema.history import StoredColumns
from hoodie.view import TableState
from hoodie.view.log_blocks import log_check
from hoodie.view.missing_files import retried_when_missing
from hoodie.view.table_schema import table_schema

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChangeStream:
    """The changes of a range, ready to be read. `schema` is that of the batches."""

    schema: pa.Schema
    plan: ChangePlan
    task: ReadGroupChanges
    engine: Engine
    net: NetChanges | None

    def tables(self) -> Iterator[pa.Table]:
        """The changes by completion time of their commits; of a commit its deletes first, then by file group and row.

        Deletes come first so that a reader who applies changes by key alone keeps a row that moves to another partition.
        Without `net` memory holds the rows of as many file groups as are read at once.
        """
        tables = self._ordered()
        if self.net is not None:
            empty = keyed_schema(self.task.images).empty_table()
            tables = iter([self.net(pa.concat_tables([empty, *tables]).combine_chunks())])
        for table in tables:
            if table.num_rows:
                yield table.select(self.schema.names)

    def table(self) -> pa.Table:
        """All of them."""
        return pa.concat_tables([self.schema.empty_table(), *self.tables()])

    def reader(self) -> pa.RecordBatchReader:
        """The same a batch at a time."""
        batches = (batch for table in self.tables() for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def _ordered(self) -> Iterator[pa.Table]:
        for commit in self.plan.range.commits:
            changes = self.plan.of(commit)
            if changes:
                yield from self._of_commit(changes)

    def _of_commit(self, changes: Sequence[GroupChange]) -> Iterator[pa.Table]:
        """The changes of one commit; what waits until its deletes are out is put aside where it does not fit into memory."""
        schema, memory = keyed_schema(self.task.images), self.task.memory
        buffered: list[pa.Table] = []
        size = 0
        with ExitStack() as stack:
            aside: Spill | None = None
            for number in range(0, len(changes), self.engine.parallelism):
                for tables in self.engine.map(self.task, changes[number : number + self.engine.parallelism]):
                    yield tables.deletes
                    buffered.append(tables.others)
                    size += tables.others.nbytes
                if size > memory.bytes:
                    aside = aside or stack.enter_context(Spill(schema, memory.folder))
                    for table in buffered:
                        aside.write(0, table)
                    buffered, size = [], 0
            if aside is not None:
                yield from aside.batches(0)
            yield from buffered


def open_changes(state: TableState, query: ChangeQuery, engine: Engine) -> ChangeStream:
    """Plan a read of changes. The columns are those of the table as it is at the end of the range, or as it is now.

    Raises what `change_range` and `read_columns` raise, ConfigError for options. Reading raises what `ChangePlan.of` raises.
    """
    options = resolve(own_options(query.options, READ_OPTIONS), READ_KEYS)
    commits = change_range(state, query)
    state, plan = commits.state, ChangePlan(commits, options[CHECK_FILES])
    last = None if query.current_columns else max((commit.time for commit in commits.commits), default=None)
    schema = table_schema(state, last) or pa.schema([])
    filter = as_expression(query.filter, schema)
    chosen = read_columns(state.properties, schema, Query(query.columns), filter)
    _refuse_meta_columns(state, [*chosen.result.names, *chosen.filtered.names])
    rules = merge_rules(state.properties) if plan.has_logs else MergeRules((), ())
    all_columns = with_meta_columns(schema)
    compared = read_columns(state.properties, schema, Query(schema.names), None)  # all columns have to be in the files
    rows = compared.named((RECORD_KEY, PARTITION_PATH, *schema.names, *rules.columns(all_columns)))
    columns = StoredColumns.of(schema, state.schemas_as_of(last), last)
    check = log_check(state.layout, needed=options[CHECK_FILES])
    logs = LogReader(state.storage, state.timeline, rules, rows, compared.keys, columns=columns, check=check)
    net = NetChanges(chosen.result, filter) if query.net else None
    row_filter = (chosen.result, filter) if net is None else (schema, None)
    task = ReadGroupChanges(logs, MergeMemory.of(options), schema, *row_filter)
    _log.info("%d commits of table %s: changes from file slices", len(commits.commits), state.storage.base_path)
    return ChangeStream(change_schema(chosen.result), plan, task, engine, net)


@retried_when_missing
def read_changes(state: TableState, query: ChangeQuery, engine: Engine) -> pa.Table:
    """All changes of a range at once. Raises what `open_changes` and its reading raise."""
    return open_changes(state, query, engine).table()


def _refuse_meta_columns(state: TableState, names: Sequence[str]) -> None:
    meta = [name for name in names if name in META_COLUMNS]
    if meta:
        raise ConfigError(
            f"Changes of table {state.properties.name!r} cannot be asked for by {meta[0]}",
            found="a meta column: a change has the record key and the times of its commit beside the images",
            fix="name data columns",
        )
