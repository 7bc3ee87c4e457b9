"""A doctor's round: tables one after the other, some at a time; none of them ends the round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hoodie.clock import Clock, SystemClock
from hoodie.doctor import catalogue
from hoodie.doctor.diagnosis import diagnose
from hoodie.doctor.finding import Diagnosis, Finding
from hoodie.engine import Progress
from hoodie.engine.progress import Counter
from hoodie.errors import (
    AccessDeniedError,
    ConfigError,
    HoodieError,
    OccupiedPathError,
    StorageError,
    TableNotFoundError,
    UnsupportedTableError,
)
from hoodie.storage import open_storage
from hoodie.storage.outage import storage_error
from hudi_services.operations.history.recorder import Recorded

SERVICES = ("clean", "compact", "archive")
"""The services whose plans the doctor asks for."""

_CHECKS: tuple[tuple[type[HoodieError], catalogue.Check], ...] = (
    (OccupiedPathError, catalogue.UNREADABLE),
    (TableNotFoundError, catalogue.NO_TABLE),
    (AccessDeniedError, catalogue.MISSING_RIGHT),
    (StorageError, catalogue.UNREACHABLE),
    (ConfigError, catalogue.UNREACHABLE),
    (UnsupportedTableError, catalogue.UNSUPPORTED),
)
"""The check by the kind of error that keeps a table from being looked at: the first that fits."""


@dataclass(frozen=True)
class Patient:
    """A table by its name in the registry, or by its path; `options` are those of each service."""

    name: str
    base_path: str
    options: Mapping[str, Mapping[str, object]]
    deep: bool = False  # data files are read, too
    recorded: Recorded | None = None  # the history that records fixes
    loads: bool = True  # `ingest` can load its rows from a source


@dataclass(frozen=True)
class TableDiagnosis:
    """A table, and what is wrong with it."""

    name: str
    diagnosis: Diagnosis
    loads: bool = True  # `ingest` can load its rows from a source

    def as_dict(self) -> dict[str, Any]:
        """The diagnosis as values for programs."""
        return {"name": self.name, **self.diagnosis.as_dict()}


def look(patient: Patient, clock: Clock | None = None) -> TableDiagnosis:
    """Look at one table. An error that keeps it from being looked at is a finding."""
    try:
        diagnosis = diagnose(
            open_storage(patient.base_path), clock or SystemClock(), patient.options, data_files=patient.deep
        )
    except Exception as error:  # noqa: BLE001 - any error of a storage, or of a body of an unknown table
        diagnosis = Diagnosis(patient.base_path, (_unseen(patient.base_path, error),), {})
    return TableDiagnosis(patient.name, diagnosis, patient.loads)


def rounds(patients: Sequence[Patient], at_once: int, progress: Progress | None) -> Iterator[TableDiagnosis]:
    """Each table, in the order in which they are done, no more than `at_once` at the same time."""
    queue = iter(patients)
    counter = Counter(progress or (lambda _stage: None), "look at tables", len(patients), ())
    with ThreadPoolExecutor(at_once, thread_name_prefix="doctor") as pool:
        running = {pool.submit(look, patient) for patient in islice(queue, at_once)}
        while running:
            finished = next(as_completed(running))
            running.remove(finished)
            running.update(pool.submit(look, patient) for patient in islice(queue, 1))
            counter.finish(0)
            yield finished.result()


def _unseen(base_path: str, error: Exception) -> Finding:
    """The finding of a table that this error keeps from being looked at."""
    error = storage_error(error, "a look at the table", base_path) or error
    if not isinstance(error, HoodieError):
        remedy = "look whether its storage answers and may be read, and try again"
        return catalogue.UNREADABLE.finding(
            "the table cannot be looked at", remedy, found=f"{type(error).__name__}: {error}"
        )
    check = next((check for kind, check in _CHECKS if isinstance(error, kind)), catalogue.UNREADABLE)
    return check.finding(error.what, error.fix or "see docs/reference/doctor-checks.md", found=error.found)
