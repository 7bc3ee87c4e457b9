"""Tables that servers of a session load, and their names. Plans are written by hand: no server answers here."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql.warehouse import Warehouse
from hoodie.storage import open_storage
from hudi_services.entry.server import DatabaseServer
from hudi_services.registry.load import read_registry
from hudi_services.sources.databases.plan import Refusal
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sql.server_catalog import LakeCatalog, ServerCatalog
from hudi_services.sql.server_routes import SessionRoutes


@pytest.fixture
def catalogs(tmp_path):
    server = DatabaseServer(type="mysql", connection="shop_db", server_id=1)
    return {
        "shop": ServerCatalog("shop", server, False),
        "lake": LakeCatalog(Warehouse(str(tmp_path / "lake")), str(tmp_path / "lake")),
    }


@pytest.fixture
def plan(tmp_path):
    folder = f"{tmp_path}/lake/demo.db"
    paths = {"B.Orders": f"{folder}/Orders", "b.s1": f"{folder}/s", "b.s2": f"{folder}/s", "b.t": "/elsewhere/t"}
    refusals = (Refusal("b.nokey", f"{folder}/nokey", "unfit", "no key", "add one"),)
    PlanStore(open_storage(f"{tmp_path}/lake/.servers"), "shop").put(StoredPlan(1, (), paths, refusals))
    return paths


def named(routes, *name):
    return [table.table for _, tables in routes.named(name) for table in tables]


def test_tables_have_names_in_the_lake_and_at_the_server(catalogs, plan):
    routes = SessionRoutes(catalogs, None)
    assert [[table.table for table in one.tables] for one in routes.of("shop")] == [[*plan, "b.nokey"]]
    assert named(routes, "lake", "demo", "orders") == named(routes, "shop", "b", "orders") == ["B.Orders"]
    assert named(routes, "LAKE", "demo", "s") == ["b.s1", "b.s2"]
    assert named(routes, "shop", "b", "s2") == ["b.s2"]
    with pytest.raises(SqlError, match=r"loads a table lake\.demo\.ordrs\. Found: lake\.demo\.Orders, "):
        routes.named(("lake", "demo", "ordrs"))
    with pytest.raises(SqlError, match=r"loads a table lake\.elsewhere\.t"):
        routes.named(("lake", "elsewhere", "t"))


def test_servers_of_the_registry_are_there_without_a_catalog(catalogs, plan, tmp_path):
    file = tmp_path / "tables.yaml"
    server = "{{type: mysql, connection: shop_db, server_id: 1{}}}"
    state = f", state: {tmp_path}/lake/.servers"
    file.write_text(
        f"servers:\n  shop: {server.format(state)}\n  bare: {server.format('')}\n"
        f"tables:\n  - {{name: orders, base_path: /o, source: {{server: shop, table: b.o}}}}\n"
    )
    routes = SessionRoutes({}, read_registry(file))
    assert named(routes, "orders") == ["b.o"]
    assert named(routes, "shop", "b", "t") == ["b.t"]
    assert [one.name for one in routes.of(None)] == ["shop"]
    renamed = {"s": ServerCatalog("shop", catalogs["shop"].server, True)}
    assert [one.name for one in SessionRoutes(renamed, read_registry(file)).of(None)] == ["s"]


@pytest.mark.parametrize(
    ("given", "server", "words"),
    [
        (("shop", "lake"), "shp", "no server shp. Found: shop"),
        ((), "shop", "none in the registry"),
        (("shop",), None, "lake"),
    ],
)
def test_servers_that_are_not_there_or_have_no_state(catalogs, given, server, words):
    with pytest.raises(SqlError) as error:
        SessionRoutes({name: catalogs[name] for name in given}, None).of(server)
    assert words in str(error.value)
