"""The history as a Hudi table: made when the first records come, and written in batches from the spool."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from hoodie import HoodieTable
from hoodie.clock import Clock
from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError, HoodieError, LockHeldError, TableExistsError, TableNotFoundError
from hoodie.model.time import Time
from hoodie.timeline import parse_time
from hoodie.view import TableState
from hudi_services.entry.table import History
from hudi_services.operations.history.record import COLUMNS, IDLE, KILLED, Record, as_rows
from hudi_services.operations.history.spool import Spool, Waiting

_APART = timedelta(seconds=20)
"""Between two commits: of tasks that end together one writes the records of all that are there, and the next run the rest."""
_PATIENCE = timedelta(minutes=10)
"""The time that a record may wait for another's lock before that is logged."""
_LEASED = ("s3://", "s3a://", "gs://", "abfs://", "abfss://", "az://")  # where Hudi's storage-based lock works
_CREATE = {
    "hoodie.table.name": "history",
    "hoodie.table.type": "COPY_ON_WRITE",
    "hoodie.datasource.write.recordkey.field": "run_id",
    "hoodie.datasource.write.partitionpath.field": "day",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.table.ordering.fields": "recorded",
}
_WRITE = {
    "hoodie.clean.automatic": "true",
    "hoodie.archive.automatic": "true",
    "hoodie.clean.commits.retained": "10",
    "hoodie.keep.min.commits": "20",
    "hoodie.keep.max.commits": "30",
    "hoodie.write.lock.wait_time_ms": "2000",
}

_log = logging.getLogger(__name__)


def deliver(history: History, clock: Clock) -> int:
    """Write what waits in the spool into the table, in one commit, and clear it away. Returns how many records that were.

    None while another process does so, or did a moment ago. Each record is an upsert of its run: one that is delivered again, as
    a process was killed before it cleared the spool, is not doubled. Raises HoodieError or OSError; the records stay there.
    """
    table = _opened(history, clock)
    if table is not None and _written_just_now(table, clock):
        return 0
    spooled_runs = [
        spooled for spooled in Spool.of(history).waiting(clock.now()) if spooled.record is not None or spooled.dead
    ]
    if not spooled_runs:
        return 0
    if table is None:
        table = _created(history, clock)
    records = [spooled.record or _killed(spooled) for spooled in spooled_runs]
    lock = {"hoodie.write.lock.provider": "StorageBasedLockProvider"} if history.path.startswith(_LEASED) else {}
    try:
        table.write(as_rows(records, clock.now()), "upsert", {**_WRITE, **lock})
    except LockHeldError:
        waited = [_ended(record) for record in records if not record.started.run_id.startswith(IDLE)]
        if waited and clock.now() - min(waited) > _PATIENCE:
            raise
        return 0
    for entry in spooled_runs:
        for place, path in entry.files:
            place.delete(path)
    return len(records)


def _opened(history: History, clock: Clock) -> HoodieTable | None:
    try:
        table = HoodieTable.open(history.path, engine=LocalEngine(1), clock=clock)
    except TableNotFoundError:
        return None
    check_history(table.state())
    return table


def _created(history: History, clock: Clock) -> HoodieTable:
    engine = LocalEngine(1)
    try:
        return HoodieTable.create(history.path, _CREATE, COLUMNS, engine=engine, clock=clock)
    except TableExistsError:  # another process was first
        return HoodieTable.open(history.path, engine=engine, clock=clock)


def _written_just_now(table: HoodieTable, clock: Clock) -> bool:
    state = table.state()
    last = state.timeline.last_commit
    return last is not None and abs(clock.now() - parse_time(last.time, state.zone)) < _APART


def check_history(state: TableState) -> None:
    """Raises ConfigError for a table that is something else."""
    properties = state.properties
    if (properties.record_key_fields, properties.partition_fields) != (("run_id",), ("day",)):
        raise ConfigError(
            f"The table at {state.storage.base_path} is no history of runs",
            found=f"record key {', '.join(properties.record_key_fields)}; partitions by {', '.join(properties.partition_fields)}",
            fix="name a folder of its own in the registry's key `history.path`",
        )


def _ended(record: Record) -> datetime:
    return datetime.fromisoformat(record.ended or record.started.began)


def _killed(entry: Waiting) -> Record:
    assert entry.started is not None, "only of a run that began"
    return Record(entry.started, KILLED, message="its process is gone", instants=_completed(entry))


def _completed(entry: Waiting) -> Sequence[str] | None:
    """The completed ones of the instants that a run began; None where the table cannot say any more."""
    assert entry.started is not None
    if not entry.instants:
        return ()
    try:
        state = HoodieTable.open(entry.started.base_path).state()
    except (HoodieError, OSError) as error:
        _log.warning(
            "The instants that %s of table %s completed are not known: %s",
            entry.started.service,
            entry.started.table,
            error,
        )
        return None
    completed = {str(instant.time) for instant in state.timeline.instants if instant.is_completed}
    if missing := sorted(set(entry.instants) - completed):
        before = Time.of(str(int(missing[0]) - 1))
        completed |= {str(instant.time) for instant in state.archive.instants(before, Time.of(missing[-1]))}
    return [instant for instant in entry.instants if instant in completed]
