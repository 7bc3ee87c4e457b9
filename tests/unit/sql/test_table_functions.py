"""Table functions of Hudi, and meta columns in queries."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.errors import ChangeRangeError, SqlError, TableNotFoundError, TimeTravelError
from hoodie.sql import connect

META = [
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
]


@pytest.fixture(params=["cow", "mor"])
def db(request, tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, name string, ts bigint, dt string) using hudi partitioned by (dt) "
            f"tblproperties (type = '{request.param}', primaryKey = 'id', preCombineField = 'ts')"
        )
        connection.sql("insert into t values (1, 'a', 1, 'x'), (2, 'b', 1, 'y'); update t set name = 'c' where id = 1")
        yield connection


def told(db, statement):
    return db.sql(statement).rows()


def times(tmp_path):
    return [str(i.completion_time) for i in HoodieTable.open(tmp_path / "t").timeline if i.is_completed]


def test_changes(db, tmp_path):
    first, second = times(tmp_path)
    call = "select id, name from hudi_table_changes('t', 'latest_state', {}) order by id"
    assert told(db, call.format("'earliest'")) == [(1, "c"), (2, "b")]
    assert told(db, call.format(f"'{first}'")) == [(1, "c")]
    assert told(db, call.format(f"'EARLIEST', {first}")) == [(1, "a"), (2, "b")]
    assert told(db, call.format(f"'{second}'")) == []
    with pytest.raises(TimeTravelError):
        db.sql(call.format("'yesterday'"))


def test_columns_of_changes(db):
    result = db.sql("select * from hudi_table_changes('default.t', 'latest_state', 'earliest') where id = 2")
    assert result.table.column_names == [*META, "id", "name", "ts", "dt"]
    assert result.table["_hoodie_partition_path"].to_pylist() == ["dt=y"]


def test_changes_beside_other_tables(db, tmp_path):
    (first, _) = times(tmp_path)
    query = f"select t.id, c.name from t join hudi_table_changes('t', 'latest_state', '{first}') c on t.id = c.id"
    assert told(db, query) == [(1, "c")]
    assert told(db, f"with c as ({query}) select count(*) from c") == [(1,)]
    path = tmp_path / "t"
    assert told(db, f"select count(*) from hudi_table_changes('{path}', 'latest_state', 'earliest')") == [(2,)]


def test_what_changed_is_written_to_another_table(db, tmp_path):
    (first, _) = times(tmp_path)
    db.sql("create table u using hudi tblproperties (primaryKey = 'id') as select * from hudi_query('t', 'snapshot')")
    assert told(db, "select * from u order by id") == [(1, "c", 1, "x"), (2, "b", 1, "y")]
    changes = f"select * from hudi_table_changes('t', 'latest_state', '{first}')"
    db.sql(
        f"insert overwrite u {changes}; set hoodie.spark.sql.insert.into.operation = upsert; insert into t {changes}"
    )
    assert told(db, "select * from u") == [(1, "c", 1, "x")]
    assert told(db, "select * from t order by id") == [(1, "c", 1, "x"), (2, "b", 1, "y")]


def test_kinds_of_query(db):
    names = [name for (name,) in told(db, "select name from hudi_query('t', 'read_optimized') order by id")]
    assert names in (["c", "b"], ["a", "b"])
    assert told(db, "select count(*) from hudi_query('t', 'incremental', 'earliest')") == [(2,)]
    with pytest.raises(SqlError, match="read_optimized"):
        db.sql("select * from hudi_query('t', 'cdc')")


def test_timeline(db, tmp_path):
    db.sql("call create_savepoint('t')")
    table = HoodieTable.open(tmp_path / "t")
    result = db.sql("select * from hudi_query_timeline('t')")
    assert result.table.column_names == [
        "Timestamp",
        "Action",
        "State",
        "Completion_Time",
        "File_Name",
        "Total_Bytes_Written",
        "Total_Files_Updated",
        "Total_Partitions_Written",
        "Total_Records_Written",
        "Total_Updated_Records_Written",
        "Total_Write_Errors",
    ]
    rows = result.rows()
    instants = sorted(table.timeline, key=lambda instant: (instant.time, instant.action))
    assert [row[:5] for row in rows] == [
        (str(i.time), str(i.action), "COMPLETED", str(i.completion_time), i.file_name) for i in instants
    ]
    assert [row[6:] for row in rows] == [(0, 2, 2, 0, 0), (1, 1, 1, 1, 0), (-1, -1, -1, -1, -1)]
    assert all(row[5] > 0 for row in rows[:2])
    assert told(db, "select action from hudi_query_timeline('t') x where x.total_records_written = 2") == [
        (str(instants[0].action),)
    ]


def test_archived_instants(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int) using hudi tblproperties (primaryKey = 'id')")
        for number in range(8):
            db.sql(f"insert into t values ({number})")
        before = told(db, "select * from hudi_query_timeline('t', true)")
        db.sql(
            "call run_clean('t', retain_commits => 1); "
            "call archive_commits('t', min_commits => 3, max_commits => 4, retain_commits => 1)"
        )
        shown = told(db, "select * from hudi_query_timeline('t', 'true') where action = 'commit'")
        assert shown == before
        assert len(told(db, "select * from hudi_query_timeline('t', 'false')")) < len(shown)


def test_rows_before_and_after_each_commit(db, tmp_path):
    db.sql("delete from t where id = 2")
    first, second, third = times(tmp_path)
    query = "select op, _hoodie_record_key, before.name, after.name from hudi_table_changes({})"
    whole = [("i", "1", None, "a"), ("i", "2", None, "b"), ("u", "1", "a", "c"), ("d", "2", "b", None)]
    assert told(db, query.format("'t', 'cdc', 'earliest'")) == whole
    assert told(db, query.format("'t', 'Earliest'")) == whole
    assert told(db, query.format(f"'t', 'CDC', '{first}', {second}")) == whole[2:3]
    assert told(db, query.format(f"'t', {second}")) == whole[3:]
    assert told(db, query.format(f"'t', '{first}', '{second}'")) == whole[2:3]
    assert told(db, query.format("'t', 'earliest'") + " c where c.after.id = 1 and op <> 'i'") == whole[2:3]
    assert told(db, query.format(f"'t', '{third}'")) == []
    changes = HoodieTable.open(tmp_path / "t").read_changes()
    assert db.sql("select * from hudi_table_changes('t', 'earliest')").table.equals(changes)
    both = "select count(*) from hudi_table_changes('t', 'earliest') a join hudi_table_changes('t', 'earliest') b using (op)"
    assert told(db, both) == [(6,)]


def test_changes_that_are_gone(tmp_path):
    """The error is that of the library, also when it comes while the engine reads."""
    with connect(tmp_path) as db:
        db.sql("create table t (id int, name string) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into t values (1, 'a')")
        for number in range(3):
            db.sql(f"update t set name = '{number}' where id = 1")
        db.sql("call run_clean('t', retain_commits => 1)")
        with pytest.raises(ChangeRangeError, match="clean"):
            db.sql("select count(*) from hudi_table_changes('t', 'cdc', 'earliest')")


MISTAKES = [
    ("hudi_table_changes('t', 'cdc')", SqlError, "earliest"),
    ("hudi_table_changes('t', 'earliest', '2026-01-01', '2026-01-02')", SqlError, "'cdc' or"),
    ("hudi_table_changes('t', '1 January')", TimeTravelError, "1 January"),
    ("hudi_table_changes('t', 'other', 'earliest')", SqlError, "latest_state"),
    ("hudi_table_changes('t', 'latest_state')", SqlError, "earliest"),
    ("hudi_table_changes('t', 'latest_state', now())", SqlError, "literals"),
    ("hudi_table_changes('nope', 'latest_state', 'earliest')", TableNotFoundError, "default.t"),
    ("hudi_query_timeline()", SqlError, "archived"),
]


def test_mistakes(db):
    for call, kind, words in MISTAKES:
        with pytest.raises(kind, match=words):
            db.sql(f"select * from {call}")


def test_meta_columns_are_there_where_a_query_names_one(db):
    assert db.sql("select * from t").table.column_names == ["id", "name", "ts", "dt"]
    named = db.sql("select * from t where _hoodie_partition_path = 'dt=x'")
    assert named.table.column_names == [*META, "id", "name", "ts", "dt"]
    assert told(db, "select _hoodie_record_key, id from t order by id") == [("1", 1), ("2", 2)]


def test_changes_of_rows_that_meta_columns_choose(db):
    db.sql("update t set name = _hoodie_record_key where _hoodie_partition_path = 'dt=y'")
    db.sql("delete from t where _hoodie_record_key = '1'")
    db.sql("insert into t partition (dt = 'z') select id + 10, name, ts from t where _hoodie_commit_time > '2'")
    assert told(db, "select * from t order by id") == [(2, "2", 1, "y"), (12, "2", 1, "z")]
    db.sql(
        "merge into t using (select * from t where _hoodie_commit_time > '2') s on t.id = s.id "
        "when matched then update set name = 'm'"
    )
    assert told(db, "select distinct name from t") == [("m",)]
