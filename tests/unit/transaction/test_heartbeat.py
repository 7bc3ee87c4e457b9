"""A heartbeat says that a writer is alive, until it has the age of a dead one's."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from hoodie.errors import PendingInstantError
from hoodie.storage import LocalStorage
from hoodie.timeline import Action
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.heartbeat import FOLDER, Heartbeat, Heartbeats, living_writers, refuse_living
from tests.support.made_states import pending, state_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHARING = ConcurrencyOptions(optimistic=True, interval_ms=1000, misses=2)
ALONE = ConcurrencyOptions(interval_ms=1000, misses=2)


class Stopped:
    """A clock that does not move."""

    def now(self):
        return NOW


@pytest.fixture
def beat(tmp_path):
    """Give the table heartbeats by their age in ms."""
    (tmp_path / FOLDER).mkdir(parents=True)

    def make(**ages):
        for name, age_ms in ages.items():
            path = tmp_path / FOLDER / name.lstrip("_")
            path.touch()
            modified_ns = (int(NOW.timestamp()) * 1000 - age_ms) * 1_000_000
            os.utime(path, ns=(modified_ns, modified_ns))

    return make


def state(folder, *instants):
    return state_of("9", {}, instants, LocalStorage(str(folder)))


def names(folder):
    return sorted(path.name for path in (folder / FOLDER).iterdir())


def test_a_heartbeat_of_the_age_of_expiry_is_a_dead_writers(tmp_path, beat):
    beat(_1=1999, _2=2000, _3=2001, not_an_instant=0)
    beats = Heartbeats.of(LocalStorage(str(tmp_path)), Stopped(), SHARING.expiry_ms)
    assert beats.ages == {"1": 1999, "2": 2000, "3": 2001}
    assert [time for time in ("1", "2", "3", "4") if beats.alive(time)] == ["1"], "4 has none"


def test_the_living_are_pending_writes_whose_heartbeats_are_young(tmp_path, beat):
    beat(_10=0, _20=5000, _30=0, _40=5000, _50=0)
    found = state(tmp_path, pending("10"), pending("20"), pending("30", Action.CLEAN), pending("60"))
    assert living_writers(found, Stopped(), SHARING) == {"10"}
    assert names(tmp_path) == ["10", "20", "30", "50"], "a dead one's that has nothing pending goes"


def test_whoever_shares_the_table_with_nobody_is_refused_beside_a_living_writer(tmp_path, beat):
    beat(_10=1500, _20=5000)
    with pytest.raises(PendingInstantError, match=r"instant 10 .*its heartbeat is 2 s old.*after 2 s"):
        living_writers(state(tmp_path, pending("10"), pending("20")), Stopped(), ALONE)
    assert living_writers(state(tmp_path, pending("20")), Stopped(), ALONE) == set()


def test_an_instant_is_not_taken_back_while_its_writer_is_at_work(tmp_path, beat):
    beat(_10=0, _20=5000)
    found = state(tmp_path, pending("10"), pending("20"))
    with pytest.raises(PendingInstantError, match=r"Instant 10 .* its writer is at work"):
        refuse_living(found, Stopped(), SHARING, "10")
    refuse_living(found, Stopped(), SHARING, "20")
    refuse_living(state(tmp_path), Stopped(), SHARING, "10")


def test_a_writer_whose_heartbeat_was_not_renewed_in_time_has_expired(tmp_path):
    now = 100.0
    slow = ConcurrencyOptions(optimistic=True, interval_ms=60_000, misses=2)
    heartbeat = Heartbeat(LocalStorage(str(tmp_path)), "10", slow, lambda: now)
    heartbeat.start()
    assert names(tmp_path) == ["10"]
    now += 119.9
    assert not heartbeat.expired
    now += 0.1
    assert heartbeat.expired
    heartbeat.stop()
    assert names(tmp_path) == ["10"]
    heartbeat.end()
    assert names(tmp_path) == []
