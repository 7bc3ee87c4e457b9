"""Connections that work side by side."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pymysql
import pytest

from hoodie.errors import SourceUnavailableError
from hudi_services.cdc.mysql.sessions import Session, Sessions


class Connections:
    """Numbers in place of connections. `open` are those that were not closed."""

    def __init__(self):
        self.made, self.open = 0, set()

    @contextmanager
    def __call__(self):
        self.made += 1
        number = self.made
        self.open.add(number)
        try:
            yield number
        finally:
            self.open.remove(number)


def test_work_begins_again_on_a_new_connection_and_not_for_ever():
    connections, pauses = Connections(), []
    session = Session(connections, pauses.append)
    assert [session.run(lambda connection: connection) for _ in range(2)] == [1, 1]

    def broken(connection):
        if connection < 4:
            raise pymysql.err.OperationalError(2013, "Lost connection")
        return connection

    assert session.run(broken) == 4
    assert pauses == [0.5, 1.0, 2.0]
    with pytest.raises(SourceUnavailableError, match="did not answer in 4 attempts"):
        session.run(lambda connection: broken(0))
    assert connections.open == set()


def test_a_failure_of_the_work_itself_is_not_repeated():
    connections = Connections()
    session = Session(connections)
    with pytest.raises(ZeroDivisionError):
        session.run(lambda connection: 1 // 0)
    assert (connections.made, connections.open) == (1, set())


def test_results_come_in_order_from_as_many_sessions_as_were_asked_for():
    connections, running, most = Connections(), [], []
    lock = threading.Lock()

    def work(connection, item):
        with lock:
            running.append(item)
            most.append(len(running))
        time.sleep(0.001 * (item % 3))
        running.remove(item)
        return item

    taken = []
    items = (taken.append(item) or item for item in range(30))
    results = Sessions(connections, 3).results(work, items)
    assert next(results) == 0
    assert len(taken) == 7
    assert list(results) == list(range(1, 30))
    assert (max(most), connections.made, connections.open) == (3, 3, set())


def test_an_error_ends_the_results_and_closes_all_connections():
    connections = Connections()

    def work(connection, item):
        if item == 5:
            raise ValueError("five")
        return item

    results = Sessions(connections, 2).results(work, iter(range(100)))
    with pytest.raises(ValueError, match="five"):
        list(results)
    assert connections.open == set()
    abandoned = Sessions(connections, 2).results(work, iter(range(3)))
    next(abandoned)
    abandoned.close()
    assert connections.open == set()
