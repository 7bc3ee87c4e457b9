"""The result of a service for its caller: one line for people, one JSON object for programs.

With `--result-path` the object is also left at a path or URL: the result, the plan that was asked for, or why the run failed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hoodie.errors import ConfigError
from hoodie.model.outcome import ServiceOutcome
from hudi_services.runtime.failures import Failure
from hudi_services.runtime.memory_reserve import take_room
from hudi_services.runtime.report_files import drop, place_of, put
from hudi_services.runtime.terminal import echo

if TYPE_CHECKING:  # it loads Arrow
    pass

DONE, SERVICE_FAILED, WANTS_SPARK = 0, 3, 4  # exit codes


@dataclass(frozen=True)
class Gain:
    """The gain of a run, in bytes and data files; None for values that are unknown or are not the purpose of the service.

    `files_before` and `files_after` are of the file slices that were rewritten: base files and logs.
    """

    bytes_freed: int | None = None
    log_bytes_merged: int | None = None
    files_before: int | None = None
    files_after: int | None = None


@dataclass(frozen=True)
class Cost:
    """The cost of a run: processor seconds, and the most bytes of memory held at once. None if it was not measured.

    docs/how-to/history.md says what is counted where."""

    cpu_seconds: float | None = None
    peak_memory: int | None = None


@dataclass(frozen=True)
class ServiceResult:
    """The outcome of one run. Sizes in bytes; `instant` is None when nothing had to be done, and `message` says why.

    Rows add up: read and repeated ones are those written, filtered, duplicate, without effect and quarantined. Written is
    inserted, updated and deleted; a duplicate was dropped for another row of its key in the same load; without effect is a row
    older than that of its key in the table, or a deletion of a key that is not there; repeated are rows written beyond those
    that came, where the table has several of a key.
    """

    service: str
    message: str
    instant: str | None = None
    rows_read: int = 0
    rows_written: int = 0
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    rows_filtered: int = 0
    rows_duplicate: int = 0
    rows_without_effect: int = 0
    rows_repeated: int = 0
    rows_quarantined: int = 0
    files_read: int = 0
    files_skipped: int = 0  # that cannot be read, by the feed's policy
    loads_again: Sequence[str] = ()  # source files that the next run of a feed loads again, after a rollback or restore
    columns_left_out: Sequence[str] = ()  # columns and dotted fields of a load without a value that shows their type
    bytes_read: int = 0
    files_written: int = 0
    bytes_written: int = 0
    files_deleted: int = 0
    bytes_deleted: int = 0
    seconds: float = 0.0
    lag_seconds: float | None = None  # seconds that the first commit of a stream's source has waited
    blockers: Sequence[Mapping[str, Any]] = ()  # what held the service back: see hoodie.services.blockers.Blocker
    recovered: Sequence[str] = ()  # what killed or failed processes had left, and was put in order
    services: Sequence[ServiceOutcome] = ()  # that ran after the commit
    acted: bool = False  # something was done that needs no instant: a savepoint was deleted
    gain: Gain = Gain()
    cost: Cost = Cost()
    uncounted: Sequence[str] = ()  # fields above that are 0 only because the service does not count them

    @property
    def exit_code(self) -> int:
        """3 if a service after the commit failed and its failure counts; the commit stays all the same."""
        return SERVICE_FAILED if any(service.failed and service.counts for service in self.services) else DONE


@dataclass(frozen=True)
class Explained:
    """A plan that was asked for, as text for people and as JSON for programs; nothing was changed."""

    service: str
    text: str
    plan: Mapping[str, Any]


Report = ServiceResult | Explained | Failure
"""The report of a service's call: its result, the plan that was asked for, or its failure."""


def write_report(report: Report, path: str) -> None:
    """Store it as JSON at a path or URL, whole or not at all: a caller never reads half of it."""
    put(path, json.dumps(asdict(report), indent=2).encode())


def read_report(path: str) -> Report:
    """The report that `write_report` stored.

    Raises OSError if there is no file, and ValueError, TypeError or KeyError if it does not hold a report.
    """
    storage, name = place_of(path)
    values = json.loads(storage.read(name))
    if "error" in values:
        return Failure(**values)
    if "plan" in values:
        return Explained(**values)
    services = tuple(ServiceOutcome(**service) for service in values["services"])
    lists = {
        name: tuple(values[name]) for name in ("blockers", "recovered", "uncounted", "columns_left_out", "loads_again")
    }
    return ServiceResult(
        **{**values, **lists, "services": services, "gain": Gain(**values["gain"]), "cost": Cost(**values["cost"])}
    )


@contextmanager
def reported(path: str | None) -> Iterator[None]:
    """Stores why the block failed, when a `path` was given. Raises ConfigError, before the block, where nothing can be stored."""
    if path is not None:
        _check_writable(path)
    try:
        yield
    except BaseException as error:
        take_room()
        if path is not None:
            with suppress(OSError, MemoryError):  # what is raised says more
                write_report(Failure.of(error), path)
        raise


def _check_writable(path: str) -> None:
    """Raise ConfigError if no file can be written there. After the work it would be too late."""
    try:
        put(path, b"")
        drop(path)
    except OSError as error:
        raise ConfigError(
            f"The result cannot be written to {path}",
            found=str(error) or type(error).__name__,
            fix="name a place that this process may write to",
        ) from error


def with_services(message: str, services: Sequence[ServiceOutcome]) -> str:
    """The message, and the outcome of the services after the commit."""
    return "; ".join(
        [message, *(f"{service.service}{' FAILED' * service.failed}: {service.message}" for service in services)]
    )


def finish(result: ServiceResult, as_json: bool, path: str | None) -> int:
    """Store the result if a `path` was given, and print it for people or programs. Returns the exit code."""
    if path is not None:
        write_report(result, path)
    echo(
        json.dumps(asdict(result), indent=2)
        if as_json
        else f"{result.service}: {result.message} ({result.seconds:.1f} s)"
    )
    return result.exit_code
