"""Times in a metastore's answers; the rest is tested with a real one (tests/interop/test_hive_lock.py)."""

from __future__ import annotations

import re

import pytest
from thrift.Thrift import TApplicationException
from thrift.transport.TTransport import TTransportException

from hoodie.clock import SystemClock
from hoodie.errors import ConfigError, StorageError
from hoodie.transaction.locks import hive
from hoodie.transaction.locks.hive import seconds_of


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("300s", 300),
        ("300", 300),
        (" 5 min ", 300),
        ("5MINUTES", 300),
        ("5m", 300),
        ("300000ms", 300),
        ("2h", 7200),
        ("1day", 86400),
        ("1 days", 86400),
        ("90sec", 90),
        ("", None),
        ("s", None),
        ("-3s", None),
        ("3 fortnights", None),
        ("?", None),
    ],
)
def test_times_of_hive(said, seconds):
    assert seconds_of(said) == seconds


class Answering:
    """A metastore that does not answer the first calls, and then does, or says that it has failed."""

    def __init__(self, monkeypatch, silent, failing=False):
        self.calls, self.pauses, self._silent, self._failing = 0, [], silent, failing
        monkeypatch.setattr(hive.Connection, "open", lambda *_: hive.Connection(self, self, "there"))
        monkeypatch.setattr(hive.time, "sleep", self.pauses.append)

    def close(self):
        pass

    def show_locks(self, _request):
        self.calls += 1
        if self.calls <= self._silent:
            raise TTransportException(message="gone")
        if self._failing:
            raise TApplicationException(message="Internal error processing show_locks")
        return hive.hive.ShowLocksResponse(locks=[])


LOCK = hive.HiveLock(hive.NamedTable("thrift://there:1", "db", "t", 60_000), "/lake/t")


def test_a_metastore_that_is_restarted_is_asked_again(monkeypatch):
    metastore = Answering(monkeypatch, silent=3)
    assert LOCK.find(SystemClock()) is None
    assert metastore.calls == 4
    assert sum(metastore.pauses) > 3, "seconds"
    metastore = Answering(monkeypatch, silent=4)
    with pytest.raises(StorageError, match="does not answer"):
        LOCK.find(SystemClock())


def test_a_metastore_that_fails_has_answered(monkeypatch):
    metastore = Answering(monkeypatch, silent=0, failing=True)
    with pytest.raises(StorageError, match=r"fails at thrift://there:1.*Internal error"):
        LOCK.find(SystemClock())
    assert metastore.calls == 1


@pytest.mark.parametrize(("database", "name"), [("d" * 129, "t"), ("d", "t" * 257), ("", "t"), ("d", "")])
def test_names_that_a_metastore_has_no_room_for(database, name):
    with pytest.raises(ConfigError, match=r"hoodie\.write\.lock\.hivemetastore"):
        hive.NamedTable("thrift://there:1", database, name, 60_000)


@pytest.mark.parametrize("name", ["x" * 129, "trips.2024", "tri ps", "tripß"])
def test_a_name_that_it_refuses_is_a_mistake_of_the_options(monkeypatch, name):
    metastore = Answering(monkeypatch, silent=0, failing=True)
    lock = hive.HiveLock(hive.NamedTable("thrift://there:1", "db", name, 60_000), "/lake/t")
    with pytest.raises(ConfigError, match=rf"hivemetastore\.table is '{re.escape(name)}'") as told:
        lock.find(SystemClock())
    assert "hivemetastore.database is" not in str(told.value)
    assert metastore.pauses == []
    Answering(monkeypatch, silent=0)
    assert lock.find(SystemClock()) is None, "one that it takes"
