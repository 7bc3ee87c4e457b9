"""A storage that dies, or whose disk fills up, at a chosen call."""

from __future__ import annotations

import errno
import threading
from contextlib import contextmanager

from hoodie.storage import LocalStorage


class Killed(BaseException):
    """As kill -9: no handler of the library may catch it, and nothing works after it."""


class FaultyStorage:
    """Counts the storage calls and fails at number `fail_at`, before the call or in the middle of it.

    `kind` is "kill" (this and every later call raises Killed) or "full" (this call raises OSError, as a full disk does).
    """

    def __init__(self, base_path, fail_at=None, kind="kill", half=False):
        self._inner = LocalStorage(str(base_path))
        self._fail_at = fail_at
        self._kind = kind
        self._half = half
        self._lock = threading.Lock()
        self.calls = 0
        self.log = []

    @property
    def base_path(self):
        return self._inner.base_path

    def _step(self, name, path):
        """True when the call is to be done and then to fail."""
        with self._lock:
            self.calls += 1
            self.log.append((name, path))
            if self._fail_at is None or self.calls < self._fail_at:
                return False
            if self._kind == "full":
                if self.calls > self._fail_at:
                    return False
                raise OSError(errno.ENOSPC, "No space left on device", path)
            if self.calls == self._fail_at and self._half:
                return True
            raise Killed(f"call {self._fail_at}: {name} {path}")

    def _call(self, name, path, *rest):
        dies = self._step(name, path)
        result = getattr(self._inner, name)(path, *rest)
        if dies:
            raise Killed(f"after call {self._fail_at}: {name} {path}")
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

    def delete(self, path):
        return self._call("delete", path)

    def delete_folder(self, folder):
        return self._call("delete_folder", folder)

    @contextmanager
    def open_output(self, path):
        dies = self._step("open_output", path)
        with self._inner.open_output(path) as sink:
            yield sink
            if dies:
                sink.truncate(max(1, sink.tell() // 2))  # the torn file of a killed writer
                raise Killed(f"in call {self._fail_at}: open_output {path}")
        self._step("close_output", path)
