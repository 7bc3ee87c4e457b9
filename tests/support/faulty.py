"""A storage that dies, whose disk fills up, or whose answer is lost, at a chosen call."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import contextmanager

from hoodie.storage import LocalStorage
from hoodie.timeline import rollbacks
from hoodie.view.committed_files import memory


class Killed(BaseException):
    """As kill -9: no handler of the library may catch it, and nothing works after it."""


class FaultyStorage:
    """Counts the storage calls and fails at number `fail_at`, before the call or in the middle of it.

    `kind` is "kill" (this and every later call raises Killed), "full" (this call raises OSError, as a full disk does), "denied"
    (PermissionError, as where a right is missing), "lost"
    (the call is done, but raises TimeoutError), "retried" (the same with FileExistsError, as from a client that has sent it
    twice), or "deaf" (done, and neither this call nor the next one is answered).
    """

    def __init__(self, base_path, fail_at=None, kind="kill", half=False):
        memory.clear()  # what an earlier run has read would not be among the calls of this one
        rollbacks.memory.clear()
        self._inner = LocalStorage(str(base_path))
        self.fail_at = fail_at
        self._kind = kind
        self._half = half
        self._lock = threading.Lock()
        self.calls = 0
        self.log = []

    @property
    def base_path(self):
        return self._inner.base_path

    def _step(self, name, path):
        """The error to raise when the call was done, if any; raises it at once when the call is not to be done."""
        with self._lock:
            self.calls += 1
            self.log.append((name, path))
            late = self.calls - self.fail_at if self.fail_at is not None else -1
            if (
                late < 0
                or (late > 0 and self._kind in ("full", "denied", "lost", "retried"))
                or (late > 1 and self._kind == "deaf")
            ):
                return None
            if self._kind == "full":
                raise OSError(errno.ENOSPC, "No space left on device", path)
            if self._kind == "denied":
                raise PermissionError(errno.EACCES, "Permission denied", path)
            if self._kind == "retried":
                return FileExistsError(errno.EEXIST, "File exists", path)
            if self._kind in ("lost", "deaf"):
                return TimeoutError(errno.ETIMEDOUT, "The answer was lost", path)
            if late == 0 and self._half:
                return Killed(f"in call {self.fail_at}: {name} {path}")
            raise Killed(f"call {self.fail_at}: {name} {path}")

    def _call(self, name, path, *rest):
        error = self._step(name, path if isinstance(path, str) else " ".join(path))
        result = getattr(self._inner, name)(path, *rest)
        if error is not None:
            raise error
        return result

    def list(self, folder):
        return self._call("list", folder)

    def info(self, path):
        return self._call("info", path)

    def read(self, path):
        return self._call("read", path)

    def open_input(self, path):
        return self._call("open_input", path)

    def create(self, path, data):
        return self._call("create", path, data)

    def replace(self, path, old, new):
        return self._call("replace", path, old, new)

    def touch(self, path):
        return self._call("touch", path)

    def delete(self, path):
        return self._call("delete", path)

    def move(self, path, to):
        if self._half and self.calls + 1 == self.fail_at:  # it is in both places
            os.makedirs(f"{self.base_path}/{to}".rpartition("/")[0], exist_ok=True)
            os.link(f"{self.base_path}/{path}", f"{self.base_path}/{to}")
            raise self._step("move", path)
        return self._call("move", path, to)

    def delete_folder(self, folder):
        return self._call("delete_folder", folder)

    def sweep(self, folders):
        return self._call("sweep", folders)

    @contextmanager
    def open_output(self, path):
        error = self._step("open_output", path)
        with self._inner.open_output(path) as sink:
            yield sink
            if isinstance(error, Killed):
                sink.truncate(max(1, sink.tell() // 2))  # the torn file of a killed writer
            if error is not None:
                raise error
        error = self._step("close_output", path)
        if error is not None:
            raise error
