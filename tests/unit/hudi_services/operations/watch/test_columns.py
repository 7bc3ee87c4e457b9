"""Changes of a watched table's columns, with the commit that made them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import Restore
from hoodie.schema.changes import AddColumn, DropColumn, RenameColumn, WidenColumn
from hudi_services.entry.table import Table
from hudi_services.operations.pages.snapshot_page import seen
from hudi_services.operations.watch.store import SnapshotStore
from hudi_services.operations.watch.table_round import look
from tests.support.clock import FakeClock
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture
def store(tmp_path):
    return SnapshotStore.open(str(tmp_path / "store.db"), make=True)


@pytest.fixture(params=["9", "6"])
def table(request, tmp_path):
    made = create(tmp_path / "t", FakeClock(), **{"hoodie.write.table.version": request.param})
    write(made)
    return made


def write(table, ts=1):
    return table.write(batch([("a", "p", ts, ts)]), "upsert", SMALL_BLOOM).instant


def watched(store, table):
    look(Table(name="orders", base_path=table.base_path), store, table.clock)
    found = store.table("orders").body["columns"]
    return [each["name"] for each in found["now"]], [(each["instant"], each["changes"]) for each in found["changes"]]


def test_each_change_has_its_instant_though_several_came_between_two_looks(store, table):
    before = table.schema.names
    assert watched(store, table) == (before, [])
    write(table, 2)
    assert watched(store, table) == (before, [])
    told = []
    for change, lines in (
        (AddColumn("note", pa.string()), ["added note, string"]),
        (RenameColumn("note", "remark"), ["added remark, string", "dropped note, string"]),
        (WidenColumn("value", pa.float64()), ["value from int64 to double"]),
        (DropColumn("remark"), ["dropped remark, string"]),
    ):
        told.append((str(table.alter([change], SMALL_BLOOM).instant.time), lines))
    assert watched(store, table) == (before, told)
    write(table, 3)
    assert watched(store, table) == (before, told), "and nothing twice"
    page = seen("orders", store.table("orders"), ())
    assert [(each.instant, list(each.changes)) for each in page.changed] == told[::-1]


def test_what_a_restore_takes_back(store, table):
    table.savepoint()
    before, _ = watched(store, table)
    table.alter([AddColumn("note", pa.string())], SMALL_BLOOM)
    watched(store, table)
    restore = Restore(table.savepoints()[0].instant)
    table.run(restore.agreed(table.explain(restore)))
    names, told = watched(store, table)
    assert names == before
    assert [lines for _, lines in told] == [["added note, string"], ["dropped note, string"]]


def test_wide_changes_are_cut_and_old_ones_forgotten(store, table, monkeypatch):
    watched(store, table)
    table.alter([AddColumn(f"c{number}", pa.string()) for number in range(60)], SMALL_BLOOM)
    _, ((_, lines),) = watched(store, table)
    assert len(lines) == 51
    assert lines[-1] == "and 10 more"
    monkeypatch.setattr("hudi_services.operations.watch.columns._KEPT", 1)
    table.alter([DropColumn("c0")], SMALL_BLOOM)
    assert [lines for _, lines in watched(store, table)[1]] == [["dropped c0, string"]]


def test_a_schema_that_cannot_be_read_changes_nothing(store, table, monkeypatch):
    names, _ = watched(store, table)

    def broken(text):
        from hoodie.errors import SchemaConflictError

        raise SchemaConflictError("no columns", fix="none")

    monkeypatch.setattr("hudi_services.operations.watch.columns.avro_to_arrow", broken)
    monkeypatch.setattr("hudi_services.operations.watch.columns.table_schema", lambda _: broken(""))
    write(table, 2)
    assert watched(store, table) == (names, [])
