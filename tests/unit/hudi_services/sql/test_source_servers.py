"""Servers whose cuts a session can read, from the registry, its catalogs and its warehouses."""

from __future__ import annotations

from hoodie.storage import open_storage
from hudi_services.registry.load import read_registry
from hudi_services.sources.databases.plan_store import PlanStore, StoredPlan
from hudi_services.sql.replication import CreateCatalog
from hudi_services.sql.server_catalog import created_catalog
from hudi_services.sql.source_servers import source_servers


def test_the_servers_of_the_registry_and_of_all_warehouses_are_known_once(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"servers:\n  shop: {{type: mysql, connection: c, server_id: 7, state: {tmp_path}/state}}\n"
        "  stateless: {type: mysql, connection: c, server_id: 8}\n"
        f"tables:\n  - {{name: t, base_path: {tmp_path}/t, source: {{server: shop, table: d.t}}}}\n"
    )
    for folder, name in (("state", "shop"), ("lake/.servers", "b"), ("own/.servers", "c"), ("said", "d")):
        plan = StoredPlan(1, paths={f"{name}.u": f"{tmp_path}/u"})
        PlanStore(open_storage(f"{tmp_path}/{folder}"), name).put(plan)
    options = {"type": "mysql", "connection": "c", "server-id": "9", "state": f"{tmp_path}/said"}
    reading = read_registry(file)
    catalogs = [
        created_catalog(CreateCatalog(name, False, values), reading)
        for name, values in (
            ("lake", {"type": "hudi", "warehouse": f"{tmp_path}/lake"}),
            ("d", options),
            ("shop", {"type": "mysql", "server": "shop"}),
        )
    ]
    servers = {server.name: server for server in source_servers(reading, catalogs, [f"{tmp_path}/own"])}
    assert {name: sorted(server.paths) for name, server in servers.items()} == {
        "shop": ["d.t", "shop.u"],
        "b": ["b.u"],
        "c": ["c.u"],
        "d": ["d.u"],
    }
    assert servers["shop"].sources(f"file://{tmp_path}/u/") == ["shop.u"]
    assert servers["shop"].sources(f"{tmp_path}/v") == []
    assert source_servers(None, [], [f"{tmp_path}/nowhere"]) == []
