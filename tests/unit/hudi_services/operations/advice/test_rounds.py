"""Advice on a registry: one entry for each table, and none stops the others."""

from __future__ import annotations

from hoodie.clock import SystemClock
from hudi_services.operations.advice import rounds as advice_rounds
from hudi_services.operations.advice.model import Severity
from hudi_services.operations.advice.rounds import Histories, rounds
from hudi_services.registry.load import read_registry
from tests.support.registered import registered
from tests.support.tables import SMALL_BLOOM, batch, create


def test_the_gravest_tables_come_first_each_once(tmp_path):
    for name in ("b", "a"):
        create(tmp_path / name).write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    file = registered(tmp_path, {"name": "b"}, {"name": "a"}, {"name": "torn"}, {"name": "wrong", "no_such_key": 1})
    (tmp_path / "torn/.hoodie").mkdir(parents=True)
    (tmp_path / "torn/.hoodie/hoodie.properties").write_bytes(b"")
    found = rounds(read_registry(file), 2, SystemClock(), None)
    assert [each.name for each in found] == ["torn", "wrong", "a", "b"]
    assert found[0].advice[0].severity is Severity.DAMAGE
    assert (found[2].advice, found[3].advice) == ((), ())


def test_a_server_whose_state_cannot_be_read_is_advice(tmp_path):
    create(tmp_path / "a").write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    (tmp_path / "state").write_text("no folder")
    shop = {"type": "mysql", "connection": "shop", "server_id": 7, "state": f"{tmp_path}/state/x"}
    file = registered(tmp_path, {"name": "a"}, servers={"shop": shop})
    reading = read_registry(file)
    assert reading.mistakes == ()
    found = {each.name: each.advice for each in rounds(reading, 2, SystemClock(), None)}
    assert [(each.kind, each.fix) for each in found["shop"]] == [("server state", "hudi-services cdc status shop")]
    elsewhere = {each.name: each.advice for each in rounds(reading, 2, SystemClock(), "my tables.yaml")}
    assert elsewhere["shop"][0].fix == "hudi-services cdc status shop --registry 'my tables.yaml'"
    assert found["a"] == ()


def test_each_history_is_read_once_and_a_broken_one_leaves_the_advice(tmp_path, monkeypatch, caplog):
    read = []

    def broken(history, _since, _now):
        read.append(history.path)
        raise OSError("away")

    monkeypatch.setattr(advice_rounds, "runs", broken)
    for name in ("a", "b"):
        create(tmp_path / name).write(batch([("a", "p", 1, 1)]), "upsert", SMALL_BLOOM)
    file = registered(tmp_path, {"name": "a"}, {"name": "b"}, history={"path": f"{tmp_path}/history"})
    assert [each.advice for each in rounds(read_registry(file), 2, SystemClock(), None)] == [(), ()]
    assert read == [f"{tmp_path}/history"]
    assert "cannot be read, so runs and their seconds are not known: away" in caplog.text
    assert (
        Histories(SystemClock().now()).runs_of(read_registry(registered(tmp_path, {"name": "c"})).registry.tables[0])
        is None
    )
