"""Two writers of one table whose steps a test orders."""

from __future__ import annotations

import threading
import time

from hoodie import HoodieTable
from hoodie.clock import SystemClock
from hoodie.engine import LocalEngine
from hoodie.storage import LocalStorage
from tests.support.tables import SMALL_BLOOM

OCC = {**SMALL_BLOOM, "hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
WAIT_SECONDS = 120  # another process may start a Spark of Hudi in that time
_LOCK = ".hoodie/lock"


class QuickClock(SystemClock):
    """The machine's time; a writer that waits for a lock looks again at once."""

    def sleep(self, seconds):
        super().sleep(min(seconds, 0.005))

    @staticmethod
    def pause(seconds):
        time.sleep(seconds)


def shared(path, storage=None):
    """The table at `path` as a writer of its own sees it."""
    return HoodieTable.open(storage or LocalStorage(str(path)), clock=QuickClock(), engine=LocalEngine(2))


class Held(LocalStorage):
    """A storage that stops an optimistic write until it may go on: once it has begun, which is when it gives its lock back, or
    once all its files are `written`, before it takes the lock again."""

    def __init__(self, base_path, *, written=False):
        super().__init__(str(base_path))
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._written = written
        self._begun = False

    def create(self, path, data):
        if path == _LOCK and self._begun and self._written:
            self._hold()
        super().create(path, data)

    def delete(self, path):
        deleted = super().delete(path)
        if path == _LOCK:
            self._begun = True
            if not self._written:
                self._hold()
        return deleted

    def _hold(self):
        if not self.reached.is_set():
            self.reached.set()
            assert self.go_on.wait(WAIT_SECONDS), "nobody lets this writer go on"


class Rival:
    """A change of the table in a thread of its own, which stops once it has begun, or has `written` its files."""

    def __init__(self, path, change, *, written=False):
        self.storage = Held(path, written=written)
        self.error = None
        self._change = change
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._table = shared(path, self.storage)

    def _run(self):
        try:
            self._change(self._table)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.error = error
        finally:
            self.storage.reached.set()

    def begin(self):
        self._thread.start()
        assert self.storage.reached.wait(WAIT_SECONDS)
        return self

    def finish(self):
        """The error of the change, None when it was completed."""
        self.storage.go_on.set()
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive()
        return self.error
