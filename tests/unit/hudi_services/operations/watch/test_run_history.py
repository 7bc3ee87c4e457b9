"""The last runs of services that the watcher keeps: those of the whole history, in any order of its records."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_services.entry.table import History
from hudi_services.operations.advice.estimate import Sample
from hudi_services.operations.history.record import Asker, Record, Spent, Started
from hudi_services.operations.watch.gains import follow_gains
from hudi_services.operations.watch.run_history import EndedRun, RecentRuns, recent_runs
from hudi_services.operations.watch.store import SnapshotStore
from tests.support.examples import examples
from tests.unit.hudi_services.operations.watch.test_gains import NOW, write


def text(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat(timespec="microseconds")


def record(run: str, days: float, outcome: str = "done", service: str = "clean", **more) -> Record:
    """A run that began `days` ago and took 2.5 seconds."""
    asker = Asker(dag_run_id=more.pop("dag_run", None))
    started = Started(run, more.pop("table", "orders"), "/lake", service, "local", text(days), "host", None, asker)
    return Record(started, outcome, text(days - 0.01), spent=Spent(2.5), **more)


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore.open(str(tmp_path / "store.db"), make=True)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(path=str(tmp_path / "history"))


def test_the_last_run_and_those_that_did_work(store, history):
    assert recent_runs(store, [history], NOW) == {}, "no watcher has looked"
    write(
        history,
        record("1", 5, bytes_freed=70),
        record("2", 4, bytes_freed=80),
        record("3", 3, "failed", error="TornFileError", message="it is torn", dag_run="r3"),
        record("4", 3, service="archive"),
        record("5", 1, table="trips", bytes_freed=9),
    )
    follow_gains(store, history, NOW)
    found = recent_runs(store, [history], NOW)
    assert found["orders"]["clean"] == RecentRuns(
        EndedRun("failed", text(3), text(2.99), "TornFileError", "it is torn", "r3"),
        (Sample(text(4), 80, 2.5), Sample(text(5), 70, 2.5)),
    )
    assert found["orders"]["archive"].samples == (Sample(text(3), None, 2.5),)
    assert set(recent_runs(store, [history], NOW, "trips")) == {"trips"}
    assert recent_runs(store, [], NOW) == {}, "the registry says which histories count"


def test_a_later_run_without_work_ends_a_failure(store, history):
    write(history, record("1", 3, bytes_freed=5), record("2", 2, "failed"))
    follow_gains(store, history, NOW)
    assert not recent_runs(store, [history], NOW)["orders"]["clean"].last.is_success
    write(history, record("3", 1, "nothing to do"))
    follow_gains(store, history, NOW)
    clean = recent_runs(store, [history], NOW)["orders"]["clean"]
    assert clean.last.is_success
    assert [each.bytes for each in clean.samples] == [5]


def test_a_run_that_is_recorded_again_counts_once(store, history):
    write(history, record("1", 1, "killed"))
    follow_gains(store, history, NOW)
    write(history, record("1", 1, bytes_freed=5))
    follow_gains(store, history, NOW)
    clean = recent_runs(store, [history], NOW)["orders"]["clean"]
    assert (clean.last.outcome, len(clean.samples)) == ("done", 1)


def test_runs_of_long_ago_count_no_more(store, history):
    write(history, record("1", 40, "failed"), record("2", 29, service="compact", bytes_read=7))
    follow_gains(store, history, NOW)
    assert set(recent_runs(store, [history], NOW)["orders"]) == {"compact"}
    later = recent_runs(store, [history], NOW + timedelta(days=2))
    assert later["orders"]["compact"] == RecentRuns()


@settings(max_examples=examples(12), deadline=None)
@given(st.integers(0, 2**20))
def test_in_any_order_it_is_that_of_the_whole_history(tmp_path_factory, seed):
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("recent")
    history = History(path=str(folder / "history"))
    outcomes = ("done", "done", "nothing to do", "failed")
    records = [
        record(str(at), draw.uniform(0, 35), draw.choice(outcomes), draw.choice(("clean", "archive")), bytes_freed=at)
        for at in range(draw.randint(1, 30))
    ]
    with SnapshotStore.open(str(folder / "steps.db"), make=True) as steps:
        left = list(records)
        while left:
            count = draw.randint(1, 10)
            write(history, *left[:count])
            left = left[count:]
            if draw.random() < 0.6:
                follow_gains(steps, history, NOW)
        follow_gains(steps, history, NOW)
        with SnapshotStore.open(str(folder / "whole.db"), make=True) as whole:
            follow_gains(whole, history, NOW)
            assert recent_runs(steps, [history], NOW) == recent_runs(whole, [history], NOW)
