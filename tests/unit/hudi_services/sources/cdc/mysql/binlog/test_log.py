"""The binlog of a real server, from places that are there, gone, and ahead."""

from __future__ import annotations

import pymysql
import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql import connection
from hudi_services.sources.cdc.mysql.binlog.log import end_of_log, events, log_status
from hudi_services.sources.cdc.mysql.position import LogPosition
from tests.support.binlog import SERVER_ID, connect, log_end, logged, rows_of

pytestmark = pytest.mark.process


def test_rows_go_on_over_the_end_of_a_file(server):
    server.run("CREATE DATABASE files", "CREATE TABLE files.t (id INT PRIMARY KEY)")
    start = log_end(server)
    for key in range(3):
        server.run(f"INSERT INTO files.t VALUES ({key})", "FLUSH BINARY LOGS")
    parts = logged(server, start)
    assert [row["id"] for row in rows_of(parts)] == [0, 1, 2]
    assert len({part.position.file for part in parts}) == 3
    assert [row["id"] for row in rows_of(logged(server, parts[0].position))] == [1, 2]


def test_places_that_the_server_does_not_have_are_errors(server):
    end = log_end(server)
    for start in (
        LogPosition("bin.999999", 4),
        LogPosition("other.000001", 4),
        LogPosition(end.file, end.offset + 1_000_000),
        LogPosition(end.file, 2**32),
    ):
        with connect(server) as opened, pytest.raises(SourceError):
            list(events(opened, SERVER_ID, start, wait=False))


def test_a_place_inside_an_event_is_an_error(server):
    server.run("CREATE DATABASE inside", "CREATE TABLE inside.t (id INT PRIMARY KEY)")
    end = log_end(server)
    with connect(server) as opened, pytest.raises(SourceError):
        list(events(opened, SERVER_ID, LogPosition(end.file, end.offset - 7), wait=False))


def test_the_begin_of_a_file_says_whether_its_events_have_checksums(server):
    server.run("CREATE OR REPLACE DATABASE checks", "CREATE TABLE checks.t (id INT PRIMARY KEY)")
    start = log_end(server)
    try:
        for key, checksum in enumerate(("NONE", "CRC32", "NONE")):
            server.run(f"SET GLOBAL binlog_checksum = {checksum}", f"INSERT INTO checks.t VALUES ({key})")
            assert [row["id"] for row in rows_of(logged(server, start))] == list(range(key + 1))
    finally:
        server.run("SET GLOBAL binlog_checksum = CRC32")
    assert [row["id"] for row in rows_of(logged(server, start))] == [0, 1, 2]


def test_files_are_in_the_order_of_their_numbers():
    places = [LogPosition("bin.999999", 900), LogPosition("bin.1000000", 4), LogPosition("bin.1000000", 10)]
    assert sorted([places[2], places[0], places[1]]) == places
    assert not places[0] >= places[1]


class Release:
    """A connection to a server of a release, which takes the statements that it knows."""

    def __init__(self, release, knows, monkeypatch):
        self.release, self.knows, self.asked = release, knows, []
        monkeypatch.setattr(connection, "rows_of", self.rows_of)

    def get_server_info(self):
        return self.release

    def rows_of(self, asked, statement):
        assert asked is self
        self.asked.append(statement)
        if statement not in self.knows:
            raise pymysql.err.ProgrammingError(1064, "You have an error in your SQL syntax")
        return (("bin.000007", 900),)


@pytest.mark.parametrize(
    ("release", "known"),
    [
        ("9.7.4-2", "SHOW BINARY LOG STATUS"),
        ("8.4.0", "SHOW BINARY LOG STATUS"),
        ("8.3.0", "SHOW MASTER STATUS"),
        ("8.0.36", "SHOW MASTER STATUS"),
        ("5.7.44-log", "SHOW MASTER STATUS"),
        ("5.5.5-10.11.19-MariaDB", "SHOW MASTER STATUS"),
        ("11.8.2-MariaDB-ubu2404", "SHOW MASTER STATUS"),
    ],
)
def test_the_end_of_the_log_is_asked_in_the_words_of_the_release(release, known, monkeypatch):
    server = Release(release, {known}, monkeypatch)
    assert end_of_log(server) == LogPosition("bin.000007", 900)
    assert server.asked == [known]


def test_a_proxy_may_have_another_release(monkeypatch):
    server = Release("8.0.11-proxy", {"SHOW BINARY LOG STATUS"}, monkeypatch)
    assert end_of_log(server) == LogPosition("bin.000007", 900)
    assert len(log_status(server)) == 2


def test_a_server_without_a_log_is_named(monkeypatch):
    with pytest.raises(SourceError, match="writes no binlog"):
        end_of_log(Release("9.7.4", set(), monkeypatch))
