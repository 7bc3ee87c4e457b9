"""Two watchers of one store: only one sends an alert, in any order of their looks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hudi_services.entry.alerts import Alerts
from hudi_services.operations.alerts import rounds
from hudi_services.operations.alerts.conditions import Observation, Trouble
from hudi_services.operations.alerts.rounds import AlertSender
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import Registry
from tests.support.clock import FakeClock
from tests.support.hooks import happenings, serving


@pytest.fixture
def server():
    with serving() as made:
        yield made


def test_histories_read_at_different_times_do_not_end_each_others_troubles(tmp_path, server, monkeypatch):
    clock = FakeClock()
    begin = clock.now()

    def runs(_alerts, _registry, now):
        failed = Trouble("run", "orders", "clean", "failed", begin)
        return Observation((failed,) if now - begin >= timedelta(minutes=1) else (), frozenset())

    monkeypatch.setattr(rounds, "standing_runs", runs)
    alerts = Alerts.model_validate({"hooks": [{"name": "ops", "url": server.address}], "runs": True, "repeat": "7d"})
    registry = Registry("tables.yaml", alerts=alerts)
    store = SnapshotStore.open(str(tmp_path / "s.db"), make=True)
    first, second = AlertSender(store, clock, {}), AlertSender(store, clock, {})
    told = 0
    for number in range(60):  # half an hour; the second watcher began later
        told += first.tell(registry)
        told += second.tell(registry) if number > 4 else 0
        clock.sleep(30)
    assert (told, happenings(server)) == (1, ["began"])
    first.leave()
    assert [second.tell(registry), first.tell(registry)] == [0, 0]
    monkeypatch.setattr(rounds, "standing_runs", lambda *_: Observation((), frozenset()))
    clock.sleep(179)
    assert first.tell(registry) == 0, "the second one is late for a round"
    clock.sleep(1)
    assert first.tell(registry) == 1, "it is gone, and histories are read anew"
    assert happenings(server) == ["began", "ended"]
