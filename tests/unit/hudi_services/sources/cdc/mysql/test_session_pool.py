"""Sessions that tables share."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from hudi_services.sources.cdc.mysql.session_pool import SessionPool
from tests.support.connections import Connections


def test_results_come_in_order_from_as_many_sessions_as_there_are():
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
    with closing(SessionPool(connections, 3)) as pool:
        results = pool.results("t", work, items)
        assert next(results) == 0
        assert len(taken) == 7
        assert list(results) == list(range(1, 30))
        taken.clear()
        fewer = pool.results("t", work, (taken.append(item) or item for item in range(30)), ahead_of_each=1)
        assert next(fewer) == 0
        assert len(taken) == 4
        fewer.close()
    assert (max(most), connections.made, connections.open) == (3, 3, set())


def test_tables_that_are_read_in_chunks_share_what_is_in_memory():
    taken = {name: [] for name in "ab"}

    def items(name):
        for item in range(20):
            taken[name].append(item)
            yield item

    with closing(SessionPool(Connections(), 4)) as pool:
        first, second = (pool.results(name, lambda connection, item: item, items(name)) for name in "ab")
        assert next(first) == next(second) == 0
        assert (len(taken["a"]), len(taken["b"])) == (9, 5)
        assert next(first) == 1
        assert len(taken["a"]) == 9  # the second table has its half
        assert list(first) == list(range(2, 20))
        assert next(second) == 1
        assert len(taken["b"]) == 10
        second.close()


def test_an_error_ends_the_results_and_leaves_the_sessions_to_others():
    connections = Connections()

    def work(connection, item):
        if item == 5:
            raise ValueError("five")
        return item

    with closing(SessionPool(connections, 2)) as pool:
        with pytest.raises(ValueError, match="five"):
            list(pool.results("t", work, iter(range(100))))
        abandoned = pool.results("t", work, iter(range(3)))
        next(abandoned)
        abandoned.close()
        assert list(pool.results("t", work, iter(range(3)))) == [0, 1, 2]
        assert connections.most <= 2
    assert connections.open == set()


def test_the_table_with_the_fewest_sessions_gets_the_next_one():
    order, pool = [], SessionPool(Connections(), 2)

    def use(table, first):
        with pool.session(table, first=first):
            order.append(f"{table}, first" if first else table)

    def waiting(table, *, first=False):
        before = len(pool._waiting)
        thread = threading.Thread(target=use, args=(table, first))
        thread.start()
        while len(pool._waiting) == before:
            time.sleep(0.001)
        return thread

    with closing(pool), pool.session("large"):
        with pool.session("large"):
            threads = [
                waiting("large"),
                waiting("small"),
                waiting("other"),
                waiting("large", first=True),
            ]
        for thread in threads:
            thread.join(10)
    assert order == ["large, first", "small", "other", "large"]


def test_whole_tables_and_chunks_of_many_tables_end():
    """Nothing waits for ever, no session serves two at once, and there are never more of them."""
    connections, draw, using = Connections(), random.Random(7), set()

    def exclusive(connection):
        assert connection.number not in using
        using.add(connection.number)
        time.sleep(0.0002)
        using.remove(connection.number)
        return connection.number

    def table(name):
        if draw.random() < 0.5:
            with pool.session(name) as session:
                exclusive(session.answering())
            return 1
        steps = (pool.run(name, exclusive) for _ in range(draw.randrange(12)))
        return len(list(pool.results(name, lambda connection, item: exclusive(connection), steps)))

    with closing(SessionPool(connections, 3)) as pool, ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(table, map(str, range(60)), timeout=30)) > 60
    assert (connections.most, connections.open) == (3, set())
