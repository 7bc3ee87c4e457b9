"""Questions to a history: its last runs, and what they cost and gained by table and service."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from hoodie import HoodieTable
from hoodie.errors import ConfigError, TableNotFoundError
from hoodie.times import moment
from hudi_services.entry.table import History
from hudi_services.operations.history.record import (
    COLUMNS,
    DONE,
    FAILED,
    KILLED,
    NOTHING,
    RUNNING,
    Record,
    as_rows,
)
from hudi_services.operations.history.spool import Spool
from hudi_services.operations.history.store import check_history

ENDED = (DONE, NOTHING, FAILED, KILLED)
"""The outcomes of runs that have ended."""
_SUMMED = (
    *("seconds", "cpu_seconds", "rows_written", "bytes_read", "bytes_written"),
    *("bytes_freed", "log_bytes_merged", "files_before", "files_after"),
)


def since_when(text: str, now: datetime) -> datetime:
    """The time that a flag names: ISO (UTC), today, yesterday, or how long ago (30m, 12h, 7d). Raises ConfigError."""
    try:
        return moment(text, now)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"--since {text!r:.100} is no time", fix="give an ISO date or time (UTC), today, yesterday, or 30m, 12h, 7d"
        ) from None


def runs(
    history: History, since: datetime, now: datetime, table: str | None = None, service: str | None = None
) -> pa.Table:
    """The runs that began since then, the newest first, in the columns of the history: from the table and, of those that wait or
    go on, from the spool. Raises HoodieError, OSError."""
    spooled = _waiting(history, now)
    stored_runs = stored(history, since)
    duplicates = pc.is_in(stored_runs["run_id"], spooled["run_id"].combine_chunks())
    result = pa.concat_tables([stored_runs.filter(pc.invert(duplicates)), spooled])
    condition = pc.greater_equal(result["began"], pa.scalar(since, COLUMNS.field("began").type))
    for column, value in (("table_name", table), ("service", service)):
        if value is not None:
            condition = pc.and_(condition, pc.equal(result[column], value))
    return result.filter(condition).sort_by([("began", "descending"), ("run_id", "ascending")])


def last_ended(rows: pa.Table, outcomes: Sequence[str] = ENDED) -> pa.Table:
    """The last run with one of these outcomes, of each service of each table: outcome, times, error, message, and run of a DAG.
    `rows` as `runs` gives it, the newest first."""
    ended = rows.filter(pc.is_in(rows["outcome"], pa.array(outcomes)))
    names = ("outcome", "began", "ended", "error", "message", "dag_run_id")
    last = ended.group_by(["table_name", "service"], use_threads=False).aggregate([(name, "first") for name in names])
    return last.rename_columns([name.removesuffix("_first") for name in last.column_names])


def sums(rows: pa.Table, by: Sequence[str] = ("table_name", "service")) -> pa.Table:
    """One row for each value of these columns: `runs`, the number of these that `failed` (or were killed) and that had
    `nothing` to do, and sums of what they cost and gained; null where no run knows it."""
    outcome = rows["outcome"]
    bad = pc.is_in(outcome, pa.array([FAILED, KILLED]))
    counted = rows.append_column("failed", pc.cast(bad, pa.int64()))
    counted = counted.append_column("nothing", pc.cast(pc.equal(outcome, NOTHING), pa.int64()))
    names = ("failed", "nothing", *_SUMMED)
    aggregations = [("run_id", "count"), ("peak_memory", "max"), *((name, "sum") for name in names)]
    grouped = counted.group_by(list(by), use_threads=False).aggregate(aggregations)
    grouped = grouped.rename_columns([_plain(name) for name in grouped.column_names])
    return grouped.sort_by([(name, "ascending") for name in by])


def _plain(name: str) -> str:
    return "runs" if name == "run_id_count" else name.removesuffix("_sum").removesuffix("_max")


def stored(history: History, since: datetime) -> pa.Table:
    """The rows of the table from the day of that moment on (UTC); none where there is no table. Raises HoodieError, OSError."""
    try:
        table = HoodieTable.open(history.path)
    except TableNotFoundError:
        return COLUMNS.empty_table()
    check_history(table.state())
    day = f"{since.astimezone(UTC):%Y-%m-%d}"
    known = set(table.schema.names)  # an older release may have made it
    rows = table.read([name for name in COLUMNS.names if name in known], filter=pc.field("day") >= day)
    for column in COLUMNS:
        if column.name not in known:
            rows = rows.append_column(column, pa.nulls(rows.num_rows, column.type))
    return rows.select(COLUMNS.names).cast(COLUMNS)


def _waiting(history: History, now: datetime) -> pa.Table:
    """Runs that wait, and those that go on or were killed: the latter by what is known without a look at their tables."""
    records: list[Record] = []
    for entry in Spool.of(history).waiting(now):
        if entry.record is not None:
            records.append(entry.record)
        elif entry.started is not None:
            records.append(Record(entry.started, KILLED if entry.dead else RUNNING))
    return as_rows(_latest(records), now)


def _latest(records: Sequence[Record]) -> list[Record]:
    """One of each run: the spool's two folders may have it both."""
    return list({record.started.run_id: record for record in records}.values())
