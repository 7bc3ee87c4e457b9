"""If a store goes while a watcher runs, the next round makes it again; no round writes to an unlinked store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hoodie.clock import SystemClock
from hoodie.errors import StoreError
from hudi_services.operations.watch.rounds import Watcher
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.registry.load import read_registry
from hudi_services.runtime.folders import PROJECT
from tests.support.matrix import DEEP
from tests.support.tables import SMALL_BLOOM, batch, create
from tests.support.waiting import until


@pytest.fixture
def table(tmp_path):
    made = create(tmp_path / "t", SystemClock())
    made.write(batch([("a", "p", 1, 1)]), "insert", SMALL_BLOOM)
    return made


@pytest.fixture
def registry(tmp_path, table):
    file = tmp_path / "tables.yaml"
    said = {"watch": {"every": 1}, "tables": [{"name": "orders", "base_path": table.base_path}]}
    file.write_text(yaml.safe_dump(said))
    return file


def deleted(file: Path) -> None:
    for each in file.parent.glob(f"{file.name}*"):
        each.unlink()


def with_its_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


def replaced(file: Path) -> None:
    deleted(file)
    SnapshotStore.open(str(file), make=True)


@pytest.mark.parametrize("lose", [deleted, with_its_folder, replaced])
def test_the_next_round_fills_it(registry, tmp_path, lose):
    file = tmp_path / "store" / "snapshots.db"
    running = SnapshotStore.open(str(file), make=True)
    Watcher(running, SystemClock()).round(read_registry(registry))
    lose(file)
    Watcher(running, SystemClock()).round(read_registry(registry))
    for store in (running, SnapshotStore.open(str(file))):
        assert [each.table for each in store.fleet()] == ["orders"]
        assert store.rounded_at() is not None


def test_one_that_is_no_database_is_told_until_it_is_deleted(registry, tmp_path):
    file = tmp_path / "snapshots.db"
    running = SnapshotStore.open(str(file), make=True)
    Watcher(running, SystemClock()).round(read_registry(registry))
    deleted(file)
    file.write_bytes(os.urandom(9000))
    for _ in range(2):
        with pytest.raises(StoreError, match="may delete a damaged"):
            Watcher(running, SystemClock()).round(read_registry(registry))
    file.unlink()
    Watcher(running, SystemClock()).round(read_registry(registry))
    assert [each.table for each in SnapshotStore.open(str(file)).fleet()] == ["orders"]


@pytest.mark.process
def test_commits_are_told_after_it_was_deleted(registry, table, tmp_path):
    file = tmp_path / ".watch" / "snapshots.db"
    command = [sys.executable, "-m", "hudi_services", "watch", "--registry", str(registry), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as watcher:
        assert watcher.stdout is not None
        try:
            for step in (2, 3) if DEEP else (2,):
                wait_for_a_round(file)
                done = table.write(batch([("a", "p", step, step)]), "upsert", SMALL_BLOOM).instant
                assert json.loads(watcher.stdout.readline())["instant"] == done.time
                deleted(file)
        finally:
            watcher.terminate()


def wait_for_a_round(file: Path) -> None:
    """Until one has filled the store."""

    def is_filled() -> bool:
        try:
            return bool(SnapshotStore.open(str(file)).fleet())
        except StoreError:
            return False

    until(is_filled, pause=0.2)
