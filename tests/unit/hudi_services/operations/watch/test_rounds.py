"""Rounds of a watcher: registries that are half written or differ, and tables that do not answer."""

from __future__ import annotations

import os
import threading
import time
from datetime import timedelta

import pytest

from hudi_services.operations.watch import rounds
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.registry.load import read_registry
from tests.support.clock import FakeClock
from tests.support.tables import create
from tests.support.waiting import until
from tests.support.watched import reported, write


@pytest.mark.parametrize("torn", ["", "tables:\n", "tables: [{name: other, base_path: /lake/other}]", "shorter"])
def test_a_registry_that_is_half_written_for_a_round_loses_nothing(store, tmp_path, torn):
    table = create(tmp_path / "t", FakeClock())
    file = tmp_path / "tables.yaml"
    whole = f"tables: [{{name: orders, base_path: {table.base_path}}}]"
    watcher = Watcher(store, table.clock)

    def round_by(text):
        file.write_text(text)
        return watcher.round(read_registry(file))

    write(table)
    round_by(whole)
    done = [write(table, ts=2)]
    round_by(whole.replace(str(table.base_path), str(table.base_path)[:-1]) if torn == "shorter" else torn)
    done.append(write(table, ts=3))
    assert round_by(whole).removed == ()
    assert reported(store) == [(str(i.time), "commit") for i in done]


def test_a_mistake_in_an_entry_keeps_what_is_known_of_its_table(store, tmp_path):
    table = create(tmp_path / "t", FakeClock())
    file, watcher = tmp_path / "tables.yaml", Watcher(store, table.clock)
    entry = f"name: orders, base_path: {table.base_path}"
    for text, mistakes, known in [
        (f"tables: [{{{entry}}}]", False, True),
        (f"tables: [{{{entry}, no_such_key: 1}}]", True, True),
        ("tables: []", False, False),
    ]:
        file.write_text(text)
        for _ in range(6):
            reading = read_registry(file)
            assert bool(reading.mistakes) is mistakes
            watcher.round(reading)
            table.clock.sleep(300)
        assert (store.table("orders") is not None) is known


def test_watchers_whose_registries_differ_forget_no_table_of_the_other(store, tmp_path):
    clock = FakeClock()
    tables = {name: create(tmp_path / name, clock) for name in ("mine", "theirs", "both")}
    done = {name: [write(table)] for name, table in tables.items()}
    watchers = []
    for own in ("mine", "theirs"):
        file = tmp_path / f"{own}.yaml"
        entries = [f"{{name: {name}, base_path: {tables[name].base_path}}}" for name in (own, "both")]
        file.write_text(f"tables: [{', '.join(entries)}]")
        watchers.append((Watcher(store, clock), read_registry(file)))
    for step in range(2, 12):  # half an hour: what a registry has no more is forgotten after ten minutes
        for watcher, reading in watchers:
            watcher.round(reading)
        clock.sleep(180)
        for name, table in tables.items():
            done[name].append(write(table, ts=step))
    for watcher, reading in watchers:
        watcher.round(reading)
    for name, written in done.items():
        assert [each.instant for each in store.events() if each.table == name] == [str(i.time) for i in written[1:]]


def test_a_table_that_does_not_answer_keeps_no_other_from_being_looked_at(store, tmp_path, monkeypatch):
    clock = FakeClock()
    names = ("hangs", "goes_on")
    tables = {name: create(tmp_path / name, clock) for name in names}
    file = tmp_path / "tables.yaml"
    file.write_text(f"tables: [{', '.join(f'{{name: {name}, base_path: {tmp_path}/{name}}}' for name in names)}]")
    watcher = Watcher(store, clock)
    watcher._looks.patience = timedelta(seconds=0.2)
    reading = read_registry(file)
    write(tables["goes_on"])
    watcher.round(reading)
    properties = tmp_path / "hangs" / ".hoodie" / "hoodie.properties"
    kept = properties.read_bytes()
    properties.unlink()
    os.mkfifo(properties)  # opening it waits
    monkeypatch.setattr(rounds, "_SILENT", timedelta(seconds=0.3))
    for step in (2, 3, 4):
        write(tables["goes_on"], ts=step)
        watcher.round(reading)
        time.sleep(0.2)
    assert len(store.events()) == 3
    assert store.rounded_at() is not None
    (hangs,) = [each for each in store.fleet() if each.table == "hangs"]
    assert hangs.health == "unreadable"
    assert "goes on still" in hangs.reason
    assert len([each for each in threading.enumerate() if each.name == "look at hangs"]) == 1, (
        "one look, not one a round"
    )
    with properties.open("wb") as pipe:  # it answers at last
        pipe.write(kept)
    properties.unlink()
    properties.write_bytes(kept)
    until(lambda: not watcher._looks.slow(timedelta(0)))
    watcher.round(reading)
    assert {each.table: each.reason for each in store.fleet()} == dict.fromkeys(names, "")
