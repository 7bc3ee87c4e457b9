"""Processes of a run: each suite in a session of its own, and none is left when the run ends."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock

import psutil

ENDING_SECONDS = 3.0  # which helpers of a suite have to end by themselves
GRACE_SECONDS = 30.0  # which a suite has to stop its servers after an interrupt
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_ADOPTS_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux's prctl


class Processes:
    """Starts programs, and stops all of them with their children, grandchildren and orphans."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self.stopped = False
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_ADOPTS_ORPHANS, 1, 0, 0, 0)

    def run(
        self,
        command: Sequence[str],
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
        folder: Path | None = None,
    ) -> int:
        """Run to its end in `folder`, with its output in `log` or in ours. Returns the exit code, 130 once the run was stopped.

        Raises subprocess.TimeoutExpired if it has not ended after `seconds`. It is interrupted then.
        """
        with contextlib.ExitStack() as stack, self._lock:
            if self.stopped:
                return 130
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=None if log is None else stack.enter_context(log.open("ab")),
                stderr=None if log is None else subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return process.wait(None if seconds is None else max(seconds, 0))
        except subprocess.TimeoutExpired:
            _interrupt([process])
            raise
        finally:
            with self._lock:
                self._running.discard(process)

    def stop(self) -> None:
        """Interrupt what runs, kill what is left after a grace period, and start nothing more. More signals change nothing."""
        for number in (signal.SIGINT, *_ENDS):
            signal.signal(number, signal.SIG_IGN)
        with self._lock:
            self.stopped = True
            running = list(self._running)
        _interrupt(running)
        self.kill_left()

    def kill_left(self) -> list[str]:
        """Kill the descendants that still run. Returns their command lines."""
        _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=ENDING_SECONDS)
        left = [child for child in alive if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        names = []
        for child in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                names.append(" ".join(child.cmdline())[:120])
                child.kill()
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        return names


def _interrupt(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Interrupt sessions, as Ctrl-C does, and kill those whose first process is left after a grace period."""
    for process in running:
        _signal(process, signal.SIGINT)
    end = time.monotonic() + GRACE_SECONDS
    for process in running:
        try:
            process.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def run_interruptible(main: Callable[[Processes], int]) -> int:
    """Run `main` and return its exit code, 130 after Ctrl-C, SIGTERM or SIGHUP, 1 on a full disk. No process is left then."""
    processes = Processes()
    for number in _ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, signal.default_int_handler)
    try:
        return main(processes)
    except KeyboardInterrupt:
        print("\ninterrupted: stopping what runs ...", flush=True)
        processes.stop()
        print("interrupted: all that ran is stopped", flush=True)
        return 130
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        processes.stop()
        place = error.filename or Path.cwd()
        print(f"the disk of {place} is full: free some space, or set TMPDIR to a folder of another disk", flush=True)
        return 1
