"""A service in a child process of the task that wants it: `python -m hudi_services.cli.child_process PARENT MEMORY
SERVICE …`.

The process has a memory of its own, ends when the task does, however that dies, and prints lines that the task can
distinguish from others. It runs on threads; where `--engine auto` finds that Spark is the better choice it ends with
WANTS_SPARK.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from hudi_services.cli.process_exit import Leaving
from hudi_services.runtime.memory_reserve import limit_memory

_PR_SET_PDEATHSIG = 1  # prctl(2)


def contain(parent: int, memory: int) -> None:
    """Let this process die with `parent`, and take at most `memory` bytes, plus a little to report why it failed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has died in between
        os._exit(1)
    limit_memory(memory)


if __name__ == "__main__":
    leaving = Leaving()
    contain(int(sys.argv[1]), int(sys.argv[2]))

    from hudi_services.cli.process_context import Surroundings
    from hudi_services.cli.program import main
    from hudi_services.runtime.arrow_conversion import convert_without_pandas

    convert_without_pandas()
    leaving.code = main(sys.argv[3:], surroundings=Surroundings(marked=True, spark=False))
    sys.exit(leaving.code)
