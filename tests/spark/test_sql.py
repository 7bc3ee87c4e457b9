"""Statements on Spark: those that are tested on DuckDB have the same outcome, and a query reads no more than it needs."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from types import FunctionType

import pytest

from hoodie import SYNC, HoodieTable
from hoodie.errors import ArgumentError, HoodieError, SqlError
from hoodie.spark import write
from hoodie.sql import connect
from hoodie.sql.spark import engine as spark_engine
from hudi_services.cli.program import main
from tests.support.matrix import sample
from tests.support.metastore import MemoryMetastore
from tests.support.sql_tables import CREATE, ROWS, rows
from tests.unit.sql import test_dml, test_statements

_OF_DUCKDB = {"test_the_engines_own_tables", "test_only_tables_change"}
_DEEP = {
    "test_a_call_of_nothing",
    "test_a_merge_takes_names_without_table_from_the_side_that_has_a_row",
    "test_a_table_elsewhere",
    "test_a_table_that_names_no_format_is_one_of_hudi",
    "test_an_insert_into_a_table_with_ordering_is_an_upsert",
    "test_an_insert_takes_no_rows_out_of_a_table",
    "test_an_overwrite_without_rows_empties_the_partition_of_null",
    "test_an_update_that_would_be_lost_is_refused",
    "test_changes_may_begin_by_with",
    "test_databases",
    "test_if_exists",
    "test_indexes_of_the_metadata_table_are_refused_by_name",
    "test_insert_by_name_of_the_querys_columns",
    "test_merge_deletes",  # test_merge_writes_and_deletes_in_one_commit remains
    "test_merge_updates_and_inserts",  # the same
    "test_mistakes_are_told_and_nothing_changes",
    "test_no_fraction_is_dropped_from_a_whole_number",
    "test_overwrite_of_a_partition",
    "test_overwrite_of_the_table",
    "test_rows_ordered_by_a_field_inside_a_struct",
    "test_several_rows_of_the_source_for_one_key",  # test_keys_are_compared_as_the_table_stores_them has it, too
    "test_statements_of_databases_do_what_they_say",
    "test_transactions_are_refused",
    "test_truncate",
    "test_truncate_of_a_partition_leaves_the_others",
    "test_two_names_of_one_table_are_one_table",
    "test_update",  # test_rows_are_not_held_in_the_driver and others update
    "test_what_is_not_understood_is_refused_whole",
}
_DEEP_REASON = "the statement is read and planned before an engine gets it, and `unit` runs it on DuckDB"


def _marked(test):
    """The same test with a mark of its own: the mark of a function holds for all who import it."""
    copied = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
    copied.pytestmark = [*getattr(test, "pytestmark", ()), pytest.mark.deep(_DEEP_REASON).mark]
    return copied


for module in (test_dml, test_statements):
    for name, test in vars(module).items():
        if name.startswith("test_") and name not in _OF_DUCKDB:
            globals()[name] = _marked(test) if name in _DEEP else test


@pytest.fixture
def db(spark, tmp_path):
    """A table that DuckDB made, in a tenth of the time."""
    with connect(tmp_path) as connection:
        connection.sql(CREATE.format(kind="mor"))
        connection.sql(ROWS)
    with connect(tmp_path, spark=spark) as connection:
        yield connection


@pytest.fixture
def plans(monkeypatch):
    """The queries that tables get, in turn."""
    asked, plan = [], spark_engine.plan_snapshot

    def planned(state, query):
        asked.append(query)
        return plan(state, query)

    monkeypatch.setattr(spark_engine, "plan_snapshot", planned)
    return asked


def test_a_query_reads_the_columns_and_partitions_that_it_needs(db, plans):
    query = "select x.id, upper(x.n) from (select *, name as n from t) x where x.dt = 'y' and x.price > 3"
    assert rows(db, query) == [(3, "C")]
    (asked,) = plans
    assert sorted(asked.columns) == ["dt", "id", "name", "price"]
    assert str(asked.filter) == '(dt == "y")'


@pytest.mark.parametrize(
    ("condition", "filters", "found"),
    sample(
        [
            ("a.dt in ('x', 'q') and b.dt <> 'x'", ["is_in(dt", None], []),
            ("a.dt >= 'y' and a.dt < 'z'", ['(dt < "z")', '(dt >= "y")'], [3]),
            ("a.dt = 'y' or a.id = 1", [None], [1, 3]),
            ("a.dt is null", [None], []),
            ("a.dt like 'y%'", [None], [3]),
            ("a.id in (select id from t where dt = 'y')", [], [3]),
            ("not exists (select 1 from t c where c.id = a.id and c.dt = 'x')", [], [3]),
            ("(select max(id) from t where dt = 'x') = a.id", [None], [2]),
        ],
        1,
        2,
        5,
        7,
    ),
)
def test_only_what_every_row_passes_leaves_partitions_out(db, plans, condition, filters, found):
    query = f"select a.id from t a left join t b on a.id = b.id and b.dt = a.dt where {condition} order by 1"
    assert [row[0] for row in rows(db, query)] == found
    told = " ".join(str(asked.filter) for asked in plans)
    assert all(each in told for each in filters if each is not None)


def test_the_plan_of_spark_is_shown_and_nothing_is_written(db):
    before = rows(db, "select * from t order by id")
    for statement, first in (
        ("select id from t where price > 3", "table t at "),
        ("update t set price = 9 where id = 1", "table default.t: one commit by the operation upsert"),
        ("delete from t where id = 1", "table default.t: one commit by the operation delete"),
        (
            "merge into t using (select 1 as id, 'x' as dt) s on t.id = s.id when matched then delete",
            "table default.t: one commit by the operation upsert",
        ),
    ):
        lines = [line for (line,) in rows(db, f"explain {statement}")]
        assert lines[0].startswith(first)
        assert "plan of Spark:" in lines
        assert any(line.startswith("== Physical Plan") for line in lines)
    assert rows(db, "select * from t order by id") == before
    assert "nothing was changed" in db.sql("explain vacuum t").message


def test_a_condition_on_the_side_that_may_be_missing(db, plans):
    query = "select a.id, b.id from t a left join t b on a.id = b.id and b.dt = 'y' order by 1"
    assert rows(db, query) == [(1, None), (2, None), (3, 3)]
    assert sorted(str(asked.filter) for asked in plans) == ['(dt == "y")', "None"]


def test_tables_and_views_of_the_session(db, spark):
    db.sql("create or replace temporary view v as select 1 as id")
    assert rows(db, "select v.id, t.name from v join t on v.id = t.id") == [(1, "a")]
    db.sql("create or replace temporary view t as select 5 as id")
    assert rows(db, "select * from t") == [(5,)]
    db.sql("drop view t; drop view v")
    assert len(rows(db)) == 3
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith("__hoodie")]


def test_rows_are_not_held_in_the_driver(db, spark, tmp_path):
    """The rows that a statement reads and writes stay with the workers."""
    before = HoodieTable.open(tmp_path / "t").read(columns=["id"]).num_rows
    db.sql("insert into t select cast(id + 10 as int), cast(id as string), id, id, 'big' from range(0, 20000, 1, 4)")
    assert rows(db, "select count(*), count(distinct id) from t") == [(20_000 + before, 20_000 + before)]
    db.sql("update t set price = price + 1 where dt = 'big' and id % 2 = 0")
    assert rows(db, "select sum(price - ts) from t where dt = 'big'") == [(10_000.0,)]
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


@pytest.mark.parametrize(
    ("statement", "words"),
    sample(
        [
            ("insert into t select 3000000000, 'a', 1, 1, 'x'", "column id"),
            ("update t set id = id + 1", "keys"),
            ("update t set price = 1 / 0", "DIVIDE_BY_ZERO"),
            ("insert into t select cast(id as int), 'a', 1 / (id - 1), 1, 'x' from range(3)", "DIVIDE_BY_ZERO"),
            ("select nothing(id) from t", "nothing"),
        ],
        0,
        3,
        4,
    ),
)
def test_what_spark_or_a_worker_raises(db, statement, words):
    before = rows(db)
    with pytest.raises(HoodieError, match=words):
        db.sql(statement)
    assert rows(db) == before


@pytest.fixture(params=sample(["UTC", "America/New_York"], 1))
def zone(request, spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.deep("test_types_arrive_as_by_the_other_call writes both kinds of times in another zone")
def test_times_of_a_data_frame(spark, tmp_path, zone):
    """They are moments, however the session shows them; those without a zone stay what they say."""
    HoodieTable.create(tmp_path / "m", {"hoodie.table.name": "m", "hoodie.table.recordkey.fields": "id"})
    frame = spark.sql("select 1 id, timestamp '2026-07-01 00:00:00Z' at, timestamp_ntz '2026-07-01 00:00:00' plain")
    write(frame, tmp_path / "m")
    (row,) = HoodieTable.open(tmp_path / "m").read().to_pylist()
    assert row["at"] == datetime(2026, 7, 1, tzinfo=UTC)
    assert row["plain"] == datetime(2026, 7, 1)


def test_decimals_and_times_keep_every_digit(spark, tmp_path, zone):
    with connect(tmp_path, spark=spark) as db:
        db.sql(
            "create table m (id int, amount decimal(20, 4), at timestamp, plain timestamp_ntz, day date, tags array<string>, "
            "s struct<a: int, b: string>, raw binary) using hudi tblproperties (primaryKey = 'id')"
        )
        db.sql(
            "insert into m select 1, 1234567890123456.7891, timestamp '2026-01-01 00:00:00.123456', "
            "timestamp_ntz '1969-12-31 23:59:59.999999', date '0999-01-01', array('a', null), "
            "named_struct('a', 1, 'b', 'x'), x'00ff'"
        )
        with connect(tmp_path) as other:
            (row,) = other.sql("select * from m").rows()
            assert db.sql("select * from m").rows() == [row]
            assert row[1] == Decimal("1234567890123456.7891")
            assert row[3:5] == (datetime(1969, 12, 31, 23, 59, 59, 999999), date(999, 1, 1))
        with pytest.raises(SqlError, match="amount"):
            db.sql("insert into m (id, amount) values (2, 0.12345)")


def test_the_command_runs_on_spark(spark, tmp_path, capsys):
    script = "create table c (id int) using hudi tblproperties (primaryKey = 'id'); insert into c values (7)"
    where = ["sql", "--warehouse", str(tmp_path), "--engine", "spark"]
    assert main([*where, "-e", script]) == 0
    view = f"create or replace temporary view of_c using hoodie options (path '{tmp_path}/c')"
    query = "select v.id + 1 id, typeof(c.id) kind from of_c v join c on v.id = c.id"
    assert main([*where, "--json", "-e", f"{view}; {query}"]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": 8, "kind": "int"}
    assert main([*where, "-e", "select nope from c"]) != 0
    assert "Relation" not in capsys.readouterr().err
    assert main(["sql", "--warehouse", str(tmp_path), "--spark-master", "local", "-e", "select 1"]) == 2


def test_a_session_that_was_stopped(tmp_path):
    with pytest.raises(ArgumentError):
        connect(tmp_path, spark="spark")


@pytest.mark.deep("test_changes.py asks for changes by a statement, and `unit` asks for the timeline on DuckDB")
def test_functions_that_stand_for_a_table(db):
    """Those that give rows of a table, and those that give a table of their own."""
    db.sql("update t set price = 0 where id = 2")
    assert rows(db, "select id from hudi_table_changes('t', 'latest_state', 'earliest') where dt = 'x' order by 1") == [
        (1,),
        (2,),
    ]
    assert rows(db, "select count(*) from hudi_query_timeline('t') where State = 'COMPLETED'") == [(2,)]


def test_tables_of_a_metastore(spark, tmp_path):
    """The pair of a merge-on-read table, one of whose names leaves out logs; changes and their sync; tables of other formats."""
    metastore = MemoryMetastore(tmp_path)
    try:
        with connect(metastore.uri, spark=spark) as db:
            db.sql(CREATE.format(kind="mor").replace("partitioned by (dt)", ""))
            db.sql(ROWS)
            places = {"mode": "hms", "metastore.uris": metastore.uri}
            HoodieTable.open(tmp_path / "warehouse/t").run(
                SYNC, {f"hoodie.datasource.hive_sync.{key}": value for key, value in places.items()}
            )
            db.sql("update t set price = price + 1 where id < 3")
            joined = "select a.id, a.price, b.price from t_ro a join t_rt b on a.id = b.id order by 1"
            assert rows(db, joined) == [(1, 10.5, 11.5), (2, 20.0, 21.0), (3, 30.0, 30.0)]
            with pytest.raises(SqlError, match="without its logs"):
                db.sql("delete from t_ro where id = 1")
            metastore.add("default", "plain", f"file:{tmp_path}/plain", inputFormat="a.TextInputFormat")
            for query in ("select * from default.plain", "select * from t join default.plain using (id)"):
                with pytest.raises(SqlError, match=r"default.plain .*is not a Hudi table: a.TextInputFormat"):
                    db.sql(query)
    finally:
        metastore.stop()


def test_keys_are_compared_as_the_table_stores_them(db):
    once = "(select 1 as id, 'n' as name, 1 as price, 9 as ts, 'x' as dt)"
    with pytest.raises(SqlError, match=r"under a key that the table has.*id=1, dt='x'"):
        db.sql(
            f"merge into t using {once} s on t.id = s.id + 1 and t.dt = s.dt and t.dt <> 'x' when not matched then insert *"
        )
    twice = (
        "(select 1 as id, 'n' as name, 1 as price, 9 as ts, x as dt from values (cast(null as string)), ('') as v(x))"
    )
    with pytest.raises(SqlError, match="Several rows are for one row of the table: id=1, dt="):
        db.sql(f"merge into t using {twice} s on t.id = s.id and t.dt = s.dt when not matched then insert *")


@pytest.mark.deep("null is compared in the rows of the source above, and `unit` has it on DuckDB")
def test_a_key_of_the_table_is_null(db):
    merge = "merge into t using (select 8 as id, 'n' as name, 1 as price, 9 as ts, cast(null as string) as dt) s on {}"
    db.sql(merge.format("t.id = s.id when not matched then insert *"))
    with pytest.raises(SqlError, match=r"under a key that the table has.*id=8, dt=None"):
        db.sql(merge.format("t.id = s.id and t.dt = s.dt when not matched then insert *"))


def test_an_unknown_column_is_named_with_its_table_as_on_duckdb(db):
    columns = db.sql("select * from t").table.schema.names
    with pytest.raises(SqlError) as raised:
        db.sql("select x.no_column from t x")
    assert raised.value.what == "Table t has no column 'no_column'"
    assert raised.value.found.startswith("columns of t: ")
    assert all(name in raised.value.found for name in columns)
    with pytest.raises(SqlError, match="Spark cannot run"):
        db.sql("select no_such_function(1) from t")
