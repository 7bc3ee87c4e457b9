"""The place of a snapshot in the log: MySQL logs a transaction before others see its rows."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceUnavailableError
from hudi_services.sources.cdc.mysql import snapshot_place
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.snapshot_place import SnapshotPlace, begin_placed_snapshot, committing

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


class Server:
    """MySQL as far as its log goes: each question is answered by the next of `ends` and `owned`, the last one for ever."""

    def __init__(self, ends, owned=("",), mode="ON"):
        self.ends, self.owned, self.mode = list(ends), list(owned), mode
        self.asked = []

    def rows_of(self, connection, statement, values=()):
        assert connection is self
        self.asked.append(statement.split()[0])
        if statement.startswith("SHOW STATUS"):
            return ()
        if "gtid_owned" in statement:
            return ((self.mode, self.owned.pop(0) if len(self.owned) > 1 else self.owned[0]),)
        return ()

    def end_of_log(self, connection):
        end = self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]
        self.asked.append(f"end {end}")
        return LogPosition("bin.000007", end)


@pytest.fixture
def server(monkeypatch):
    def of(*given, **more):
        server = Server(*given, **more)
        monkeypatch.setattr(snapshot_place, "rows_of", server.rows_of)
        monkeypatch.setattr(snapshot_place, "end_of_log", server.end_of_log)
        monkeypatch.setattr(snapshot_place.time, "sleep", lambda seconds: None)
        return server

    return of


def place(offset, *, exact):
    return SnapshotPlace(LogPosition("bin.000007", offset), exact)


def test_a_moment_without_commits_has_an_exact_place(server):
    assert begin_placed_snapshot(server([100])) == place(100, exact=True)
    assert begin_placed_snapshot(server([100, 200, 200])) == place(200, exact=True)


def test_what_is_in_the_log_and_not_committed_is_waited_for(server):
    """A snapshot that began at once would lack the rows of the two, and the log would be read after them."""
    busy = server([100], owned=[f"{A}:8#21:9#22", f"{A}:9#22:10#4", ""])
    assert begin_placed_snapshot(busy) == place(100, exact=True)
    assert [asked for asked in busy.asked if asked in ("START", "SELECT")] == ["START", *["SELECT"] * 3, "START"]


def test_transactions_that_come_later_are_not_waited_for(server):
    """The log is read from before them."""
    owned = [f"{A}:{number}#1" for number in range(1, 99)]
    assert not begin_placed_snapshot(server(range(100, 900), owned=owned)).is_exact
    [low] = {begin_placed_snapshot(server(range(100, 900), owned=owned), tries=1).position.offset}
    assert low == 100


def test_a_commit_that_never_ends_is_named(server, monkeypatch):
    monkeypatch.setattr(snapshot_place, "_PATIENCE", 0)
    with pytest.raises(SourceUnavailableError, match="semi-synchronous") as raised:
        begin_placed_snapshot(server([100], owned=[f"{A}:8#21"]))
    assert f"{A}:8" in str(raised.value)


def test_without_gtids_the_begin_of_the_last_file_is_sure(server):
    assert begin_placed_snapshot(server([1000], mode="OFF_PERMISSIVE")) == place(4, exact=False)


def test_numbers_of_several_servers_are_read(server):
    asked = server([1], owned=[f"{A}:3#21:4#22,\n{A[:-1]}3:7#23"])
    assert committing(asked) == {f"{A}:3#21", f"{A}:4#22", f"{A[:-1]}3:7#23"}


def test_numbers_with_tags_are_read(server):
    asked = server([1], owned=[f"{A}:3#21:backup:4#22:5#23,\n{A[:-1]}3:tag:7#23"])
    assert committing(asked) == {f"{A}:3#21", f"{A}:backup:4#22", f"{A}:backup:5#23", f"{A[:-1]}3:tag:7#23"}
