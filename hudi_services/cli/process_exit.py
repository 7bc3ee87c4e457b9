"""The end of a process of ours: its threads are not taken down with the interpreter."""

from __future__ import annotations

import atexit
import os
import sys


class Leaving:
    """Ends the process after everything else that happens at its exit, with `code`.

    Threads of Arrow may still hold Python objects then. One that asks for the interpreter while this is taken apart is ended in
    the middle of C++ code: the process aborts ("terminate called without an active exception") or hangs, its work long done.
    """

    def __init__(self) -> None:
        """Make it first: what is registered first runs last."""
        self.code = 1  # the exit code after an unexpected error
        atexit.register(self._leave)

    def _leave(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # a pipe that has no reader any more
                self.code = self.code or 1
        os._exit(self.code)
