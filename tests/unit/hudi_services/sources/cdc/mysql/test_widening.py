"""Clauses that give a column a type which has all its values, and others."""

from __future__ import annotations

import pyarrow as pa

from hudi_services.sources.cdc.mysql.binlog.table_map import Code, LoggedColumn
from hudi_services.sources.cdc.mysql.binlog.transactions import Statement
from hudi_services.sources.cdc.mysql.definition import LoadedTable, effect_on
from hudi_services.sources.cdc.mysql.position import LogPosition
from hudi_services.sources.cdc.mysql.widening import STRICT, StoredColumn, stored_columns

COLUMNS = {
    "v": StoredColumn(characters=20),
    "x": StoredColumn(size=2),
    "e": StoredColumn(labels=(b"a", b"b-1")),
    "z": StoredColumn(labels=("ż".encode(),)),
    "d": StoredColumn(digits=(10, 2)),
    "i": StoredColumn(bits=32),
}
KEEP = """
MODIFY v VARCHAR(20)
MODIFY COLUMN `V` VARCHAR(50) NOT NULL DEFAULT 'x' COMMENT 'y, z' AFTER d
CHANGE v v VARCHAR(50) NULL FIRST
MODIFY v TEXT
MODIFY x TEXT
MODIFY x LONGTEXT NOT NULL
MODIFY e ENUM('b', 'b-1', 'a')
MODIFY e ENUM('a','b-1','b,c',')', 'ż') NOT NULL
MODIFY d DECIMAL(10,2)
MODIFY d NUMERIC(38, 2) NOT NULL
MODIFY i BIGINT NOT NULL DEFAULT 0
"""
CHANGE = """
MODIFY v VARCHAR(19)
MODIFY v VARCHAR(50) CHARACTER SET latin1
MODIFY v VARCHAR(50) AS (x)
MODIFY v CHAR(50)
MODIFY v TINYTEXT
MODIFY v TEXT(10)
MODIFY v VARBINARY(50)
MODIFY x VARCHAR(1000)
MODIFY e ENUM('a', 'b')
MODIFY e ENUM('A', 'b-1')
MODIFY e ENUM('a ', 'b-1')
MODIFY e ENUM('a''', 'b-1')
MODIFY z ENUM('ż', 'a')
MODIFY e VARCHAR(10)
MODIFY e SET('a', 'b-1')
MODIFY d DECIMAL(9,2)
MODIFY d DECIMAL(12,3)
MODIFY d DECIMAL(12)
MODIFY d DECIMAL
MODIFY d DECIMAL(39,2)
MODIFY d DECIMAL(12,2) UNSIGNED
MODIFY d DOUBLE
MODIFY y VARCHAR(50)
CHANGE v w VARCHAR(50)
"""


def changes(clause, mode=STRICT):
    statement = Statement(LogPosition("bin", 4), 0, "shop", f"ALTER TABLE orders {clause}", mode)
    return effect_on(statement, LoadedTable("shop", "orders", stored=COLUMNS)) == "alter"


def test_clauses_that_keep_all_values_and_clauses_that_may_change_some():
    assert [clause for clause in KEEP.strip().splitlines() if changes(clause)] == []
    assert [clause for clause in CHANGE.strip().splitlines() if not changes(clause)] == []


def test_a_server_that_is_not_strict_may_cut_off_and_replace_values():
    for clause in (
        "MODIFY v VARCHAR(50)",
        "MODIFY e ENUM('a', 'b-1')",
        "MODIFY i BIGINT NOT NULL",
        "MODIFY x LONGTEXT",
    ):
        assert changes(clause, mode=0), clause
        assert not changes(clause, mode=1 << 21), clause
    assert changes("MODIFY v VARCHAR(50)", mode=STRICT | 1 << 31)
    assert not changes("MODIFY d DECIMAL(12, 2)", mode=0)


def test_the_log_and_the_lake_say_what_a_column_can_hold():
    logged = [
        LoggedColumn(Code.VARCHAR, 80, "v", collation=45),
        LoggedColumn(Code.STRING, 20, "c", collation=8),
        LoggedColumn(Code.BLOB, 2, "x", collation=45),
        LoggedColumn(Code.ENUM, 1, "e", collation=45, labels=(b"a",)),
        LoggedColumn(Code.VARCHAR, 20, "hex", collation=63, choice="hexadecimal"),
        LoggedColumn(Code.VARCHAR, 20, "bytes", collation=63),
        LoggedColumn(Code.LONGLONG, 0, "n"),
    ]
    lake = pa.schema([(column.name, pa.string()) for column in logged[:5]]).append(pa.field("bytes", pa.binary()))
    lake = lake.append(pa.field("n", pa.int64())).append(pa.field("D", pa.decimal128(5, 1)))
    assert stored_columns(lake, logged, {45: "utf8mb4", 8: "latin1"}) == {
        "v": StoredColumn(characters=20),
        "c": StoredColumn(characters=20),
        "x": StoredColumn(size=2),
        "e": StoredColumn(labels=(b"a",)),
        "hex": StoredColumn(),
        "bytes": StoredColumn(),
        "n": StoredColumn(bits=64),
        "d": StoredColumn(digits=(5, 1)),
    }
