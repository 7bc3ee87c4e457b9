"""A literal that is no value of its type changes nothing."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

WRONG = (
    "cast('x' as int)",
    "cast('2026-02-30' as date)",
    "cast(300 as tinyint)",
    "cast(-(99999999999) as int)",
    "'x'::int",
    "int('x')",
    "date('2026-02-30')",
)


def test_a_literal_that_cannot_be_cast_changes_nothing(tmp_path):
    with connect(tmp_path) as db:
        db.sql("create table t (id int, n int, d date) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into t values (1, null, null), (2, cast('2' as int), cast('2026-02-28' as date))")
        rows = db.sql("select * from t order by id").rows()
        source = "merge into t using (select 1 as id, {} as x) s on t.id = s.id when matched then "
        for wrong in WRONG:
            column = "d" if "date" in wrong else "n"
            for statement in (
                f"delete from t where {column} <=> {wrong}",
                f"delete from t where {wrong} is null",
                f"update t set {column} = {wrong}",
                f"insert into t (id, {column}) values (3, {wrong})",
                f"{source.format(wrong)} delete",
                f"{source.format(1)} update set {column} = {wrong}",
                f"create table u using hudi as select 1 as id, {wrong} as x",
            ):
                with pytest.raises(SqlError, match=r"not a value of the type to which it is cast.*nothing was changed"):
                    db.sql(statement)
        assert db.sql("select * from t order by id").rows() == rows
        assert [row[1] for row in db.sql("show tables").rows()] == ["t"]
        db.sql("delete from t where n <=> try_cast('x' as int)")
        assert [row[0] for row in db.sql("select id from t").rows()] == [2]


def test_a_number_that_no_type_has_is_refused(tmp_path):
    """Spark refuses these; DuckDB stored infinity, and compared with the nearest double."""
    digits = "0." + "1" * 39
    with connect(tmp_path) as db:
        db.sql("create table n (id int, d double) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into n values (1, 1.5), (2, 1e-400), (3, 1e308), (4, 00000000000000000000000000000000000000002)")
        for statement in (
            *("insert into n values (9, 1e400)", "insert into n values (9, -1e400)", "insert into n select 9, 1e400D"),
            *("update n set d = 1E+309", "delete from n where d < 1e400", f"delete from n where d > {digits}"),
            *(
                f"delete from n where d < {'9' * 39}",
                f"merge into n using n s on n.id = s.id and s.d < {'9' * 39} when matched then delete",
            ),
        ):
            with pytest.raises(SqlError, match="no type has such a value"):
                db.sql(statement)
        assert db.sql("select id, d from n order by id").rows() == [(1, 1.5), (2, 0.0), (3, 1e308), (4, 2.0)]
