"""The owner of a home's Airflow: one start at a time, known by a lock that the system takes back when its holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from hoodie.errors import HoodieError

_LOCK, _OWNER = "airflow.lock", "running.json"


@dataclass(frozen=True)
class Owner:
    """The process that holds a home, the address of its Airflow, and the registry it serves."""

    pid: int
    address: str
    registry: str


class AlreadyRunningError(HoodieError):
    """The home has a running Airflow: that of `owner`, None in the moment in which it starts."""

    owner: Owner | None = None


@contextlib.contextmanager
def owned(folder: Path, address: str, registry: Path) -> Iterator[None]:
    """The home is this process's for the time of the block. Raises AlreadyRunningError when it is another's."""
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _already_running(folder) from None
        file = folder / _OWNER
        written = file.with_name(f"{_OWNER}.{os.getpid()}")
        written.write_text(json.dumps(asdict(Owner(os.getpid(), address, str(registry)))))
        written.replace(file)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)


def check_free(folder: Path) -> None:
    """Raises AlreadyRunningError when the home has a running Airflow."""
    if find_owner(folder):
        raise _already_running(folder)


def find_owner(folder: Path) -> Owner | None:
    """The present holder of the home; None also for a home that cannot be one, which its `make` says."""
    try:
        with (folder / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(folder)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    return None


def _already_running(folder: Path) -> AlreadyRunningError:
    owner = _read(folder)
    error = AlreadyRunningError(
        f"The Airflow of {folder} is running already",
        found=f"at {owner.address} on {owner.registry}, started by process {owner.pid}" if owner else None,
        fix=f"`kill {owner.pid}` stops it" if owner else "try again in a moment",
    )
    error.owner = owner
    return error


def _read(folder: Path) -> Owner | None:
    try:
        return Owner(**json.loads((folder / _OWNER).read_text()))
    except (OSError, ValueError, TypeError):
        return None
