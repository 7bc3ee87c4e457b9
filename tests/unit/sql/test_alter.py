"""ALTER TABLE on tables of a warehouse."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import HoodieTable
from hoodie.errors import ConfigError, SchemaConflictError, SqlError, TableExistsError, TableNotFoundError
from hoodie.schema.changes import (
    FIRST,
    AddColumn,
    AllowNull,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    WidenColumn,
)
from hoodie.sql import connect
from hoodie.sql.alter_text import altering
from hoodie.sql.names import TableName

CREATE = (
    "create table t (id int, name string, price double, n int, s struct<a: int, b: string>, ts bigint, dt string) using hudi "
    "tblproperties (primaryKey='id', preCombineField='ts', type='{kind}') partitioned by (dt)"
)
ROWS = "insert into t select 1, 'a', 10.5, 7, named_struct('a', 1, 'b', 'x'), 1, 'x'"


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path / "w") as connection:
        connection.sql(CREATE.format(kind=request.param))
        connection.sql(ROWS)
        yield connection


def rows(db, query):
    return db.sql(query).rows()


STRUCT = pa.struct([("q", pa.int32()), ("r", pa.list_(pa.decimal128(10, 2)))])


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("add columns (x string)", [AddColumn("x", pa.string())]),
        ("ADD COLUMN s.c INT AFTER a", [AddColumn("s.c", pa.int32(), place=Place("a"))]),
        (
            "add columns (x decimal(12, 3) comment 'hi; (there)' first, `y z` map<string, array<int>> after s.b)",
            [
                AddColumn("x", pa.decimal128(12, 3), "hi; (there)", FIRST),
                AddColumn("y z", pa.map_(pa.string(), pa.list_(pa.int32())), place=Place("s.b")),
            ],
        ),
        (
            "add columns x int not null, y bigint",
            [AddColumn("x", pa.int32(), nullable=False), AddColumn("y", pa.int64())],
        ),
        (
            "add columns (three struct<q: int, r: array<decimal(10,2)>> comment 'c' after id, u struct<v:struct<w:int>>)",
            [
                AddColumn("three", STRUCT, "c", Place("id")),
                AddColumn("u", pa.struct([("v", pa.struct([("w", pa.int32())]))])),
            ],
        ),
        ("drop column arr.element.x", [DropColumn("arr.element.x")]),
        ("drop columns (a, b.c)", [DropColumn("a"), DropColumn("b.c")]),
        ("rename column s.b to c", [RenameColumn("s.b", "c")]),
        ("alter column n type bigint", [WidenColumn("n", pa.int64())]),
        ("alter n type bigint", [WidenColumn("n", pa.int64())]),
        ("change column n comment 'c'", [CommentColumn("n", "c")]),
        ("alter column n first", [MoveColumn("n", FIRST)]),
        ("alter column s.a after s.b", [MoveColumn("s.a", Place("s.b"))]),
        ("alter column n drop not null", [AllowNull("n")]),
        ("alter column n type double comment 'c' after id", None),
        (
            "change column n n bigint comment 'c' after id",
            [WidenColumn("n", pa.int64()), CommentColumn("n", "c"), MoveColumn("n", Place("id"))],
        ),
        ("alter column comment type bigint", [WidenColumn("comment", pa.int64())]),
    ],
)
def test_what_is_asked_for(text, changes):
    found = altering(f"Alter  Table d.`T`\n {text}")
    assert (found.table.db, found.table.name) == ("d", "T")
    if changes is not None:
        assert list(found.columns) == changes
    else:
        assert [type(change) for change in found.columns] == [WidenColumn, CommentColumn, MoveColumn]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("add columns (x)", "type of column x"),
        ("add columns (x int", "nothing more"),
        ("add columns (x int) y", "'y' where its end"),
        ("add columns (x nonsense)", "type"),
        ("add columns (x int default 5)", "no default"),
        ("add columns (x int generated always as identity)", "is not a type of column x"),
        ("alter column n type bigint using n + 1", "is not a type of column n"),
        ("add columns ()", "a name"),
        ("drop column", "nothing more"),
        ("drop column 'a'", "a name"),
        ("rename column a b", "where TO should be"),
        ("change column a b int", "RENAME COLUMN a TO b"),
        ("alter column n set not null", "cannot become NOT NULL"),
        ("alter column n set data type int", "should be"),
        ("alter column n comment 5", "a text in quotes"),
        ("replace columns (a int)", "RENAME TO"),
        ("drop partition (dt = 'x')", "RENAME TO"),
        ("", "nothing more"),
    ],
)
def test_what_nobody_can_ask(text, told):
    with pytest.raises(SqlError, match=told):
        altering(f"alter table t {text}")


def test_columns(db, tmp_path):
    db.sql("alter table t add columns (extra string comment 'more' after id, s.c int first)")
    db.sql("alter table t rename column name to title; alter table t add column name int")
    db.sql("alter table T alter column N type bigint comment 'number'")
    assert rows(db, "select * from t") == [
        (1, None, "a", 10.5, 7, {"c": None, "a": 1, "b": "x"}, 1, "x", None),
    ]
    db.sql("update t set name = 5, extra = 'e', n = 5000000000 where title = 'a'")
    assert rows(db, "select name, extra, title, n from t where n > 10") == [(5, "e", "a", 5_000_000_000)]
    told = db.sql("alter table t drop columns (name, extra)")
    assert "columns changed" in told.message
    db.sql("alter table t add columns (name int, extra string)")
    assert rows(db, "select name, extra, title from t where name is null") == [(None, None, "a")]
    assert ("n", "bigint") in [row[:2] for row in rows(db, "describe t")]
    assert HoodieTable.open(tmp_path / "w" / "t").state().schemas[-1].docs() == {"n": "number"}


def test_the_settings_that_hudi_needs(db):
    """For Hudi's sake scripts set them before they alter; here columns always have ids."""
    db.sql("set hoodie.schema.on.read.enable=true")
    db.sql("set hoodie.datasource.write.schema.allow.auto.evolution.column.drop = true")
    db.sql("alter table t rename column name to title; alter table t drop column price")
    assert rows(db, "select title from t") == [("a",)]


def test_refused(db):
    before = rows(db, "describe t")
    for statement, error in {
        "alter table t drop column id": SchemaConflictError,
        "alter table t rename column ts to ts2": SchemaConflictError,
        "alter table t drop column dt": SchemaConflictError,
        "alter table t add columns (NAME int)": SchemaConflictError,
        "alter table t alter column n type string; alter table t alter column n type int": SchemaConflictError,
        "alter table gone add columns (a int)": TableNotFoundError,
    }.items():
        with pytest.raises(error):
            db.sql(statement)
    assert [row[0] for row in rows(db, "describe t")] == [row[0] for row in before]


def test_options(db, tmp_path):
    db.sql("alter table t set tblproperties ('hoodie.parquet.small.file.limit' = '0', comment='x')")
    db.sql("alter table t set tblproperties (hoodie.upsert.shuffle.parallelism=1)")
    other = connect(tmp_path / "w")
    entry = other.session.catalog.find(TableName("default", "t"))
    assert entry.options["hoodie.parquet.small.file.limit"] == "0"
    assert entry.options["hoodie.upsert.shuffle.parallelism"] == "1"
    assert (entry.comment, entry.managed) == ("x", True)
    db.sql("insert into t select 2, 'b', 1.0, 1, null, 1, 'x'")
    assert len(HoodieTable.open(tmp_path / "w" / "t").file_slices()) == 2
    db.sql("alter table t unset tblproperties ('hoodie.parquet.small.file.limit')")
    with pytest.raises(SqlError, match="IF EXISTS"):
        db.sql("alter table t unset tblproperties ('hoodie.parquet.small.file.limit')")
    db.sql("alter table t unset tblproperties if exists ('hoodie.parquet.small.file.limit')")
    with pytest.raises(SqlError, match="was made with it"):
        db.sql("alter table t set tblproperties (primaryKey='name')")
    with pytest.raises(ConfigError):
        db.sql("alter table t set tblproperties ('hoodie.parquet.smal.file.limit'='0')")


def test_another_name(db, tmp_path):
    with pytest.raises(SqlError, match="named by its folder"):
        db.sql("alter table t rename to u")
    db.sql(f"create table far using hudi location '{tmp_path / 'w' / 't'}'")
    with pytest.raises(TableExistsError):
        db.sql("alter table far rename to t")
    with pytest.raises(SqlError, match="another database"):
        db.sql("create database d; alter table far rename to d.u")
    db.sql("alter table far rename to U")
    assert rows(db, "select id from u") == [(1,)]
    with pytest.raises(TableNotFoundError):
        db.sql("alter table far add columns (a int)")


def test_tables_of_the_engine_are_its_own(db):
    db.sql("create temporary table plain (a int); insert into plain values (1)")
    db.sql("alter table plain add column b int")
    assert rows(db, "select * from plain") == [(1, None)]
