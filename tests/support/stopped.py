"""Processes that an operating system stops, as a laptop that sleeps or a machine that is moved does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped(code: str) -> Iterator[Callable[[], str]]:
    """A Python process, stopped (SIGSTOP) when it has printed `held`, after which it reads a line.

    The block gets a function that resumes the process, and returns the next line that it prints.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "held\n"
            process.send_signal(signal.SIGSTOP)

            def go_on() -> str:
                process.send_signal(signal.SIGCONT)
                process.stdin.write("\n")
                process.stdin.flush()
                return process.stdout.readline().rstrip("\n")

            yield go_on
        finally:
            process.kill()
