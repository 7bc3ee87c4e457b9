"""UPDATE, DELETE and MERGE INTO: which rows change, and what is refused before any does."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie import COMPACTION, HoodieTable
from hoodie.errors import ConfigError, RecordKeyError, SqlError
from hoodie.sql import connect
from hoodie.write.pipeline import Pipeline
from tests.support.sql_tables import rows


def test_update(db):
    db.sql(
        "update t set price = price * 2, T.Name = upper(name) where id in (select id from t where ts = 1 and id < 3)"
    )
    assert rows(db) == [(1, "A", 21.0, 1, "x"), (2, "B", 40.0, 1, "x"), (3, "c", 30.0, 1, "y")]
    assert "no row" in db.sql("update t set name = 'z' where id = 99").message


def test_columns_of_names_that_queries_use_themselves_change_nothing(tmp_path):
    columns = pa.schema([("id", pa.int32()), ("v", pa.string()), ("__hoodie_value_0_1", pa.string())])
    HoodieTable.create(tmp_path / "c", {"hoodie.table.name": "c", "hoodie.table.recordkey.fields": "id"}, columns)
    with connect(tmp_path) as db:
        db.sql("insert into c values (1, 'a', 'x')")
        for statement in (
            "update c set v = 'b'",
            "merge into c using (select 1 as id) s on c.id = s.id when matched then delete",
            "with __hoodie_0 as (select 1 as id) delete from c where id in (select id from __hoodie_0)",
            "create table d (id int, __HOODIE_x int) using hudi",
            "create table d using hudi as select 1 as __hoodie_x",
            "alter table c add columns (__hoodie_x int)",
            "alter table c rename column v to __hoodie_x",
        ):
            with pytest.raises(SqlError, match=r"library's own.*begins with __hoodie_"):
                db.sql(statement)
        assert rows(db, "select * from c") == [(1, "a", "x")]
        assert rows(db, "show tables") == [("default", "c", False)]
        db.sql("alter table c rename column __hoodie_value_0_1 to w; update c set v = 'b'")
        source = "select 1 as id, 2 as __hoodie_in_table"
        with pytest.raises(SqlError, match="library's own"):
            db.sql(f"merge into c using ({source}) s on c.id = s.id when matched then delete")
        assert rows(db, "select * from c") == [(1, "b", "x")]


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_the_way_to_lower_an_ordering_value(tmp_path, kind):
    """A deletion in a log is forgotten once a later row of the key follows: the stored row would come back."""
    with connect(tmp_path) as db:
        options = f"type = '{kind}', primaryKey = 'id', preCombineField = 'ts'"
        db.sql(f"create table o (id int, v string, ts int) using hudi tblproperties ({options})")
        db.sql("insert into o values (1, 'old', 5)")
        with pytest.raises(SqlError, match=r"DELETE the rows, (run .*compact --force`, )?then INSERT") as refused:
            db.sql("update o set v = 'new', ts = 4")
        assert ("compact" in refused.value.fix) == (kind == "mor")
        db.sql("delete from o")
        if kind == "mor":
            HoodieTable.open(tmp_path / "o").schedule(COMPACTION, force=True)
            HoodieTable.open(tmp_path / "o").run(COMPACTION)
        db.sql("insert into o values (1, 'new', 4)")
        assert rows(db, "select v, ts from o") == [("new", 4)]


def test_rows_of_one_key_are_not_changed_into_one(tmp_path):
    with connect(tmp_path) as db:
        db.sql("set hoodie.spark.sql.insert.into.operation = insert")
        db.sql("create table d (id int, v string) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into d values (1, 'a'), (1, 'b'), (2, 'c')")
        with pytest.raises(SqlError, match="Several rows"):
            db.sql("update d set v = concat(v, '!')")
        db.sql("update d set v = 'z' where id = 2")
        assert sorted(rows(db, "select v from d")) == [("a",), ("b",), ("z",)]


def test_a_merge_gives_a_key_one_row_where_keys_are_of_the_whole_table(tmp_path):
    with connect(tmp_path) as db:
        db.sql(
            "create table g (id int, p string) using hudi partitioned by (p) "
            "tblproperties (primaryKey = 'id', 'hoodie.index.type' = 'GLOBAL_SIMPLE')"
        )
        source = "select 5 as id, 'x' as p union all select 5, 'y'"
        with pytest.raises(SqlError, match="Several rows"):
            db.sql(f"merge into g using ({source}) s on g.id = s.id when not matched then insert *")
        assert rows(db, "select * from g") == []


def test_an_update_that_would_be_lost_is_refused(db, tmp_path):
    for lower in ("ts = 0", "ts = ts - 1, name = 'z'", "ts = -9, price = 0"):
        with pytest.raises(SqlError, match="lowers"):
            db.sql(f"update t set {lower} where id = 1")
    db.sql("update t set ts = ts, name = 'z' where id = 1; update t set ts = 0 where id = 99")
    assert rows(db, "select name, ts from t where id = 1") == [("z", 1)]
    for mode, lowers in (("EVENT_TIME_ORDERING", True), ("COMMIT_TIME_ORDERING", False)):
        name = mode[:5]
        db.sql(
            f"create table {name} (id int, a int, b int) using hudi tblproperties "
            f"(primaryKey = 'id', orderingFields = 'a,b', recordMergeMode = '{mode}'); insert into {name} values (1, 5, 5)"
        )
        db.sql(f"update {name} set a = 6, b = 0")
        if lowers:
            with pytest.raises(SqlError, match="lowers"):
                db.sql(f"update {name} set b = -1")
        else:
            db.sql(f"update {name} set b = -1")
        assert rows(db, f"select a, b from {name}") == [(6, 0 if lowers else -1)]


def test_rows_ordered_by_a_field_inside_a_struct(db):
    db.sql(
        "create table s (id int, meta struct<ts: bigint, name: string>, note string) using hudi "
        "tblproperties (type = 'mor', primaryKey = 'id', preCombineField = 'meta.ts')"
    )
    db.sql(
        "insert into s values (1, named_struct('ts', 5, 'name', 'b'), 'first'), (2, named_struct('ts', 5, 'name', 'b'), 'first')"
    )
    with pytest.raises(SqlError, match="lowers"):
        db.sql("update s set meta = named_struct('ts', meta.ts - 1, 'name', 'z') where id = 1")
    with pytest.raises(RecordKeyError, match=r"'meta\.ts' is null"):
        db.sql("update s set meta = null")
    db.sql("update s set note = 'set', meta = named_struct('ts', meta.ts, 'name', 'a') where id = 1")
    source = (
        "select 1 id, named_struct('ts', 4, 'name', 'z') meta, 'late' note "
        "union all select 2, named_struct('ts', 6, 'name', 'c'), 'new'"
    )
    db.sql(f"merge into s using ({source}) n on s.id = n.id when matched then update set *")
    assert rows(db, "select id, meta.name, note from s order by id") == [(1, "a", "set"), (2, "c", "new")]
    db.sql("delete from s where id = 1")
    assert rows(db, "select id from s") == [(2,)]


def test_no_fraction_is_dropped_from_a_whole_number(db):
    with pytest.raises(SqlError, match="column ts"):
        db.sql("update t set ts = ts * 1.5 where id = 1")
    with pytest.raises(SqlError, match="column ts"):
        db.sql("merge into t using (select 1 as id) s on t.id = s.id when matched then update set ts = t.ts / 2")
    db.sql("update t set ts = ts * 2.0, price = null where id = 1")
    db.sql("merge into t using (select 2 as id) s on t.id = s.id when matched then update set ts = 3")
    assert rows(db, "select id, price, ts from t where id < 3 order by id") == [(1, None, 2), (2, 20.0, 3)]


def test_delete(db):
    db.sql("delete from t where id = 2")
    assert [row[0] for row in rows(db)] == [1, 3]
    db.sql("delete from t")
    assert rows(db) == []


def test_merge_updates_and_inserts(db):
    db.sql(
        "merge into t as target using (select 3 id, 'q' name, 2.5 price, 9L ts, 'y' dt union all select 9, 'n', 3, 9, 'z') s "
        "on target.id = s.id when matched then update set name = s.name, price = s.price + target.price, ts = s.ts "
        "when not matched then insert *"
    )
    assert rows(db)[2:] == [(3, "q", 32.5, 9, "y"), (9, "n", 3.0, 9, "z")]


def test_a_merge_takes_names_without_table_from_the_side_that_has_a_row(db):
    """As Spark does; on DuckDB they were ambiguous."""
    source = "merge into t using (select * from t where id = 1) s on t.id = s.id + 90 and t.dt = s.dt"
    clause = (
        "when not matched and id = 1 then insert (id, name, price, ts, dt) values (id + 90, upper(name), price, ts, dt)"
    )
    db.sql(f"{source} {clause} when not matched by source and id = 2 then delete")
    old, new = db.sql("select name from t where id in (1, 91) order by id").rows()
    assert new[0] == old[0].upper()
    assert db.sql("select id from t where id = 2").rows() == []


def test_merge_deletes(db):
    db.sql("merge into t using (select 1 id) s on t.id = s.id when matched then delete")
    assert [row[0] for row in rows(db)] == [2, 3]


def test_several_rows_of_the_source_for_one_key(db):
    with pytest.raises(SqlError, match="id=1"):
        db.sql(
            "merge into t using (select 1 id union all select 1) s on t.id = s.id when matched then update set name = 'x'"
        )
    assert rows(db)[0][1] == "a"


def test_changes_may_begin_by_with(db):
    db.sql("create table u (id int) using hudi tblproperties (primaryKey = 'id'); insert into u values (3)")
    db.sql("with u as (select 1 as id) update t set name = 'z' where id in (select id from u)")
    db.sql("with u as (select 2 as id) delete from t where id in (select id from u)")
    db.sql("with u as (select 1 as id) merge into t using u on t.id = u.id when matched then update set price = 0.0")
    assert rows(db, "select id, name, price from t order by id") == [(1, "z", 0.0), (3, "c", 30.0)]


def test_merge_writes_and_deletes_in_one_commit(db, tmp_path):
    before = [i.time for i in HoodieTable.open(tmp_path / "t").timeline if i.is_completed]
    db.sql(
        "merge into t using (select 1 id, 'd' op union all select 2, 'u' union all select 8, 'i') s on t.id = s.id "
        "when matched and s.op = 'd' then delete when matched then update set name = s.op "
        "when not matched then insert (id, name, ts, dt) values (s.id, s.op, 7, 'x')"
    )
    table = HoodieTable.open(tmp_path / "t")
    assert len([i for i in table.timeline if i.is_completed]) == len(before) + 1
    assert table.schema.names == ["id", "name", "price", "ts", "dt"]
    assert [row[:2] for row in rows(db)] == [(2, "u"), (3, "c"), (8, "i")]


def test_rows_that_others_changed_meanwhile_are_asked_for_again(db, tmp_path, monkeypatch):
    from hoodie.sql import dml

    table, asked = HoodieTable.open(tmp_path / "t"), []
    refuse = dml.refuse_stale

    def others_first(then, now):
        asked.append(now)
        refuse(then, now)

    def meanwhile(tree, target, query=dml.update_query):
        if not asked:
            table.write(table.read(filter="id = 1").set_column(2, "price", [[100.0]]))
        return query(tree, target)

    monkeypatch.setattr(dml, "refuse_stale", others_first)
    monkeypatch.setattr(dml, "update_query", meanwhile)
    db.sql("update t set price = price + 1 where id < 3")
    assert len(asked) == 2
    assert rows(db, "select price from t where id < 3 order by id") == [(101.0,), (21.0,)]


def test_an_update_and_another_writer_of_its_bucket_both_count(tmp_path, monkeypatch):
    """A statement computes rows of the table, so a row that another appends while it writes is a conflict."""
    beside = {
        "hoodie.write.concurrency.mode": "non_blocking_concurrency_control",
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
    }
    run, others = Pipeline.run, []

    def after_another(pipeline, given):
        if not others:
            others.append(table)
            table.write(pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([100], pa.int32())}), "upsert", beside)
        return run(pipeline, given)

    with connect(tmp_path) as db:
        db.sql("create table o (id int, v int) using hudi tblproperties (type = 'mor', primaryKey = 'id')")
        db.sql("; ".join(f"set {name} = {value}" for name, value in beside.items()))
        db.sql("insert into o values (1, 1)")
        table = HoodieTable.open(tmp_path / "o")
        monkeypatch.setattr(Pipeline, "run", after_another)
        db.sql("set hoodie.write.num.retries.on.conflict.failures = 1; update o set v = v + 1")
        assert rows(db, "select id, v from o") == [(1, 101)]
        with pytest.raises(ConfigError, match=r"use hoodie\.write\.concurrency\.mode=optimistic_concurrency_control"):
            db.sql("insert overwrite o values (2, 2)")
