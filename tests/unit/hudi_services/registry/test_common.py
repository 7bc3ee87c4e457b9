"""A table's entry for its lock and other writers holds for everything that changes the table."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from hoodie import HoodieTable
from hoodie.model.time import Time
from hoodie.timeline import Action
from hoodie.transaction import instants
from hoodie.transaction.heartbeat import FOLDER
from hudi_services.cli.program import main
from hudi_services.entry.dag import RunRequest
from hudi_services.registry.load import load_registry
from hudi_services.services.entries import ENTRIES
from tests.support.cli import DONE, FAILED
from tests.support.tables import SMALL_BLOOM, batch, create

PROVIDER, MODE = "hoodie.write.lock.provider", "hoodie.write.concurrency.mode"
INTERVAL = "hoodie.client.heartbeat.interval_in_ms"
SHARED = "optimistic_concurrency_control"
ENTRY = f"""
tables:
  - name: trips
    base_path: PLACE
    type: MERGE_ON_READ
    keys: {{record_key: [id], partition_by: [part], ordering: [ts]}}
    source: {{path: SOURCE, format: csv}}
    hoodie: {{{PROVIDER}: StorageBasedLockProvider, {MODE}: {SHARED}, {INTERVAL}: 3600000}}
    archive: {{}}
    compact: {{hoodie: {{{PROVIDER}: InProcessLockProvider}}}}
"""


@pytest.fixture
def registry(tmp_path: Path) -> str:
    made = create(tmp_path / "trips", **{"hoodie.table.type": "MERGE_ON_READ"})
    made.write(batch([("a", "p", 1, 1)]), "upsert", {**SMALL_BLOOM, PROVIDER: "StorageBasedLockProvider"})
    text = ENTRY.replace("PLACE", f"{tmp_path}/trips").replace("SOURCE", f"{tmp_path}/source")
    (tmp_path / "tables.yaml").write_text(text)
    return f"{tmp_path}/tables.yaml"


@pytest.mark.parametrize("service", ["ingest", "clean", "compact", "archive"])
def test_every_service_has_them_and_may_say_otherwise(registry: str, service: str) -> None:
    [table] = load_registry(registry).tables
    [entry] = [each for each in ENTRIES if each.name == service]
    options = entry.called_with(table, RunRequest()).options
    assert options.get(MODE) == (SHARED if service != "archive" else None), "an archiver needs no more than the lock"
    assert options[PROVIDER] == ("InProcessLockProvider" if service == "compact" else "StorageBasedLockProvider")


def test_commands_take_a_writer_for_alive_as_long_as_the_entry_says(
    registry: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = HoodieTable.open(f"{tmp_path}/trips").state()
    pending = instants.request(state, Time.of("20300101000000000"), Action.DELTA_COMMIT)
    state.storage.touch(f"{FOLDER}/{pending.time}")
    ten_minutes_ago = time.time() - 600
    os.utime(tmp_path / "trips" / FOLDER / pending.time, (ten_minutes_ago, ten_minutes_ago))
    command = ["rollback", "--table=trips", f"--registry={registry}", f"--instant={pending.time}", "--yes"]
    assert main(command) == FAILED
    assert "its heartbeat is 600 s old" in capsys.readouterr().err
    assert main([*command, "--hoodie-conf", f"{INTERVAL}=60000"]) == DONE


@pytest.mark.parametrize("command", [["clean"], ["savepoint", "create"]])
def test_commands_hold_the_lock_of_the_entry(
    registry: str, tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table with another lock lying there is refused: so the lock that was asked for is seen."""
    assert main([*command, "--table=trips", f"--registry={registry}"]) == DONE
    lease = json.loads((tmp_path / "trips" / ".hoodie" / ".locks" / "table_lock.json").read_text())
    assert lease["expired"] is True
    (tmp_path / "trips" / ".hoodie" / "lock").write_bytes(b"")
    assert main([*command, "--table=trips", f"--registry={registry}"]) != DONE
