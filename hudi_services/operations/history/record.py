"""One run of a service as the history has it, and the columns of that table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from hoodie.errors import DeleteCapError
from hudi_services.operations.history.recorder import Asker
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.result import ServiceResult

DONE, NOTHING, FAILED, KILLED, RUNNING = "done", "nothing to do", "failed", "killed", "running"
ASKS = "asks"  # it would delete more than it may without approval, and did nothing
"""How a run ended. `killed`: its process is gone and has not said so; `instants` are those of its instants that are complete.
`running` is shown, and in no row of the table."""
IDLE = "idle/"
"""The first letters of the id of runs that ended before their service started. Their records may wait for days."""
AT_A_SHELL = ("savepoint", "doctor", "undelete", "rollback", "purge")
"""Services that a user runs at a shell: the user sees that they failed, and may never run them again."""

_MESSAGE = 2000  # characters
COUNTS = ("rows_read", "rows_written", "files_read", "bytes_read", "files_written", "bytes_written", "files_deleted")


@dataclass(frozen=True)
class Started:
    """A run that began: its identity, which a retry does not share, and what is known from the start.

    `began` is ISO in UTC. `engine` is `local` or `spark`, `application` that of Spark.
    """

    run_id: str
    table: str
    base_path: str
    service: str
    engine: str
    began: str
    host: str
    application: str | None = None
    asker: Asker = field(default_factory=Asker)


@dataclass(frozen=True)
class Spent:
    """Resources that a run took. None where they were not measured.

    Seconds; `cpu_seconds` of processors, with children that have ended, or executors; `peak_memory` in bytes, of the
    process as a whole, or of the largest Python worker of a Spark application.
    """

    seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory: int | None = None


@dataclass(frozen=True)
class Record:
    """A run of a service: a row of the history. Counts, sizes (bytes) and gains are None where they are not known."""

    started: Started
    outcome: str
    ended: str | None = None  # ISO, UTC
    error: str | None = None  # the error's name
    message: str | None = None
    instants: Sequence[str] | None = None  # that it completed
    spent: Spent = field(default_factory=Spent)
    rows_read: int | None = None
    rows_written: int | None = None
    files_read: int | None = None
    bytes_read: int | None = None
    files_written: int | None = None
    bytes_written: int | None = None
    files_deleted: int | None = None
    bytes_freed: int | None = None
    log_bytes_merged: int | None = None
    files_before: int | None = None
    files_after: int | None = None

    def as_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def parse(cls, content: bytes) -> Record:
        """Parse what `as_json` made. Raises ValueError, TypeError or KeyError for anything else."""
        values = json.loads(content)
        return _checked(
            cls(**{**values, "started": parse_started(values["started"]), "spent": Spent(**values["spent"])})
        )


def parse_started(values: dict[str, Any]) -> Started:
    """Parse what `asdict` made. Raises ValueError, TypeError or KeyError for anything else."""
    return _checked(Record(Started(**{**values, "asker": Asker(**values["asker"])}), KILLED)).started


def _checked(record: Record) -> Record:
    """One that has a row: another one would keep all that wait with it out of the table."""
    if not record.started.run_id:
        raise ValueError("its run has no id")
    try:
        as_rows([record], datetime(2000, 1, 1, tzinfo=UTC))
    except OverflowError as error:
        raise ValueError(str(error)) from error
    return record


def finished(started: Started, result: ServiceResult, instants: Sequence[str], spent: Spent, ended: str) -> Record:
    """The record of a run that came to its end; the result's instant may be one that it only planned, or reported to a
    catalog."""
    counts = {name: None if name in result.uncounted else getattr(result, name) for name in COUNTS}
    record = Record(
        started,
        DONE if instants or result.instant is not None or result.acted else NOTHING,
        ended,
        message=result.message[:_MESSAGE],
        instants=list(instants),
        spent=spent,
        **counts,
    )
    return replace(record, **asdict(result.gain))


def failed(started: Started, error: BaseException, instants: Sequence[str], spent: Spent, ended: str) -> Record:
    """The record of a run that raised an error; what it counted until then is not known. To ask is no failure."""
    failure = Failure.of(error)
    outcome = ASKS if isinstance(error, DeleteCapError) else FAILED
    return Record(started, outcome, ended, failure.error, failure.what[:_MESSAGE], instants=list(instants), spent=spent)


_TEXT, _NUMBER, _TIME = pa.string(), pa.int64(), pa.timestamp("us", "UTC")
_STARTED: tuple[tuple[str, pa.DataType], ...] = (
    ("run_id", _TEXT),
    ("day", _TEXT),
    ("table_name", _TEXT),
    ("base_path", _TEXT),
    ("service", _TEXT),
    ("engine", _TEXT),
    ("spark_application", _TEXT),
    ("host", _TEXT),
    ("dag_id", _TEXT),
    ("dag_run_id", _TEXT),
    ("task_id", _TEXT),
    ("map_index", _NUMBER),
    ("attempt", _NUMBER),
    ("began", _TIME),
)
_ENDED: tuple[tuple[str, pa.DataType], ...] = (
    ("ended", _TIME),
    ("outcome", _TEXT),
    ("error", _TEXT),
    ("message", _TEXT),
    ("instants", pa.list_(_TEXT)),
    ("seconds", pa.float64()),
    ("cpu_seconds", pa.float64()),
    ("peak_memory", _NUMBER),
    *((name, _NUMBER) for name in (*COUNTS, "bytes_freed", "log_bytes_merged", "files_before", "files_after")),
    ("recorded", _TIME),
)
COLUMNS = pa.schema([*_STARTED, *_ENDED])
"""The schema of the history: key `run_id`, partitioned by `day` (of `began`, UTC), ordered by `recorded`."""


def as_rows(records: Sequence[Record], now: datetime) -> pa.Table:
    """Rows of the history, recorded `now`."""
    rows = []
    for record in records:
        started, spent = record.started, record.spent
        row = {item.name: getattr(record, item.name) for item in fields(Record)}
        row |= asdict(started) | asdict(started.asker) | asdict(spent)
        row |= {"table_name": started.table, "spark_application": started.application, "day": started.began[:10]}
        row |= {"began": _time(started.began), "ended": _time(record.ended), "recorded": now}
        rows.append({name: row[name] for name in COLUMNS.names})
    return pa.Table.from_pylist(rows, COLUMNS)


def _time(iso: str | None) -> datetime | None:
    return datetime.fromisoformat(iso).astimezone(UTC) if iso is not None else None
