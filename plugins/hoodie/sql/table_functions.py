"""Functions of Hudi that stand for a table in FROM: changes, the timeline, a table by a kind of query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from hoodie.changes import ChangeQuery
from hoodie.dataset import ChangeDataset, HoodieDataset
from hoodie.errors import SqlError
from hoodie.model.commit import NO_PREVIOUS_COMMIT
from hoodie.read.query import Incremental, Snapshot
from hoodie.sql.engine import Source
from hoodie.sql.look import Look
from hoodie.sql.parse import DIALECT
from hoodie.table import HoodieTable
from hoodie.timeline import WRITE_ACTIONS, Instant
from hoodie.view import TableState

_COUNTS = (
    "Total_Bytes_Written",
    "Total_Files_Updated",
    "Total_Partitions_Written",
    "Total_Records_Written",
    "Total_Updated_Records_Written",
    "Total_Write_Errors",
)
_TIMELINE = pa.schema(
    [(name, pa.string()) for name in ("Timestamp", "Action", "State", "Completion_Time", "File_Name")]
    + [(name, pa.int64()) for name in _COUNTS]
)
_UNCOUNTED = (-1,) * len(_COUNTS)  # as Hudi has it for what is not a completed commit


@dataclass(frozen=True)
class TableFunction:
    """A function as it is called: its node in a statement, and its arguments as text."""

    node: exp.Table
    name: str
    arguments: Sequence[str]

    @property
    def table(self) -> str:
        """The name or path of the table that it is about."""
        return self.arguments[0]

    def source(self, table: HoodieTable, look: Look) -> Source:
        """The source that it makes of the table as the statement sees it. Raises SqlError, and what reads raise."""
        return _FUNCTIONS[self.name].run(self, table, look)


@dataclass(frozen=True)
class _Function:
    usage: str
    counts: range  # numbers of arguments
    run: Callable[[TableFunction, HoodieTable, Look], Source]


def table_functions(tree: exp.Expression) -> Iterator[TableFunction]:
    """Those that a statement calls. Raises SqlError for arguments that are not literals, are too many or too few."""
    for node in tree.find_all(exp.Table):
        function = _FUNCTIONS.get(str(node.this.name).lower()) if isinstance(node.this, exp.Anonymous) else None
        if function is not None:
            arguments = node.this.expressions
            if len(arguments) not in function.counts or not all(map(_is_literal, arguments)):
                raise SqlError(
                    f"A table function is called with other arguments than it takes: {node.this.sql(dialect=DIALECT)}",
                    fix=f"write {function.usage}, with literals",
                )
            yield TableFunction(node, str(node.this.name).lower(), [_value(argument) for argument in arguments])


def _is_literal(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal | exp.Boolean)


def _value(node: exp.Expression) -> str:
    return str(node.this).lower() if isinstance(node, exp.Boolean) else str(node.this)


def _changes(call: TableFunction, table: HoodieTable, look: Look) -> Source:
    """Without a kind the first time is the second argument, and the answer is that of 'cdc'."""
    kind, *times = call.arguments[1:]
    if kind[:1].isdigit() or _moment(kind) is None:
        kind, times = "cdc", [kind, *times]
    kinds: Mapping[str, Callable[[HoodieTable, Look, str | None, str | None], Source]] = {
        "cdc": _change_rows,
        "latest_state": _incremental,
    }
    if kind.lower() not in kinds or len(times) not in (1, 2):
        raise SqlError(
            f"hudi_table_changes does not know {', '.join(call.arguments[1:])!r:.100}",
            fix="say 'cdc' or 'latest_state', the time after which commits count, or 'earliest', and perhaps the last time",
        )
    return kinds[kind.lower()](table, look, _moment(times[0]), times[1] if len(times) > 1 else None)


def _moment(text: str) -> str | None:
    """A time from which on commits count. None: from the first."""
    return None if text.lower() == "earliest" else text


def _change_rows(table: HoodieTable, look: Look, start: str | None, end: str | None) -> ChangeDataset:
    return ChangeDataset(table, ChangeQuery(start, end), state=look.state(table))


def _incremental(table: HoodieTable, look: Look, start: str | None, end: str | None) -> HoodieDataset:
    return look.dataset(table, Incremental(start, end), meta_columns=True)


def _query(call: TableFunction, table: HoodieTable, look: Look) -> Source:
    kind, *times = [argument.lower() for argument in call.arguments[1:]]
    if kind == "incremental" and times:
        return _incremental(table, look, _moment(times[0]), times[1] if len(times) > 1 else None)
    if kind in ("snapshot", "read_optimized") and not times:
        return look.dataset(table, Snapshot(read_optimized=kind == "read_optimized"), meta_columns=True)
    raise SqlError(
        f"hudi_query does not know {', '.join(call.arguments[1:])!r:.100}",
        fix="say 'snapshot', 'read_optimized', or 'incremental' and the time from which on",
    )


def _timeline(call: TableFunction, table: HoodieTable, look: Look) -> Source:
    state, archived = look.state(table), list[Instant]()
    if len(call.arguments) > 1 and call.arguments[1].strip().lower() == "true":
        active = {instant.key for instant in state.timeline}
        archived = [instant for instant in state.archive.newest() if instant.key not in active]
    instants = sorted([*archived, *state.timeline], key=lambda instant: (instant.time, instant.action))
    rows = [(*_names(instant), *_totals(state, instant)) for instant in instants]
    columns = list(zip(*rows, strict=True)) or [()] * len(_TIMELINE)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, _TIMELINE, strict=True)], schema=_TIMELINE)


def _names(instant: Instant) -> tuple[str | None, ...]:
    ended = None if instant.completion_time is None else str(instant.completion_time)
    file = instant.file_name
    if instant.is_archived:
        file = f"{instant.time}{'' if ended is None else '_' + ended}.{instant.action}"
    return str(instant.time), str(instant.action), instant.state.name, ended, file


def _totals(state: TableState, instant: Instant) -> tuple[int, ...]:
    if not instant.is_completed or instant.action.completed_as not in WRITE_ACTIONS:
        return _UNCOUNTED
    body = state.commit_metadata(instant)
    changed = sum(stat.prev_commit != NO_PREVIOUS_COMMIT for stat in body.stats)
    partitions, updates = {stat.partition for stat in body.stats}, sum(stat.num_updates for stat in body.stats)
    return body.bytes_written, changed, len(partitions), body.rows_written, updates, 0


_FUNCTIONS: Mapping[str, _Function] = {
    "hudi_table_changes": _Function(
        "hudi_table_changes('table' [, 'cdc' or 'latest_state'], start or 'earliest' [, end])", range(2, 5), _changes
    ),
    "hudi_query_timeline": _Function("hudi_query_timeline('table' [, archived too])", range(1, 3), _timeline),
    "hudi_query": _Function("hudi_query('table', 'snapshot')", range(2, 5), _query),
}
