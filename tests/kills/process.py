"""A real process that is killed (SIGKILL) at a chosen storage call. It is forked from one that has loaded the library."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.storage import LocalStorage
from hoodie.view.committed_files import memory
from tests.support.clock import FakeClock

READS = ("list", "info", "read", "open_input", "sweep")  # after these the files are as before
TORN = ("create", "open_output", "replace", "delete_folder")  # they do more than one thing to the disk


@dataclass(frozen=True)
class KillPoint:
    """Before a call (they are numbered from 1), or `within` it: what it writes is not under its name yet, or not whole."""

    number: int
    call: str
    path: str
    within: bool = False

    def __str__(self) -> str:
        return f"{'in' if self.within else 'before'} call {self.number}, {self.call} {self.path}"


class CountedStorage(LocalStorage):
    """Notes the storage calls, and kills its own process at one of them."""

    def __init__(self, base_path: Path, at: KillPoint | None = None) -> None:
        super().__init__(str(base_path))
        self.calls: list[KillPoint] = []
        self._kill_at = at

    def _step(self, call: str, path: str) -> bool:
        """Record a call. Says whether the process is to be killed within it."""
        self.calls.append(KillPoint(len(self.calls) + 1, call, path))
        here = self._kill_at is not None and len(self.calls) == self._kill_at.number
        if here and not self._kill_at.within:
            _die()
        return here

    def list(self, folder: str) -> Any:
        self._step("list", folder)
        return super().list(folder)

    def info(self, path: str) -> Any:
        self._step("info", path)
        return super().info(path)

    def read(self, path: str) -> bytes:
        self._step("read", path)
        return super().read(path)

    def open_input(self, path: str) -> Any:
        self._step("open_input", path)
        return super().open_input(path)

    def sweep(self, folders: Any) -> None:
        self._step("sweep", " ".join(folders))
        super().sweep(folders)

    def touch(self, path: str) -> None:
        self._step("touch", path)
        super().touch(path)

    def delete(self, path: str) -> bool:
        self._step("delete", path)
        return super().delete(path)

    def create(self, path: str, data: bytes) -> None:
        if self._step("create", path):
            os.link = Path.open = _die
        super().create(path, data)

    def replace(self, path: str, old: bytes, new: bytes) -> bool:
        if self._step("replace", path):
            os.replace = _die
        return super().replace(path, old, new)

    def delete_folder(self, folder: str) -> None:
        if self._step("delete_folder", folder):
            os.unlink, os.rmdir = _then_die(os.unlink), _die
        super().delete_folder(folder)

    @contextmanager
    def open_output(self, path: str) -> Iterator[Any]:
        torn = self._step("open_output", path)
        with super().open_output(path) as sink:
            yield sink
            if torn:
                sink.truncate(max(1, sink.tell() // 2))
                _die()
            self._step("close_output", path)


def killed(act: Callable[[HoodieTable], object], path: Path, at: KillPoint) -> None:
    """Do `act` with the table at `path` in a process that is killed there. Raises AssertionError when it was not."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hoodie.table", "pyarrow.parquet", "tests.kills.actions"])
    process = context.Process(target=_run, args=(act, path, at))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, f"the process was not killed {at}: exit {process.exitcode}"


def calls(act: Callable[[HoodieTable], object], path: Path) -> list[KillPoint]:
    """Do `act` with the table at `path`, here: the storage calls that it makes."""
    storage = CountedStorage(path)
    act(opened(storage))
    return storage.calls


def opened(storage: LocalStorage) -> HoodieTable:
    """The table as a process sees it that has just started, a month after the table was made."""
    memory.clear()
    return HoodieTable(storage, LocalEngine(1), FakeClock(FakeClock().time.replace(month=2)))


def _run(act: Callable[[HoodieTable], object], path: Path, at: KillPoint) -> None:
    os.fsync = lambda _descriptor: None  # the machine goes on: what was written is there
    act(opened(CountedStorage(path, at)))


def _die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _then_die(do: Callable[..., object]) -> Callable[..., object]:
    def once(*given: Any, **more: Any) -> None:
        do(*given, **more)
        _die()

    return once
