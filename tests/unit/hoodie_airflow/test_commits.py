"""Each commit is one event of Airflow's, whenever a triggerer ends: Airflow's own streams, without its scheduler."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from airflow.sdk import DAG, Asset
from airflow.sdk.execution_time.context import AssetStateStoreAccessor
from airflow.serialization.encoders import encode_trigger
from airflow.serialization.serialized_objects import DagSerialization
from airflow.triggers.base import TriggerEvent
from airflow.triggers.shared_stream import AckTimeout, SharedStreamManager

from hoodie import HoodieTable
from hoodie.errors import ConfigError
from hoodie_airflow import watcher_rounds as looking
from hoodie_airflow.commit_stream import NotStoredError
from hoodie_airflow.commits import CommitsTrigger, commits_asset
from tests.support.tables import SMALL_BLOOM, batch, create

NAME = "hudi.orders.commits"


class Airflow:
    """The state that outlasts a triggerer: the events that were stored, and the state of the asset."""

    def __init__(self, registry: Path) -> None:
        self.registry = registry
        self.events: list[dict] = []
        self.state: dict[str, dict] = {}

    def instants(self) -> list[str]:
        return [each["instant"] for each in self.events]


class Triggerer:
    """Does what Airflow's runner of triggers does with one that shares a stream (`TriggerRunner.run_trigger`)."""

    def __init__(self, airflow: Airflow, stores: bool = True) -> None:
        self.airflow = airflow
        self.stores = stores
        self.manager = SharedStreamManager(ack_timeout=60 if stores else 0.2)
        self.left = 10**9
        self.failure: Exception | None = None

    async def run(self) -> None:
        trigger = CommitsTrigger(**CommitsTrigger("orders").serialize()[1])
        key = trigger.shared_stream_key()
        stream = trigger.filter_shared_stream(self.manager.subscribe(trigger_id=1, trigger=trigger, key=key))
        try:
            async for event in stream:
                assert isinstance(event, TriggerEvent)
                await asyncio.sleep(0)  # where the runner writes its log
                self._step()
                number = self.manager.bind_pending_event(trigger_id=1, key=key)
                self._step()
                asyncio.get_running_loop().call_later(0.001, self._store, event, number)
        except (NotStoredError, AckTimeout) as error:
            self.failure = error
        finally:
            await self.manager.unsubscribe(1, key)

    def _store(self, event: TriggerEvent, number: int | None) -> None:
        if self.stores:
            self.airflow.events.append(json.loads(json.dumps(event.payload)))
            if number is not None:
                self.manager.confirm_persisted([number])

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise asyncio.CancelledError


@pytest.fixture
def airflow(tmp_path, monkeypatch):
    file = tmp_path / "tables.yaml"
    lines = ["watch: {every: 1}", "tables:", f"  - {{name: orders, base_path: {tmp_path}/orders}}"]
    file.write_text("\n".join(lines))
    monkeypatch.setenv("HUDI_REGISTRY", str(file))
    lasting = Airflow(file)

    async def aget(self, key, default=None):
        assert self._name == NAME
        return lasting.state.get(key, default)

    async def aset(self, key, value):
        lasting.state[key] = json.loads(json.dumps(value))

    monkeypatch.setattr(AssetStateStoreAccessor, "aget", aget)
    monkeypatch.setattr(AssetStateStoreAccessor, "aset", aset)
    monkeypatch.setattr(looking, "_pause", lambda seconds: asyncio.sleep(0.01))
    return lasting


@pytest.fixture
def table(tmp_path):
    return create(tmp_path / "orders")


def write(table, ts=1):
    return str(HoodieTable.open(table.base_path).write(batch([("a", "p", ts, ts)]), "upsert", SMALL_BLOOM).instant.time)


async def during(triggerer, until, seconds=10.0):
    """Run it until something is so, or it ended by itself; then end it as Airflow does."""
    task = asyncio.create_task(triggerer.run())
    for _ in range(int(seconds / 0.01)):
        if until() or task.done():
            break
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await triggerer.manager.stop_all()


def run(triggerer, until, seconds=10.0):
    asyncio.run(during(triggerer, until, seconds))


def begun(airflow):
    run(Triggerer(airflow), lambda: airflow.state)


def settled(airflow, done):
    """Every commit is reported and remembered."""
    return lambda: len(airflow.events) >= len(done) and airflow.state["reached"]["instant"] == done[-1]


def test_each_commit_is_told_once_across_restarts(airflow, table):
    write(table)
    begun(airflow)
    assert airflow.events == [], "it was there before"
    done = []
    for step in (2, 3, 4):
        done += [write(table, step), write(table, step)]
        run(Triggerer(airflow), settled(airflow, done))
        assert airflow.instants() == done
    assert (airflow.events[0]["table"], airflow.events[0]["rows_updated"]) == ("orders", 1)
    assert looking._running == {}, "nobody looks when nobody waits"


def test_a_triggerer_that_ends_at_any_step_misses_none(airflow, table):
    write(table)
    begun(airflow)
    before = airflow.state["reached"]["instant"]
    done = [before, *(write(table, step) for step in (2, 3, 4, 5))]
    for steps in range(10):
        remembered, stored = done.index(airflow.state["reached"]["instant"]), len(airflow.events)
        dying = Triggerer(airflow)
        dying.left = steps
        run(dying, lambda: False, 0.2)
        told = airflow.instants()[stored:]
        assert told == done[remembered + 1 :][: len(told)], "from where it was remembered, each once"
    run(Triggerer(airflow), settled(airflow, done[1:]))
    assert sorted(set(airflow.instants())) == done[1:]


def test_what_airflow_did_not_store_is_told_again(airflow, table):
    write(table)
    begun(airflow)
    before = dict(airflow.state)
    done = [write(table, 2)]
    deaf = Triggerer(airflow, stores=False)
    run(deaf, lambda: False, 5)
    assert deaf.failure is not None, "it ends, for Airflow to begin it anew"
    assert airflow.state == before
    run(Triggerer(airflow), settled(airflow, done))
    assert airflow.instants() == done


def test_one_look_for_all_triggers(airflow, table, monkeypatch):
    write(table)
    rounds = []
    monkeypatch.setattr(looking.Watcher, "round", lambda *_: rounds.append(1))

    async def both():
        one, other = looking.join(airflow.registry), looking.join(airflow.registry)
        assert one is other
        await one.after(1)
        await looking.leave(one)
        await other.after(other.done)
        seen = len(rounds)
        await looking.leave(other)
        await asyncio.sleep(0.05)
        assert len(rounds) <= seen + 1

    asyncio.run(both())


def test_rounds_that_ended_hold_no_connection_to_the_store(airflow, table, tmp_path):
    """Also where one was on its way: a server of databases has few, and SQLite writes into its file when one is closed."""

    async def once(rounds_seen):
        rounds = looking.join(airflow.registry)
        for _ in range(rounds_seen):
            await rounds.after(rounds.done)
        await looking.leave(rounds)

    write(table)
    for seen in range(1, 6):
        asyncio.run(once(seen))
        held = [os.path.realpath(fd) for fd in Path("/proc/self/fd").iterdir()]
        assert [name for name in held if name.startswith(str(tmp_path / ".watch"))] == []


def test_a_store_that_is_away_is_told_and_tried_again(airflow, table, tmp_path, caplog):
    write(table)
    begun(airflow)
    place = tmp_path / ".watch" / "snapshots.db"
    kept = place.read_bytes()
    for file in place.parent.glob("snapshots.db*"):  # any process that still holds them writes into unlinked files
        file.unlink()
    place.write_text("no database" * 1000)
    done = [write(table, 2)]

    async def mended():
        triggerer = Triggerer(airflow)
        task = asyncio.create_task(during(triggerer, settled(airflow, done)))
        while "tries again" not in caplog.text:
            assert not task.done(), f"nobody said that the store is away: {caplog.text}"
            await asyncio.sleep(0.01)
        place.write_bytes(kept)
        await task

    asyncio.run(mended())
    assert airflow.instants() == done
    assert "cannot be used" in caplog.text


def test_the_asset_of_a_dag(airflow, table):
    asset = commits_asset("orders")
    assert (asset.name, asset.uri) == (NAME, "hudi://tables/orders/commits")
    (watcher,) = asset.watchers
    assert encode_trigger(watcher.trigger) == {
        "classpath": "hoodie_airflow.commits.CommitsTrigger",
        "kwargs": {"table": "orders"},
    }
    with DAG("by_commits", schedule=[asset]) as dag:
        pass
    assert NAME in json.dumps(DagSerialization.to_dict(dag))
    assert isinstance(asset, Asset)
    with pytest.raises(ConfigError, match="no table 'ordres'"):
        commits_asset("ordres")
    with pytest.raises(NotImplementedError, match=r"3\.3"):
        watcher.trigger.run()
