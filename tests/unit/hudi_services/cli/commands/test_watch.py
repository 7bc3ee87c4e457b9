"""The command watch: one round, events as JSON, a store of its own."""

from __future__ import annotations

import json
import sqlite3

from hoodie import HoodieTable
from hudi_services.cli.program import main
from hudi_services.operations.watch.store import SnapshotStore
from tests.support.tables import create
from tests.support.watched import write


def test_the_command(tmp_path, capsys):
    table = create(tmp_path / "t")
    write(table)
    registry = tmp_path / "tables.yaml"
    lines = [
        "tables:",
        f"  - {{name: orders, base_path: {table.base_path}}}",
        f"  - {{name: later, base_path: {tmp_path}/l}}",
    ]
    registry.write_text("\n".join(lines))
    command = ["watch", "--registry", str(registry), "--once"]
    assert main(command) == 0
    assert "looked at 2 tables, 1 instants new" in capsys.readouterr().out
    assert (tmp_path / ".watch" / "snapshots.db").is_file()
    done = write(HoodieTable.open(table.base_path), ts=2)
    assert main([*command, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["table"], told["instant"], told["operation"], told["rows_updated"]) == (
        "orders",
        done.time,
        "UPSERT",
        1,
    )
    registry.write_text("\n".join([*lines[:2], "watch: {store: elsewhere.db, every: 5}"]))
    assert main(command) == 0
    assert (tmp_path / "elsewhere.db").is_file()
    registry.write_text("\n".join([*lines[:1], *lines[2:], "watch: {store: elsewhere.db, evry: 5}"]))
    assert main(command) == 0
    assert "watch.evry" in capsys.readouterr().err
    registry.write_text("\n".join([*lines[:1], *lines[2:]]))
    assert main(command) == 0
    assert "no table orders any more" not in capsys.readouterr().err, "the file may be half written"
    with sqlite3.connect(tmp_path / ".watch" / "snapshots.db") as connection:
        connection.execute(
            "UPDATE hudi_watch_tables SET gone_at = '2026-01-01T00:00:00+00:00' WHERE gone_at IS NOT NULL"
        )
    assert main(command) == 0
    assert "no table orders any more" in capsys.readouterr().err
    assert main([*command, "--rebuild"]) == 0
    assert [each.table for each in SnapshotStore.open(str(tmp_path / ".watch" / "snapshots.db")).fleet()] == ["later"]
