"""The most urgent advice of a look, in its summary."""

from __future__ import annotations

import shutil

from hudi_services.entry.table import Table
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
    assert (gone.health, gone.advice, gone.severity) == ("absent", "", "")
