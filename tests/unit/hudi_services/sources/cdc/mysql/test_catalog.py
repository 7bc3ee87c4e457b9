"""Tables of whole databases, as the catalog of a server lists them."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.catalog import catalog_databases, catalog_tables
from hudi_services.sources.cdc.mysql.columns import declared_table
from tests.support.binlog import connect

pytestmark = pytest.mark.process


def test_tables_have_the_columns_and_keys_of_a_load(server):
    server.run(
        "CREATE OR REPLACE DATABASE catalog_a",
        "CREATE OR REPLACE DATABASE catalog_b",
        "CREATE TABLE catalog_a.t (b INT, a INT, v DECIMAL(9,2), w BINARY(3), PRIMARY KEY (a, b))",
        "CREATE TABLE catalog_a.u (n INT UNIQUE, m INT NOT NULL UNIQUE, s VARCHAR(9) CHARACTER SET latin1)",
        "CREATE TABLE catalog_a.v (n INT)",
        "CREATE VIEW catalog_a.w AS SELECT * FROM catalog_a.v",
        "CREATE TABLE catalog_b.T (n INT PRIMARY KEY)",
    )
    with connect(server) as connection:
        assert {"catalog_a", "catalog_b"} <= set(catalog_databases(connection))
        assert "mysql" not in catalog_databases(connection)
        tables = catalog_tables(connection, ["catalog_b", "catalog_a"])
        assert [table.full_name for table in tables] == ["catalog_a.t", "catalog_a.u", "catalog_a.v", "catalog_b.T"]
        for table in tables:
            declared = declared_table(connection, table.database, table.name)
            assert (table.schema(), table.key, table.unreadable) == (declared.schema, declared.key, "")
        assert catalog_tables(connection, []) == ()


def test_names_that_differ_by_capitals_are_names_of_two_tables(server):
    server.run(
        *(f"CREATE OR REPLACE DATABASE {name}" for name in ("catalog_C", "catalog_c")),
        *(
            f"CREATE TABLE {name} (a INT, b INT, v INT, PRIMARY KEY (a, b))"
            for name in ("catalog_C.t", "catalog_c.t", "catalog_C.T")
        ),
    )
    with connect(server) as connection:
        tables = catalog_tables(connection, ["catalog_C", "catalog_c"])
    assert sorted(table.full_name for table in tables) == ["catalog_C.T", "catalog_C.t", "catalog_c.t"]
    assert {(table.key, tuple(table.schema().names)) for table in tables} == {(("a", "b"), ("a", "b", "v"))}
