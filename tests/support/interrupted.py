"""Another process that does its work right before a storage call of a chosen number."""

from __future__ import annotations

from hoodie.index import new_keys
from hoodie.transaction import guard
from hoodie.view import committed_files as written_files
from hoodie.view import files
from tests.support.faulty import FaultyStorage


class Interrupted(FaultyStorage):
    """Lets another process do its work right before the storage call of a number."""

    def __init__(self, path, number, work):
        super().__init__(path)
        self._number, self._work = number, work

    def _step(self, name, path):
        super()._step(name, path)
        if self.calls == self._number:
            self._work()


class InTurn:
    """A thread pool without threads. In Python 3.11 a `cached_property` that waits for threads holds back all of its kind."""

    def __init__(self, _workers):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def map(function, *items):
        return list(map(function, *items))


def without_helper_threads(monkeypatch):
    """Helper threads of listings would wait for the thread in which the other process runs."""
    monkeypatch.setattr(new_keys, "ThreadPoolExecutor", InTurn)
    for module in (files, written_files, guard):
        monkeypatch.setattr(module, "map_on_threads", lambda function, items, _at_once: list(map(function, items)))
