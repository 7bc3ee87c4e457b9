"""Threads that stay: order, errors, interrupts, and work inside of work."""

from __future__ import annotations

import os
import threading
import time

import pytest

from hoodie.engine import threads
from hoodie.engine.threads import map_on_threads


def meet(number):
    """Ends when the calls of all items have begun."""
    BARRIER.wait(10)
    return number, threading.get_ident()


BARRIER = threading.Barrier(3)


def test_items_run_at_once_and_results_keep_their_order():
    results = map_on_threads(meet, range(3), 3)
    assert [number for number, _ in results] == [0, 1, 2]
    assert len({thread for _, thread in results}) == 3


def test_never_more_at_once_than_allowed():
    running, most, lock = [], [], threading.Lock()

    def work(number):
        with lock:
            running.append(number)
            most.append(len(running))
        time.sleep(0.002)
        with lock:
            running.remove(number)

    map_on_threads(work, range(20), 2)
    assert max(most) == 2


def test_threads_stay():
    map_on_threads(meet, range(3), 3)
    before = threading.active_count()
    for _ in range(5):
        map_on_threads(meet, range(3), 3)
    assert threading.active_count() == before


def test_the_error_of_the_first_item_is_raised_when_no_other_runs():
    ended = []

    def work(number):
        BARRIER.wait(10)
        if number == 2:
            raise ValueError("2")
        time.sleep(0.02)
        ended.append(number)
        if number == 1:
            raise ValueError("1")

    with pytest.raises(ValueError, match="1"):
        map_on_threads(work, range(3), 3)
    assert sorted(ended) == [0, 1]


def test_after_an_error_no_item_begins():
    begun = []

    def work(number):
        begun.append(number)
        raise ValueError(number)

    with pytest.raises(ValueError, match="0"):
        map_on_threads(work, range(1000), 2)
    assert len(begun) <= 2


def test_an_interrupt_waits_for_what_runs_and_comes_before_other_errors():
    caller, pair, ended = threading.get_ident(), threading.Barrier(2), []

    def work(number):
        pair.wait(10)
        if threading.get_ident() == caller:
            raise KeyboardInterrupt
        time.sleep(0.02)
        ended.append(number)
        raise ValueError(number)

    with pytest.raises(KeyboardInterrupt):
        map_on_threads(work, range(2), 2)
    assert len(ended) == 1


def test_work_inside_of_work_ends_also_when_all_threads_are_busy(monkeypatch):
    few = threads.ThreadPoolExecutor(1)
    monkeypatch.setattr(threads, "_threads", lambda: few)
    with few:
        results = map_on_threads(lambda outer: map_on_threads(lambda inner: (outer, inner), range(3), 3), range(3), 3)
    assert results == [[(outer, inner) for inner in range(3)] for outer in range(3)]


def test_a_fork_has_threads_of_its_own():
    map_on_threads(meet, range(3), 3)
    child = os.fork()
    if child == 0:
        BARRIER.reset()
        os._exit(0 if len(map_on_threads(meet, range(3), 3)) == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
