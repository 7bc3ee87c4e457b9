"""A service on threads, in a child process of the task: it begins in a second, and Spark is not needed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from hoodie.display import size_of
from hoodie_airflow.output import Output
from hoodie_airflow.submit import left_report
from hudi_services.entry.service import ServiceEntry
from hudi_services.entry.table import Table
from hudi_services.runtime.failures import Failure, core
from hudi_services.runtime.result import WANTS_SPARK, Report
from hudi_services.runtime.spark.session import checkout_folders

# The last exception, or the last line, of a process that had too little memory: Python's, Arrow's, numpy's, C++'s, the
# kernel's, the loader's of shared libraries, and our own words.
_NO_MEMORY = re.compile(
    r"(?:\w+\.)*\w*MemoryError(?:$|:)|.*std::bad_alloc|OSError: \[Errno 12\]|ImportError: .*(?:map segment|allocate memory)"
    r"|RuntimeError: can't start new thread|OpenBLAS error: Memory allocation|hudi-services: there is not enough memory"
)


class Child:
    """A run of `entry` on `table`, which `arguments` are for; its lines go to `tell`, all that it prints to `output`."""

    def __init__(self, entry: ServiceEntry[Any], table: Table, tell: Callable[[str], None], output: Output) -> None:
        self._entry = entry
        self._table = table
        self._tell = tell
        self._output = output
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: Sequence[str], result_path: str, *, may_leave: bool) -> Report | None:
        """Run the service, and return how it ended; None when Spark is to do it, which only a run that `may_leave` it
        says: the work is not small, this machine cannot look at the table, or its memory is not enough."""
        engine = "auto" if may_leave else "local"
        flags = [
            "--engine",
            engine,
            "--local-up-to",
            str(self._table.local.up_to),
            "--verbose",
            "--result-path",
            result_path,
        ]
        memory = self._table.local.memory
        command = [
            "-m",
            "hudi_services.cli.child_process",
            str(os.getpid()),
            str(memory),
            self._entry.name,
            *arguments,
            *flags,
        ]
        self._process = subprocess.Popen(
            [sys.executable, *command],
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        with self._process as process:
            assert process.stdout is not None
            for line in self._output.shown(process.stdout):
                self._tell(line)
        if process.returncode == WANTS_SPARK and may_leave:
            return None
        report = left_report(result_path) or self._died(process.returncode)
        if isinstance(report, Failure):
            report = self._with_memory(report)
            if may_leave and report.error == "MemoryError":
                self._tell(f"engine: Spark instead: {report.what}")
                return None
        return report

    def kill(self) -> None:
        """End the process at once; what it had begun is rolled back by the next run."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def _died(self, code: int) -> Failure:
        """The failure of a process that left no report."""
        last = core(self._output.last) or self._output.last.rpartition("\n")[2] or None
        if code >= 0 and last is not None and _NO_MEMORY.match(last):  # it ran out of it again while it said so
            return Failure(MemoryError.__name__, f"The service's process ended with code {code}", last, None, 1, True)
        if code >= 0:
            return Failure("ProcessError", f"The service's process ended with code {code}", last, None, 1, code != 2)
        if -code in (signal.SIGABRT, signal.SIGKILL):  # C++ code that gets no memory, or the kernel
            return Failure(
                "MemoryError", f"The service's process was ended by {signal.Signals(-code).name}", last, None, 1, True
            )
        return Failure("ProcessError", f"The service's process was ended by signal {-code}", last, None, 1, True)

    def _with_memory(self, failure: Failure) -> Failure:
        if failure.error != MemoryError.__name__:
            return failure
        memory = size_of(self._table.local.memory)
        return Failure(
            "MemoryError",
            f"{self._entry.name} of table {self._table.name} does not fit into the {memory} of memory of its process",
            failure.found,
            "give it more with `local: {memory: …}` in its entry of the registry, or say `engine: spark`",
            1,
            retryable=False,
        )


def child_environment() -> dict[str, str]:
    """The environment of a process of this interpreter that runs a command of this project."""
    own = checkout_folders()
    inherited = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part not in own]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*own, *inherited])}
