"""Effects of statements on tables of a warehouse."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.errors import SqlError, TableExistsError, TableNotFoundError, TimeTravelError
from hoodie.sql import connect
from tests.support.sql_tables import rows


def test_a_script_says_the_number_and_line_of_a_mistake(db):
    for script, place in (
        ("SELECT 1;\n\nSELECT 1/0; SELECT 2", "Statement 2, line 3: (DuckDB|Spark) cannot run: SELECT 1/0"),
        ("-- SELECT 1\nSELECT 1;\n/* ; */ selec 2", "Statement 2, line 3: A statement cannot be read"),
        ("selec 1", "A statement cannot be read"),
    ):
        with pytest.raises(SqlError, match=f"^{place}"):
            db.sql(script)


@pytest.mark.parametrize("table", ["", " FROM (SELECT * FROM t LIMIT 1)"])
def test_one_dialect_with_a_table_and_without(db, table):
    assert db.sql(f"SELECT 7 div 2 AS a, array('x') AS b, 1/2 AS c{table}").rows() == [(3, ["x"], 0.5)]
    with pytest.raises(SqlError, match=r"[Dd]ivision by zero"):
        db.sql(f"SELECT 1/0{table}")
    db.sql("CREATE OR REPLACE TEMPORARY VIEW whole AS SELECT 9 div 2 AS n")
    assert db.sql("SELECT n FROM whole").rows() == [(4,)]


def test_a_table_is_one_of_hudi(db, tmp_path):
    table = HoodieTable.open(tmp_path / "t")
    assert table.properties.record_key_fields == ("id",)
    assert table.properties.partition_fields == ("dt",)
    assert {path.name for path in (tmp_path / "t").iterdir()} == {".hoodie", "dt=x", "dt=y"}
    assert sorted(table.read()["id"].to_pylist()) == [1, 2, 3]


def test_a_table_that_names_no_format_is_one_of_hudi(db, tmp_path):
    db.sql("create table u (id int, v string); insert into u values (1, 'a'); create table w as select id from u")
    with connect(tmp_path) as other:
        assert other.sql("select u.id, v, w.id from u, w").rows() == [(1, "a", 1)]
    assert HoodieTable.open(tmp_path / "w").schema.names == ["id"]


def test_a_moment_of_a_server_needs_its_cuts(db):
    for text in ("select * from t as of source 'cut 1'", "delete from t As Of\nSource 'cut 1' -- that"):
        with pytest.raises(SqlError, match="AS OF SOURCE needs the cuts of a database server"):
            db.sql(text)
    assert rows(db, "select count(*) from t where name <> ' as of source ' and name <> 'as of source'") == [(3,)]
    with pytest.raises(SqlError, match="cannot be read"):
        db.sql("select * from t as of source cut")


def test_queries(db):
    assert rows(db) == [(1, "a", 10.5, 1, "x"), (2, "b", 20.0, 1, "x"), (3, "c", 30.0, 1, "y")]
    assert rows(db, "select dt, sum(ts), count(*) from t group by dt order by 1") == [("x", 2, 2), ("y", 1, 1)]
    assert rows(
        db, "select a.id from t a join default.t b on a.id = b.id + 1 where default.b.id > 1 or a.id = 2 order by 1"
    ) == [
        (2,),
        (3,),
    ]
    assert rows(db, "with t as (select 5 as five) select * from t") == [(5,)]
    assert rows(db, "with u as (select * from t) select count(*) from u, t") == [(9,)]
    assert rows(db, "select 1 + 1") == [(2,)]


def test_overwrite_of_a_partition(db):
    db.sql("insert overwrite t partition (dt = 'x') values (7, 'o', 1.0, 1)")
    assert rows(db) == [(3, "c", 30.0, 1, "y"), (7, "o", 1.0, 1, "x")]
    db.sql("insert overwrite t partition (dt = 'x') select id, name, price, ts from t where id = 0")
    assert rows(db) == [(3, "c", 30.0, 1, "y")]


def test_overwrite_of_the_table(db):
    db.sql("insert overwrite t select id + 10, name, price, ts, dt from t where id > 1")
    assert [row[0] for row in rows(db)] == [12, 13]
    db.sql("set hoodie.datasource.overwrite.mode = dynamic; insert overwrite t values (1, 'a', 1, 1, 'y')")
    assert [row[0] for row in rows(db)] == [1, 12]


def test_truncate(db):
    db.sql("truncate table t")
    assert rows(db) == []


def test_truncate_of_a_partition_leaves_the_others(db):
    db.sql("truncate table t partition (DT = 'x')")
    assert rows(db) == [(3, "c", 30.0, 1, "y")]
    assert "no row" in db.sql("truncate table t partition (dt = 'w')").message
    for clause in ("(name = 'c')", "(dt)", "(dt = 'y', dt = 'y')"):
        with pytest.raises(SqlError):
            db.sql(f"truncate table t partition {clause}")
    assert rows(db) == [(3, "c", 30.0, 1, "y")]


def test_an_overwrite_without_rows_empties_the_partition_of_null(db):
    db.sql("insert into t values (4, 'd', 1.0, 1, null)")
    db.sql("insert overwrite t partition (dt = null) select 5, 'e', 1.0, 1 where false")
    assert [row[0] for row in rows(db)] == [1, 2, 3]
    db.sql("insert into t values (4, 'd', 1.0, 1, null); truncate table t partition (dt = null)")
    assert [row[0] for row in rows(db)] == [1, 2, 3]


def test_an_overwrite_takes_all_partitions_that_a_part_of_the_columns_names(tmp_path):
    with connect(tmp_path) as db:
        db.sql(
            "create table q (id int, p string, r int) using hudi tblproperties (primaryKey = 'id') partitioned by (p, r)"
        )
        db.sql("insert into q values (1, 'x', 1), (2, 'x', 2), (3, 'y', 1), (4, null, 2)")
        db.sql("insert overwrite q partition (p = 'x', r) select 9, 7")
        assert rows(db, "select id from q order by id") == [(3,), (4,), (9,)]
        db.sql("set hoodie.datasource.overwrite.mode = dynamic; insert overwrite q partition (p = 'x') select 10, 8")
        assert rows(db, "select id from q order by id") == [(3,), (4,), (9,), (10,)]
        db.sql("set hoodie.datasource.overwrite.mode = all")
        with pytest.raises(SqlError, match="static or dynamic"):
            db.sql("insert overwrite q partition (p = 'x') select 11, 8")


def test_insert_by_name_of_the_querys_columns(db):
    db.sql("insert into t by name select 'y' as dt, 9 as ts, 'n' as NAME, 50 as id")
    db.sql("insert overwrite t partition (dt = 'x') by name select 9 as ts, 51 as id")
    assert rows(db, "select id, name, ts, dt from t order by id") == [
        (3, "c", 1, "y"),
        (50, "n", 9, "y"),
        (51, None, 9, "x"),
    ]
    for statement in (
        "insert into t by name select 1 as id, 2 as other",
        "insert into t by name select 1 as id, 2 as ID",
        "insert into t (id) by name select 1 as id",
    ):
        with pytest.raises(SqlError):
            db.sql(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "insert into t replace where dt = 'x' select 1, 'a', 1.0, 1, 'x'",
        "insert into t select 1, 'a', 1.0, 1, 'x' returning *",
        "with a as (select 1) insert into t with b as (select 1) select 1, 'a', 1.0, 1, 'x' from b",
        "update t version as of '2020' set name = 'z'",
        "delete from t timestamp as of '2020' where id = 1",
        "delete from t tablesample (1 rows)",
        "delete from t where id = 1 limit 1",
        "update t set name = 'z' where id = 1 order by id limit 1",
        "with t as (select 1 as id) delete from t where id = 1",
    ],
)
def test_what_is_not_understood_is_refused_whole(db, statement):
    before = rows(db)
    with pytest.raises(SqlError):
        db.sql(statement)
    assert rows(db) == before


def test_insert_by_names(db):
    db.sql("insert into t (ts, ID) values (5, 50); insert into t partition (dt = 'w') (id, ts) values (51, 5)")
    assert rows(db, "select id, name, ts, dt from t where id >= 50 order by id") == [
        (50, None, 5, None),
        (51, None, 5, "w"),
    ]


@pytest.mark.parametrize(("operation", "count"), [(None, 3), ("upsert", 3), ("insert", 4), ("bulk_insert", 4)])
def test_an_insert_into_a_table_with_ordering_is_an_upsert(db, operation, count):
    if operation is not None:
        db.sql(f"set hoodie.spark.sql.insert.into.operation = {operation}")
    db.sql("insert into t values (1, 'again', 1.0, 5, 'x')")
    assert len(rows(db)) == count


@pytest.mark.parametrize("operation", ["delete", "insert_overwrite_table", "delete_partition", "upser"])
def test_an_insert_takes_no_rows_out_of_a_table(db, operation):
    db.sql(f"set hoodie.spark.sql.insert.into.operation = {operation}")
    with pytest.raises(SqlError, match="bulk_insert"):
        db.sql("insert into t values (1, 'again', 1.0, 5, 'x')")
    assert len(rows(db)) == 3


def test_time_travel(db, tmp_path):
    first = next(i.time for i in HoodieTable.open(tmp_path / "t").timeline if i.is_completed)
    db.sql("delete from t where id = 1")
    assert rows(db, f"select count(*) from t timestamp as of '{first}'") == [(3,)]
    assert rows(db, f"select count(*) from t version as of {first} a, t b") == [(6,)]
    with pytest.raises(TimeTravelError):
        db.sql("select * from t timestamp as of '2020-01-01'")


def test_a_table_of_a_query(db):
    db.sql("create table c using hudi tblproperties (primaryKey = 'id') partitioned by (dt) as select dt, id from t")
    assert rows(db, "select * from c order by id") == [(1, "x"), (2, "x"), (3, "y")]
    assert rows(db, "show tables") == [("default", "c", False), ("default", "t", False)]
    db.sql("drop table c")
    assert rows(db, "show tables") == [("default", "t", False)]


def test_databases(db, tmp_path):
    db.sql(
        "create database if not exists Sales; use sales; create table o (id int) using hudi tblproperties (primaryKey='id')"
    )
    db.sql("insert into o values (1); insert into default.t select id, 'o', 1, 1, 'o' from o")
    assert rows(db, "select name, dt from default.t where id = 1 order by dt") == [("o", "o"), ("a", "x")]
    assert (tmp_path / "sales.db" / "o" / ".hoodie").is_dir()
    with pytest.raises(SqlError, match="not empty"):
        db.sql("drop database sales")
    db.sql("drop database sales cascade")
    assert rows(db, "show databases") == [("default",)]


def test_statements_of_databases_do_what_they_say(db):
    db.sql("create schema d; create database e comment 'x'; create schema if not exists d; drop schema if exists nope")
    assert rows(db, "show databases") == [("d",), ("default",), ("e",)]
    refused = {
        "create database d": "there already.*IF NOT EXISTS",
        "create database f location '/lake/f'": r"has no LOCATION '/lake/f'.*give tables a LOCATION",
        "drop database nope": "no database nope.*d, default, e.*IF EXISTS",
    }
    for statement, told in refused.items():
        with pytest.raises(SqlError, match=told):
            db.sql(statement)
    db.sql("drop schema d; drop database e cascade")
    assert rows(db, "show databases") == [("default",)]


def test_a_table_elsewhere(db, tmp_path):
    place = tmp_path / "elsewhere"
    db.sql(
        f"create table e (id int) using hudi tblproperties (primaryKey='id') location '{place}'; insert into e values (1)"
    )
    db.sql("drop table e")
    assert (place / ".hoodie").is_dir()
    db.sql(f"create table again using hudi location '{place}'")
    assert rows(db, "select * from again") == [(1,)]


def test_the_engines_own_tables(db):
    db.sql(
        "create temporary view v as select 1 as id; create temporary table plain (a int); insert into plain values (5)"
    )
    assert rows(db, "select v.id, t.name, a from v join t on v.id = t.id, plain") == [(1, "a", 5)]
    assert rows(db, "update plain set a = 6; select * from plain") == [(6,)]
    with pytest.raises(SqlError, match="USING hudi"):
        db.sql("insert into plain select id from t")


MISTAKES = [
    ("select * from nothing", TableNotFoundError, "default.t"),
    ("selec 1", SqlError, "character 7"),
    ("update t set id = 4", SqlError, "part of the keys"),
    ("update t set dt = 'z'", SqlError, "part of the keys"),
    ("update t set nope = 4", SqlError, "no column nope"),
    ("update t set name = 'x', NAME = 'y'", SqlError, "twice"),
    ("insert into t values (1)", SqlError, "1 columns for 5"),
    ("insert into t values ('x', 'a', 1, 1, 'x')", SqlError, "type string"),
    ("insert into t values (3000000000, 'a', 1, 1, 'x')", SqlError, "column id"),
    ("insert into t partition (name = 'x') values (1, 1, 1, 'x')", SqlError, "not a partition column"),
    ("create table t (id int) using hudi", TableExistsError, "IF NOT EXISTS"),
    ("create table `../x` (id int) using hudi", SqlError, "letters"),
    ("create table u (id int, ID string) using hudi", SqlError, "twice"),
    ("create table u as select id, 1 as ID from t", SqlError, "one name"),
    ("create table u (id interval) using hudi", SqlError, "type"),
    ("create table no.u (id int) using hudi", SqlError, "no database"),
    ("drop table nothing", TableNotFoundError, "nothing"),
    ("merge into t using t on t.id = t.id when matched then delete", SqlError, "alias"),
    (
        "merge into t using (select 1 id) s on t.id = s.id when not matched then insert *",
        SqlError,
        "no column name",
    ),
    (
        "merge into t using (select 1 id) s on t.id = s.id when not matched then insert (name) values ('x')",
        SqlError,
        "key",
    ),
    ("merge into t using (select 1 id) s on t.id = s.id when matched then update set id = 5", SqlError, "keys"),
    ("use nothing", SqlError, "default"),
    ("select * from a.b.t", SqlError, "three parts"),
    ("select nope from t", SqlError, "nope"),
]


def test_mistakes_are_told_and_nothing_changes(db):
    before = rows(db)
    for statement, kind, words in MISTAKES:
        with pytest.raises(kind, match=words):
            db.sql(statement)
        assert rows(db) == before, statement


def test_if_exists(db):
    assert "is there" in db.sql("create table if not exists t (id int) using hudi").message
    assert "no such" in db.sql("drop table if exists nothing").message


def test_two_names_of_one_table_are_one_table(db, tmp_path, monkeypatch):
    """Rows that a statement computes of the table itself are computed again when another commit comes between."""
    from hoodie.sql import dml

    db.sql(f"create table other using hudi location 'file://{tmp_path}/t/'")
    looked = []
    monkeypatch.setattr(dml, "refuse_stale", lambda *states: looked.append(states))
    db.sql("insert into t select id + 10, name, price, ts, dt from other")
    assert len(looked) == 1
    assert len(rows(db)) == 6


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("create index i on orders (n)", "CREATE INDEX"),
        (
            "CREATE INDEX IF NOT EXISTS `i` ON TABLE default.orders USING column_stats(n) OPTIONS(expr='lower')",
            "CREATE INDEX",
        ),
        ("drop index if exists i on orders", "DROP INDEX"),
        ("refresh index i on `orders`", "REFRESH INDEX"),
        ("show indexes from orders", "SHOW INDEXES"),
    ],
)
def test_indexes_of_the_metadata_table_are_refused_by_name(tmp_path, statement, named):
    with connect(tmp_path) as db:
        db.sql("create table orders (id string, n int) using hudi tblproperties (primaryKey = 'id')")
        with pytest.raises(SqlError, match=f"{named} is not supported for Hudi tables, such as default.orders"):
            db.sql(statement)
        db.sql("create temporary table plain (n int); create index i on plain (n)")  # DuckDB's own


@pytest.mark.parametrize(
    "statement",
    [
        "insert overwrite directory '/nowhere' select * from t",
        "insert overwrite directory '/nowhere' select 1",
        "insert into function f(1) select 1",
        "delete from (select 1)",
        "delete t where id = 1",
        "merge into (select 1) x using t on true when matched then delete",
        "truncate table f(x)",
    ],
)
def test_only_tables_change(db, statement):
    with pytest.raises(SqlError, match="something else than a table"):
        db.sql(statement)


@pytest.mark.parametrize("statement", ["begin", "START TRANSACTION", "rollback", "Abort"])
def test_transactions_are_refused(db, statement):
    with pytest.raises(SqlError, match="commit of its own"):
        db.sql(statement)


def test_a_call_of_nothing(db):
    with pytest.raises(SqlError):
        db.sql("call")


def test_all_rows_of_a_table_by_its_name(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int, v string) using hudi; create table u (id int, v string) using hudi")
        db.sql("insert into u values (1, 'a'); insert into t table u; insert into table t (id, v) table default.u")
        assert db.sql("table t").rows() == [(1, "a"), (1, "a")]
        db.sql("insert overwrite t table u")
        assert db.sql("TABLE `t`").rows() == [(1, "a")]


def test_a_misspelt_first_word_is_named(tmp_path):
    with connect(tmp_path) as db:
        with pytest.raises(SqlError, match="Found: 'SELCT' where SELECT may be meant; "):
            db.sql("SELCT * FROM t")
        with pytest.raises(SqlError) as raised:
            db.sql("SELECT 'abc FROM t")
        assert "may be meant" not in str(raised.value)


def test_tables_with_similar_names_are_named_first(tmp_path):
    with connect(tmp_path) as db:
        for name in [*(f"a{number}" for number in range(10)), "orders"]:
            db.sql(f"create table {name} (id int) using hudi tblproperties (primaryKey = 'id')")
        with pytest.raises(TableNotFoundError, match=r"Found: default\.orders, "):
            db.sql("SELECT * FROM ordres")
