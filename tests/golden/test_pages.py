"""Tables that Hudi wrote are on the pages like ours: the numbers of `hudi-services show`, a timeline, partitions, file groups."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from hoodie.clock import SystemClock
from hudi_services.entry.table import Table
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.rows import rows
from hudi_services.operations.inspect.table_look import look_at
from hudi_services.operations.pages.fleet import fleet
from hudi_services.operations.pages.snapshots import FleetState
from hudi_services.operations.pages.table import table_page
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from hudi_services.registry.load import Reading, Registry
from tests.golden.test_show import ARCHIVES, tables

CLOCK = SystemClock()


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_table_is_on_the_pages(golden, archive, tmp_path):
    store = SnapshotStore.open(str(tmp_path / "store.db"), make=True)
    paths = tables(golden(archive))
    entries = [Table(name=f"t{number}", base_path=str(path)) for number, path in enumerate(paths)]
    for entry in entries:
        look(entry, store, CLOCK)
    seen = {each.table: each for each in store.fleet()}
    reading = Reading(Registry("tables.yaml", tuple(entries)), ())
    page = fleet(reading, lambda _: True, mistakes_too=True, fleet_state=FleetState(seen=seen), now=datetime.now(UTC))
    assert len(page.tables) == len(paths) > 0
    for entry, row in zip(entries, page.tables, strict=True):
        shown = overview(look_at(ChosenTable(entry.base_path, entry))).values
        assert row.state not in ("unreadable", "unknown", "absent"), (entry.base_path, row.reasons)
        assert (row.rows, row.bytes) == (shown["rows_in_base_files"], shown["base_bytes"] + shown["log_bytes"])
        snapshot = store.table(entry.name)
        found = table_page(entry, FleetState(seen=seen), snapshot, store.newest(entry.name), datetime.now(UTC)).seen
        facts = {each.name: each.value for each in found.facts}
        assert facts["base files"] == shown["base_files"]
        assert facts["file groups"] == shown["file_groups"] == len(found.groups) + found.groups_left_out
        assert sum(each.bytes for each in found.partitions) == shown["base_bytes"] + shown["log_bytes"]
        assert {each.instant for each in found.instants} >= {each["instant"] for each in shown["last_commits"]}
        json.dumps(asdict(found), allow_nan=False)


@pytest.mark.parametrize("archive", ARCHIVES)
def test_rows_of_every_table_can_be_shown(golden, archive):
    for path in tables(golden(archive)):
        if "hoodie.bootstrap.base.path" in (path / ".hoodie/hoodie.properties").read_text():
            continue  # the sources lay elsewhere
        found = rows(look_at(ChosenTable(str(path))), 5, None, None, (), 200).values
        assert all(len(row) == len(found["columns"]) for row in found["rows"]), path
        json.dumps(found, allow_nan=False)
