"""A service in a child process of the task that wants it: `python -m hudi_services.process.contained PARENT MEMORY SERVICE …`.

The process has a memory of its own, ends when the task does, however that dies, and prints lines that the task can tell from
others'. It runs on threads; where `--engine auto` finds that Spark is the better choice it ends with WANTS_SPARK.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from hudi_services.outcome.room import limit_memory
from hudi_services.process.leaving import Leaving

_PR_SET_PDEATHSIG = 1  # prctl(2)


def contain(parent: int, memory: int) -> None:
    """Let this process die with `parent`, and take at most `memory` bytes, and a little more to tell why it failed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has died in between
        os._exit(1)
    limit_memory(memory)


if __name__ == "__main__":
    leaving = Leaving()
    contain(int(sys.argv[1]), int(sys.argv[2]))

    from hudi_services.cli import main
    from hudi_services.commandline.surroundings import Surroundings

    leaving.code = main(sys.argv[3:], surroundings=Surroundings(marked=True, spark=False))
    sys.exit(leaving.code)
