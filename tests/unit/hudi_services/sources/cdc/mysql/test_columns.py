"""Columns as the catalog of a server declares them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import SourceError
from hudi_services.sources.cdc.mysql.columns import declared_table
from tests.support.binlog import connect
from tests.support.mariadb import only_mariadb

pytestmark = pytest.mark.process


def test_the_statement_that_reads_a_table_quotes_its_names(server):
    server.run(
        "CREATE DATABASE IF NOT EXISTS columns_",
        "CREATE TABLE columns_.`t ``x` (`a b` FLOAT, c BIT(12), PRIMARY KEY (`a b`))",
    )
    with connect(server) as connection:
        table = declared_table(connection, "columns_", "t `x")
    assert table.query == "SELECT CAST(`a b` AS DOUBLE), `c` FROM `columns_`.`t ``x`"
    assert table.schema == pa.schema([("a b", pa.float32()), ("c", pa.binary())])
    assert table.key == ("a b",)


@only_mariadb
def test_a_type_that_cannot_be_read_and_a_table_that_is_not_seen_are_named(server):
    server.run("CREATE DATABASE IF NOT EXISTS columns_", "SET GLOBAL mysql56_temporal_format = OFF")
    try:
        server.run("CREATE TABLE columns_.u (id INT PRIMARY KEY, at DATETIME(6))")
    finally:
        server.run("SET GLOBAL mysql56_temporal_format = ON")
    with connect(server) as connection:
        with pytest.raises(SourceError, match=r"the column 'at' has the type datetime\(6\)"):
            declared_table(connection, "columns_", "u")
        with pytest.raises(SourceError, match=r"has no table columns_\.none"):
            declared_table(connection, "columns_", "none")
