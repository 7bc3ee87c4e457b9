"""Entries of the registry that name a table."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError, RegistryError
from hudi_services.cli.commands.table_references import references


def test_entries_of_the_table_and_those_that_read_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOT_OF_LAKE", "/lake")
    assert not list(references("/lake/orders", None))
    with pytest.raises(ConfigError):
        list(references("/lake/orders", "nowhere.yaml"))
    (tmp_path / "tables.yaml").write_text(
        "tables:\n"
        "  - {name: orders, base_path: /lake/./orders, sync: {hoodie: {hoodie.datasource.hive_sync.metastore.uris: 't://h'}}}\n"
        "  - {name: daily, base_path: /lake/daily, keys: [id], source: {path: /lake/orders, format: parquet}}\n"
        "  - {name: users, base_path: '${ROOT_OF_LAKE}/users', wrong: 1}\n"
        "databases:\n"
        "  - {server: shop, base_path: '/lake/shop/{table}'}\n"
    )
    assert [each.kind for each in references("/lake/orders", None)] == ["registry", "catalogs", "registry"]
    for path in ("/lake/users", "file:///lake/shop/orders"):
        assert [each.kind for each in references(path, None)] == ["registry"], path
    assert not list(references("/lake/shop/orders/more", None))
    (tmp_path / "tables.yaml").write_text("tables: [")
    with pytest.raises(RegistryError, match="is not YAML"):
        list(references("/lake/users", None))
