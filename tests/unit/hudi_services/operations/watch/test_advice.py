"""The most urgent advice of a look, in its summary."""

from __future__ import annotations

import shutil

from hudi_services.entry.table import Table
from hudi_services.operations.pages.advice import advice_page
from hudi_services.operations.pages.snapshot_page import seen
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.watch import table_round
from hudi_services.operations.watch.table_round import look
from tests.support.tables import create
from tests.support.watched import write


def test_the_summary_has_the_most_urgent_advice_while_the_table_can_be_read(store, tmp_path):
    table = create(tmp_path / "orders", **{"hoodie.table.type": "MERGE_ON_READ"})
    entry = Table.model_validate(
        {
            "name": "orders",
            "base_path": str(tmp_path / "orders"),
            "objectives": {"log_ratio": 0.01, "timeline_length": 9},
        }
    )
    write(table)
    look(entry, store, table.clock)
    [quiet] = store.fleet()
    assert (quiet.advice, quiet.severity) == ("", "")
    write(table, ts=2)
    look(entry, store, table.clock)
    [missed] = store.fleet()
    assert missed.severity == "missed"
    assert missed.advice.startswith("Reads merge ")
    assert "(limit 0.01), since " in missed.advice
    shutil.rmtree(tmp_path / "orders")
    look(entry, store, table.clock)
    [gone] = store.fleet()
    assert (gone.health, gone.severity, gone.fix) == ("absent", "damage", "")
    assert gone.advice.startswith(f"There is no table at {tmp_path}/orders, where there was one, since ")


def test_a_timeline_that_cannot_be_read_has_advice_that_names_its_file(store, tmp_path):
    table = create(tmp_path / "orders")
    entry = Table.model_validate({"name": "orders", "base_path": str(tmp_path / "orders")})
    write(table)
    look(entry, store, table.clock)
    [commit] = (tmp_path / "orders/.hoodie/timeline").glob("*.commit")
    whole = commit.read_bytes()
    commit.write_bytes(b"")
    look(entry, store, table.clock)
    [torn] = store.fleet()
    assert (torn.health, torn.severity, torn.fix) == ("unreadable", "damage", "hudi-services doctor --table orders")
    assert f"{commit} is empty, since " in torn.advice
    commit.write_bytes(whole)
    look(entry, store, table.clock)
    [well] = store.fleet()
    assert (well.health, well.advice, well.fix, dict(well.error)) == ("ok", "", "", {})


def test_a_storage_that_does_not_answer_and_a_missing_right_are_no_damage(store, tmp_path, monkeypatch):
    table = create(tmp_path / "orders")
    entry = Table.model_validate({"name": "orders", "base_path": str(tmp_path / "orders")})
    write(table)
    look(entry, store, table.clock)
    for error, severity, title in (
        (TimeoutError("timed out"), "failed", f"The storage of {tmp_path}/orders does not answer"),
        (
            PermissionError(13, "Permission denied", str(tmp_path / "orders")),
            "failed",
            "A right is missing for a look at the table",
        ),
    ):

        def fail(*_arguments, error=error):
            raise error

        monkeypatch.setattr(table_round, "look_at", fail)
        look(entry, store, table.clock)
        [failed] = store.fleet()
        assert (failed.health, failed.severity) == ("unreadable", severity)
        assert failed.reason.startswith(f"{title}. Found: ")
        assert failed.advice.startswith(f"The table cannot be read: {title}, since ")
    assert failed.fix.startswith("sudo setfacl ")


def test_a_look_counts_the_quarantined_rows_of_the_feed_and_shows_no_value_to_all(store, tmp_path):
    table = create(tmp_path / "orders")
    source = {"path": f"{tmp_path}/land", "format": "json"}
    entry = Table.model_validate(
        {"name": "orders", "base_path": f"{tmp_path}/orders", "source": source, "keys": {"record_key": ["id"]}}
    )
    write(table)
    (tmp_path / "orders.quarantine/20260101").mkdir(parents=True)
    (tmp_path / "orders.quarantine/20260101/0.jsonl").write_text(
        '{"file": "a", "reason": "secret is no number", "row": {}}\n'
    )
    look(entry, store, table.clock)
    snapshot = store.table("orders")
    assert (snapshot.body["quarantine"]["rows"], snapshot.body["quarantine"]["reason"]) == (1, "secret is no number")
    assert (snapshot.summary.severity, snapshot.summary.fix) == ("loss", "hudi-services show quarantine --table orders")
    assert snapshot.summary.advice.startswith("1 load left 1 row in the quarantine, since ")
    assert "secret" not in snapshot.summary.advice


def test_a_missing_file_has_the_command_of_the_doctor(store, tmp_path):
    table = create(tmp_path / "orders")
    entry = Table.model_validate({"name": "orders", "base_path": str(tmp_path / "orders")})
    instant = write(table)
    [file] = (tmp_path / "orders").rglob("*.parquet")
    file.rename(tmp_path / "kept")
    look(entry, store, table.clock)
    [damaged] = store.fleet()
    rollback = f"hudi-services rollback --instant {instant.time} --table orders"
    assert (damaged.health, damaged.severity, damaged.fix) == ("damaged", "damage", rollback)
    assert damaged.advice.startswith(f"A file is missing that commit {instant.time} wrote ")
    assert f"Restore it from a backup. Without one, take its commit back: {rollback}, then" in damaged.advice
    assert damaged.advice.endswith("so that rows from elsewhere are lost and deleted ones come back."), (
        "after the command"
    )
    snapshot = store.table("orders")
    [waiting] = seen("orders", snapshot, ()).waiting
    assert (waiting.kind, waiting.commands[0]) == ("problem", rollback)
    [advice, *_] = advice_page(entry, FleetState({}, {"orders": damaged}), snapshot, table.clock.now(), ()).advice
    assert (advice["severity"], advice["fix"]) == ("damage", rollback)
