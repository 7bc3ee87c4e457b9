"""SHOW ROUTES and RESUME TABLE on a cut and a plan that are written by hand."""

from __future__ import annotations

import pytest

from hoodie.sql.warehouse import Warehouse
from hoodie.storage import open_storage
from hudi_services.entry.server import DatabaseServer
from hudi_services.sources.cdc.cuts import Behind, Cut, CutStore, TablePlace
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sources.databases.requests import RequestStore
from hudi_services.sql.replication import ShowRoutes, TableAction
from hudi_services.sql.route_statements import RouteStatements
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog

SERVER = ServerCatalog("shop", DatabaseServer(type="mysql", connection="shop_db", server_id=1), False)
TIME = "2026-11-26T00:00:00+00:00"


@pytest.fixture
def states(tmp_path):
    return open_storage(str(tmp_path / "lake/.servers"))


@pytest.fixture
def run(tmp_path, states):
    PlanStore(states, "shop").put(StoredPlan(1, (), {f"b.{name}": f"/l/{name}" for name in "xyz"}))
    behind = {"b.x": Behind("it broke", "mend it", TIME, True, "bin.000001:4", "", "bin.000001:4")}
    tables = {"b.y": TablePlace("/l/y", "20261126000000000", "bin.000001:4")}
    CutStore(states, "shop").put(Cut(1, "bin.000001:9", "", TIME, tables, behind))
    return RouteStatements(
        {"shop": SERVER, "lake": LakeCatalog(Warehouse(str(tmp_path / "lake")), str(tmp_path / "lake"))}, None, {}
    ).run


def test_a_route_says_how_far_a_table_is(run):
    result = run(ShowRoutes(None))
    assert result.table.column_names == ["source", "target", "state", "position", "reason"]
    assert result.rows() == [
        ("shop.b.x", "/l/x", "parked", "bin.000001:4", "it broke. mend it"),
        ("shop.b.y", "/l/y", "current", "bin.000001:9", ""),
        ("shop.b.z", "/l/z", "new", "", ""),
    ]


def test_only_parked_tables_are_resumed(run, states):
    assert "nothing to resume: b.y is current" in run(TableAction("RESUME", ("shop", "b", "y"))).message
    assert RequestStore(states, "shop").latest().number == 0
    assert "tries b.x again" in run(TableAction("RESUME", ("shop", "b", "x"))).message
    assert set(RequestStore(states, "shop").latest().resumed) == {"b.x"}


def test_a_table_is_left_out_until_it_is_resumed(run, states):
    assert "runs leave b.y out" in run(TableAction("SKIP", ("shop", "b", "y"))).message
    assert [row[2] for row in run(ShowRoutes("shop")).rows()] == ["parked", "skipped", "new"]
    assert "tries b.y again" in run(TableAction("RESUME", ("shop", "b", "y"))).message
    assert [row[2] for row in run(ShowRoutes("shop")).rows()] == ["parked", "current", "new"]
