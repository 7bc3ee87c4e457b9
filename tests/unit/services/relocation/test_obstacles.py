"""Signs of life of writers and services, and what readers keep."""

from __future__ import annotations

import os

import pytest

from hoodie.clock import SystemClock
from hoodie.config.key import resolve
from hoodie.config.keys.concurrency import SHARING_KEYS
from hoodie.errors import PendingInstantError
from hoodie.services.obstacle import Obstacle, refuse
from hoodie.services.relocation.obstacles import at_work, inside, pending, readers
from hoodie.storage import LocalStorage
from hoodie.transaction.concurrency_options import ConcurrencyOptions
from hoodie.transaction.locks import service_lock
from tests.support.locks import NO_WAIT
from tests.support.tables import batch, create

SHARING = ConcurrencyOptions.of(resolve({}, SHARING_KEYS))


def test_writers_and_services_at_work(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    storage, clock = LocalStorage(str(tmp_path / "t")), SystemClock()
    assert not list(at_work(table.state(), clock, SHARING))
    folder = tmp_path / "t" / table.state().layout.folder
    (folder / "20990101000000000.commit.requested").touch()
    (tmp_path / "t" / ".hoodie" / ".heartbeat").mkdir()
    (tmp_path / "t" / ".hoodie" / ".heartbeat" / "20990101000000000").touch()
    with service_lock(storage, clock, "p-7", NO_WAIT):
        assert [each.kind for each in at_work(table.state(), clock, SHARING)] == ["locks", "writers"]
    assert [each.kind for each in pending(table.state())] == ["pending"]


def test_readers_and_what_lies_inside(tmp_path):
    table = create(tmp_path / "t")
    table.write(batch([("a", "p", 1, 1)]))
    assert not [*readers(table.state()), *inside(table.storage)]
    table.consumer("c").reset("latest")
    table.savepoint()
    (tmp_path / "other").mkdir()
    os.symlink(tmp_path / "other", tmp_path / "t" / "part=p" / "link")
    create(tmp_path / "t" / "below" / "more")
    for name in ("hoodie.properties.backup", "moving.properties", "copied_from.json"):
        inner = tmp_path / "t" / name / ".hoodie"
        inner.mkdir(parents=True)
        (inner / name).touch()
    found = [*readers(table.state()), *inside(table.storage)]
    assert [each.kind for each in found] == ["consumers", "savepoints", "links", "tables"]
    refuse("A drop", found, [each.kind for each in found])
    with pytest.raises(PendingInstantError, match=r"2 obstacles.*link lead elsewhere.*below/more, .*backup, .*"):
        refuse("A drop", found, ("consumers", "savepoints"))


def test_an_obstacle_says_what_removes_it():
    assert str(Obstacle("links", "x leads elsewhere", "remove it")) == "links: x leads elsewhere. To do: remove it"
