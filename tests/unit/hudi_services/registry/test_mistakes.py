"""Entries with mistakes: which table of a server each is about."""

from __future__ import annotations

import pytest

from hoodie.errors import RegistryError
from hudi_services.registry.database_tables import registered_sync
from hudi_services.registry.load import read_registry
from hudi_services.registry.mistakes import LeftOut, left_out


def test_sources_are_named_as_far_as_they_can_be_read():
    entries = [
        {"name": "a", "base_path": "/a", "source": {"server": "shop", "table": "shop.a"}},
        {"name": 5, "source": {"server": "shop", "tabel": "shop.b"}},
        {"name": "c", "source": {"server": "events", "topic": "c"}},
        {"name": "d", "source": {"path": "/files"}},
        {"name": "e", "source": "shop.e"},
        "f",
    ]
    assert list(left_out(entries)) == [LeftOut("a", "/a", "shop", "shop.a"), LeftOut("", "", "shop", "")]


def test_a_reading_says_which_tables_it_left_out(tmp_path):
    (tmp_path / "tables.yaml").write_text(
        "servers: {shop: {type: mysql, connection: shop, server_id: 1}}\n"
        "defaults: {source: {server: shop}}\n"
        "tables:\n"
        "  - {name: a, base_path: /a, source: {table: shop.a}, tipe: x}\n"
        "  - {name: b, base_path: /b, source: {table: shop.b}}\n"
    )
    reading = read_registry(tmp_path / "tables.yaml")
    assert reading.left_out == (LeftOut("a", "/a", "shop", "shop.a"),)
    assert [table.name for table in reading.registry.tables] == ["b"]


@pytest.mark.parametrize("server", ["server: shop, ", ""])
def test_a_rule_with_a_mistake_stops_the_loads_of_its_server(tmp_path, server):
    """The rule below it would take its tables, to another folder."""
    (tmp_path / "tables.yaml").write_text(
        "servers:\n"
        "  shop: {type: mysql, connection: shop, server_id: 1, state: STATE}\n"
        "  other: {type: mysql, connection: other, server_id: 2, state: STATE}\n".replace(
            "STATE", str(tmp_path / "state")
        )
        + "databases:\n"
        f"  - {{{server}database: shop, tables: 'orders', base_path: '/a/{{table}}', tabels: x}}\n"
        "  - {server: shop, database: shop, tables: '.*', base_path: '/b/{table}'}\n"
    )
    reading = read_registry(tmp_path / "tables.yaml")
    with pytest.raises(RegistryError, match=r"databases\.0\.tabels"):
        registered_sync("shop", reading, {})
    assert [rule.base_path for rule in registered_sync("shop", reading, {}, wrong_rules=True).rules] == ["/b/{table}"]
    if server:
        assert registered_sync("other", reading, {}).rules == ()
