"""A run of a service, and the record that it leaves however it ends. No trouble with the history is one of the run."""

from __future__ import annotations

import logging
import socket
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from hoodie.clock import Clock, SystemClock
from hoodie.engine import Engine
from hoodie.timeline import Instant
from hoodie.transaction.listeners import following
from hoodie.transaction.locks.owner import LockOwner
from hudi_services.entry.call import Task, carried_out
from hudi_services.entry.size_estimate import LOCAL, SPARK
from hudi_services.entry.table import History
from hudi_services.operations.history.log_filter import warnings_only
from hudi_services.operations.history.measure import Executors, Measured
from hudi_services.operations.history.record import IDLE, NOTHING, Record, Started, failed, finished
from hudi_services.operations.history.recorder import Recorded
from hudi_services.operations.history.spool import Spool
from hudi_services.operations.history.store import deliver
from hudi_services.runtime.memory_reserve import take_room
from hudi_services.runtime.result import Cost, ServiceResult

_log = logging.getLogger(__name__)


class OnSpark(Protocol):
    """The measures of a Spark engine: its application, the seconds of processors of the executors, and the bytes of the
    largest Python worker. None where that is gone or not known."""

    @property
    def application(self) -> str: ...

    @property
    def cpu_seconds(self) -> float | None: ...

    @property
    def peak_memory(self) -> int | None: ...


class Recording:
    """The recording of one run. `done` takes its result."""

    def __init__(self, recorded: Recorded, started: Started, clock: Clock, owner: LockOwner) -> None:
        self._history = recorded.history
        self._started = started
        self._clock = clock
        self._owner = owner
        self._measured = Measured.begin()
        self._noted: list[str] = []
        self._completed: list[str] = []
        self._result: ServiceResult | None = None
        self._executors: Executors | None = None

    def begin(self) -> None:
        self._owner.hold()
        self._try("that it began", lambda spool: spool.begin(self._started, self._owner))

    def heard(self, instant: Instant) -> None:
        """Note an instant of the run: one that begins is noted before anything of it is written."""
        time = str(instant.time)
        if instant.is_completed:
            self._completed.append(time)
        elif time not in self._noted:
            self._noted.append(time)
            self._try("an instant", lambda spool: spool.at(self._started, time))

    def done(self, result: ServiceResult) -> None:
        self._result = result

    def spent_on(self, executors: Executors) -> None:
        """Note the resources of a run on Spark."""
        self._executors = executors

    def end(self, error: BaseException | None) -> None:
        """Leaves the record in the spool. Without an error and a result nothing was done, and no record is left."""
        is_local = self._started.engine == LOCAL
        spent = self._measured.spent() if is_local else self._measured.spent_on(self._executors)
        ended = self._clock.now().isoformat(timespec="microseconds")
        if error is not None:
            record = failed(self._started, error, self._completed, spent, ended)
        elif self._result is not None:
            record = finished(self._started, self._result, self._completed, spent, ended)
        else:
            self._try("that it did nothing", lambda spool: spool.drop(self._started, self._noted))
            return
        self._try("its end", lambda spool: spool.finish(record, self._noted))

    def _try(self, part: str, act: Callable[[Spool], object]) -> None:
        _try(self._history, part, lambda: act(Spool.of(self._history)))


def _try(history: History, part: str, act: Callable[[], object]) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 - no trouble with the history is one of the run
        _log.warning(
            "The history at %s misses %s until the next run of a service that can write it: %s: %s",
            history.path,
            part,
            type(error).__name__,
            error,
        )


@contextmanager
def recording(
    recorded: Recorded | None,
    service: str,
    base_path: str,
    engine: str,
    application: str | None = None,
) -> Iterator[Recording | None]:
    """The block is a run of `service`; None where no history is kept.

    Its end goes to the spool before the block's error goes on, which costs some milliseconds; see `delivered`.
    """
    if recorded is None:
        yield None
        return
    clock = SystemClock()
    started = _started(recorded, service, base_path, engine, application, clock.now())
    owner = LockOwner.of_this_process(str(uuid.uuid4()), f"{service} of {recorded.table}")
    run = Recording(recorded, started, clock, owner)
    run.begin()
    try:
        with following(run.heard):
            yield run
    except BaseException as error:
        take_room()
        run.end(error)
        raise
    else:
        run.end(None)
    finally:
        owner.release()


def record_idle(recorded: Recorded, service: str, base_path: str, reason: str) -> None:
    """Leave the record of a run that ended before its service started, as there was nothing to do.

    It costs one small file: the next run of a service writes it into the table. A later one of the day takes its place, as most
    runs of a schedule of minutes are such.
    """
    clock = SystemClock()
    started = _started(recorded, service, base_path, LOCAL, None, clock.now())
    started = replace(started, run_id=f"{IDLE}{recorded.table}/{service}/{started.began[:10]}")
    record = Record(started, NOTHING, clock.now().isoformat(timespec="microseconds"), message=reason)
    _try(recorded.history, f"a run of {service} without work", lambda: Spool.of(recorded.history).finish(record, ()))


@contextmanager
def delivered(recorded: Recorded | None) -> Iterator[None]:
    """After the block, also after one that failed, put what waits in the spool into the table. The run has reported its
    result before: it must not wait for a storage that hangs, or look as if it had died where it is ended during the
    delivery."""
    try:
        yield
    finally:
        if recorded is not None:
            with warnings_only():
                _try(recorded.history, "its records", lambda: deliver(recorded.history, SystemClock()))


def carried_out_recorded(
    recorded: Recorded | None,
    service: str,
    base_path: str,
    task: Task,
    engine: Engine,
    spark: OnSpark | None = None,
) -> ServiceResult:
    """Runs a task as `carried_out` does, says in its result what it cost, and leaves a record where one is kept. `spark` is the
    engine, of one of Spark."""
    name, application = (LOCAL, None) if spark is None else (SPARK, spark.application)
    with recording(recorded, service, base_path, name, application) as run:
        measured, executors = Measured.begin(), None
        try:
            result = carried_out(task, engine)
        finally:
            if spark is not None:
                executors = Executors(spark.cpu_seconds, spark.peak_memory)
                if run is not None:
                    run.spent_on(executors)
        spent = measured.spent() if spark is None else measured.spent_on(executors)
        result = replace(result, cost=Cost(spent.cpu_seconds, spent.peak_memory))
        if run is not None:
            run.done(result)
    return result


def _started(
    recorded: Recorded, service: str, base_path: str, engine: str, application: str | None, now: datetime
) -> Started:
    asker = recorded.asker
    run_id = str(uuid.uuid4())
    if asker.dag_id is not None:
        # The same try is the same run, also when its record is delivered again. Threads and then Spark are two.
        parts = (asker.dag_id, asker.dag_run_id, asker.task_id, asker.map_index, asker.attempt, engine)
        run_id = "/".join("" if part is None else str(part) for part in parts)
    began = now.isoformat(timespec="microseconds")
    host = socket.gethostname()
    return Started(run_id, recorded.table, base_path, service, engine, began, host, application, asker)
