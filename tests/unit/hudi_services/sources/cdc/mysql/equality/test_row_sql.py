"""The server's bytes of each type are those of the same rows in Arrow, so equal tables have equal checksums."""

from __future__ import annotations

import pytest

from hudi_services.sources.cdc.mysql.binlog.decoding import PLAIN, Choices
from hudi_services.sources.cdc.mysql.equality.row_sql import row_expression
from hudi_services.sources.cdc.mysql.equality.row_text import row_bytes
from hudi_services.sources.cdc.mysql.snapshot import snapshot
from tests.support.binlog import DECLARED
from tests.support.mariadb import only_mariadb
from tests.support.mysql_types import TYPES

pytestmark = pytest.mark.process
MORE = [
    ("GEOMETRY", ["POINT(1, 2)"]),
    ("INT(9) ZEROFILL", ["42"]),
    ("DECIMAL(9,3) ZEROFILL", ["0.001"]),
    ("CHAR(9) CHARACTER SET ucs2", ["'żó '", "CONVERT(UNHEX('005C20AC') USING ucs2)"]),
    ("CHAR(9) CHARACTER SET greek", ["CONVERT(UNHEX('A4A5E1') USING greek)"]),
    ("ENUM('é', 'ü,') CHARACTER SET latin1", ["2", "''"]),
    ("DATETIME", ["'2020-02-30 10:00:00'", "'0000-01-01 00:00:00'", "'2020-00-10 00:00:00'"]),
    ("DATETIME(3)", ["'2020-02-29 10:00:00.120'"]),
    ("DATE", ["'2021-02-29'", "'0000-12-31'"]),
    ("VARCHAR(9)", ["'NULL'", "''", "'-'", "'1:;'"]),
    ("DOUBLE", ["1e20", "-1e-300", "0.1", "123456789012345680"]),
    ("INT AS (id * 2) VIRTUAL", []),
    ("INT INVISIBLE DEFAULT 5", []),
    ("YEAR(2)", ["2000", "'0000'", "70"]),
    ("UUID", ["'123e4567-e89b-12d3-a456-426655440000'"]),
    ("INET6", ["'2001:db8::1'"]),
    ("INET4", ["'10.0.0.1'"]),
    ("VARCHAR(99) COMPRESSED", ["REPEAT('é', 99)"]),
    ("BLOB COMPRESSED", ["REPEAT(x'ff', 99)"]),
]


@only_mariadb
def test_each_value_has_the_same_bytes_on_both_sides(server):
    types = [(kind, [sql for sql, _ in values]) for kind, _, values in TYPES] + MORE
    columns = {f"c{number}": kind for number, (kind, _) in enumerate(types)}
    declared = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    server.run("CREATE DATABASE bytes", f"CREATE TABLE bytes.t (id INT PRIMARY KEY AUTO_INCREMENT, {declared})")
    inserts = ["INSERT INTO bytes.t (id) VALUES (NULL)"]
    for row in range(max(len(values) for _, values in types)):
        chosen = {name: values[row] for name, (_, values) in zip(columns, types, strict=True) if row < len(values)}
        inserts.append(f"INSERT INTO bytes.t ({', '.join(chosen)}) VALUES ({', '.join(chosen.values())})")
    server.run("SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'", *inserts)
    of_bytes = [
        name for name, kind in columns.items() if kind in ("BINARY(5)", "BIT(9)", "TINYBLOB", "BLOB COMPRESSED")
    ]
    for choices in (PLAIN, Choices("text", frozenset(of_bytes))):
        with snapshot("shop", DECLARED, {"AIRFLOW_CONN_SHOP": server.url}, "bytes", "t", choices) as found:
            rows = found.rows.read_all().combine_chunks().to_batches()[0]
            for column in found.table.columns:
                answer = found.answer(f"SELECT {row_expression(found.table, [column])} FROM bytes.t ORDER BY id")
                printed = [value.encode() if isinstance(value, str) else value for [value] in answer]
                assert printed == row_bytes(rows, [column.name], found.table.charsets).to_pylist(), column
