"""Connections that are opened when they are needed."""

from __future__ import annotations

import pymysql
import pytest

from hoodie.errors import SourceUnavailableError
from hudi_services.sources.cdc.mysql.sessions import Session
from tests.support.connections import Connections


def test_work_begins_again_on_a_new_connection_and_not_for_ever():
    connections, pauses = Connections(), []
    session = Session(connections, pauses.append)
    assert [session.run(lambda connection: connection.number) for _ in range(2)] == [1, 1]

    def broken(connection):
        if connection.number < 4:
            raise pymysql.err.OperationalError(2013, "Lost connection")
        return connection.number

    assert session.run(broken) == 4
    assert pauses == [0.5, 1.0, 2.0]

    def always_broken(connection):
        raise pymysql.err.OperationalError(2013, "Lost connection")

    with pytest.raises(SourceUnavailableError, match="did not answer in 4 attempts"):
        session.run(always_broken)
    assert connections.open == set()


def test_a_failure_of_the_work_itself_is_not_repeated():
    connections = Connections()
    session = Session(connections)
    with pytest.raises(ZeroDivisionError):
        session.run(lambda connection: 1 // 0)
    assert (connections.made, connections.open) == (1, set())


def test_a_connection_that_ended_while_it_was_idle_is_replaced():
    connections = Connections()
    session = Session(connections)
    assert [session.answering().number, session.answering().number] == [1, 1]
    session.opened().is_ended = True
    assert session.opened().number == 1
    assert session.answering().number == 2
    assert connections.open == {2}
