"""Comparisons of which DuckDB alone would give other rows than Spark."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture
def db(tmp_path):
    with connect(tmp_path) as connection:
        connection.sql(
            "create table t (id int, s string, d decimal(5, 2)) using hudi tblproperties (primaryKey = 'id')"
        )
        connection.sql("insert into t values (1, '1.5', 1.5), (2, '2.0', 2)")
        yield connection


def test_a_whole_number_is_never_a_text_that_is_rounded_to_it(db):
    """Spark raises an error; DuckDB compared id with 2."""
    for condition in (
        *(
            "id = '1.5'",
            "'2.0' <= t.id",
            "id in ('7', '1.5')",
            "id between '1' and '1.5'",
            "id <=> '2e0'",
            "id + 1 <> '0x2'",
        ),
        "exists (select 1 from t u group by s having count(*) = '0.9')",
    ):
        for statement in ("delete from t where {}", "update t set s = 'x' where {}"):
            with pytest.raises(SqlError, match="whole number is compared with a text") as refused:
                db.sql(statement.format(condition))
            assert "__HOODIE" not in str(refused.value)
    for condition, ids in (("id = ' 2 '", [2]), ("s = '1.5'", [1]), ("d in ('1.5', '2.0')", [1, 2]), ("s = ''", [])):
        assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == ids


def test_a_text_is_never_rounded_to_the_number_beside_it(db):
    """DuckDB deleted the row '1.5' where s = 2. It rounded '2.04' to the digits of 2.0."""
    db.sql("insert into t values (3, '2', 2.04)")
    refused = (
        *("s = 2", "2 = s", "s <> 2", "s <=> 2", "id = s", "s in (7, 2)", "nullif(s, 2) is null", "s = 1 + 1"),
        *("case s when 2 then true else false end", "id = (select min(s) from t)", "not (s = cast('2' as bigint))"),
    )
    for condition in refused:
        with pytest.raises(SqlError, match="whole number is compared with a text") as error:
            db.sql(f"delete from t where {condition}")
        assert "__HOODIE" not in str(error.value)
    with pytest.raises(SqlError, match="whole number is compared with a text"):
        db.sql("merge into t using (select 2 as n) u on t.s = u.n when matched then delete")
    db.sql("insert into t values (4, '2.04', 2)")
    for condition, ids in (
        *(
            ("s = 2.0", [2, 3]),
            ("s = d", [1, 2]),
            ("d = '2.044'", []),
            ("d = '2.04'", [3]),
            ("s in (2.04, 1.5)", [1, 4]),
        ),
        *(
            ("id = '2'", [2]),
            ("id in (1, 3)", [1, 3]),
            ("id <=> null", []),
            ("id <> 1 and id = d", [2]),
            ("id in (null, 2)", [2]),
        ),
        *(
            ("case id when 2 then true else false end", [2]),
            ("(id, s) = (3, '2')", [3]),
            ("id in (select id from t)", [1, 2, 3, 4]),
        ),
    ):
        assert [row[0] for row in db.sql(f"select id from t where {condition} order by id").rows()] == ids, condition


def test_equalities_keep_their_names_and_texts(db):
    found = db.sql(
        "select id = 1, id in (1, 2), case id when 1 then 'a' end, id <=> null, count(*) = 2 from t group by id"
    )
    assert found.table.column_names[:2] == ["(id = 1)", "(id IN (1, 2))"]
    assert not [name for name in found.table.column_names if "hoodie" in name]
    assert sorted(found.rows()) == [(False, True, None, False, False), (True, True, "a", False, False)]


def test_structs_of_other_names_are_not_compared(db):
    """Spark compares field by field; on DuckDB no row was equal, and the greatest had a null."""
    for statement in (
        "delete from t where struct(id) <> struct(1)",
        "delete from t where named_struct('id', id) = named_struct('x', 1)",
        "select max(struct(d, s)).s from t",
    ):
        with pytest.raises(SqlError, match="DuckDB"):
            db.sql(statement)
    same = "named_struct('id', id) = named_struct('id', 1) and (id, s) = (1, '1.5')"
    assert db.sql(f"select id from t where {same}").rows() == [(1,)]


def test_a_text_beside_bytes_is_its_own_letters(tmp_path):
    r"""DuckDB takes '\x41' for the byte of A there: it deleted another row."""
    with connect(tmp_path) as db:
        db.sql("create table b (id int, y binary, s string) using hudi tblproperties (primaryKey = 'id')")
        db.sql(r"insert into b values (1, X'41', '\\x41'), (2, cast('\\x41' as binary), 'A'), (3, X'42', 'B')")
        literal = r"'\\x41'"
        asked = {f"y {operator} {literal}": [2] for operator in ("=", "<=>", "is not distinct from")}
        asked |= {"y = s": [3], "y <> s": [1, 2], "y in (s)": [3], "s = y": [3], f"{literal} = y": [2]}
        asked |= {f"y <> {literal}": [1, 3], f"y in ({literal}, 'B')": [2, 3], f"y not in ({literal})": [1, 3]}
        asked |= {f"nullif(y, {literal}) is null": [2], f"case y when {literal} then true end": [2]}
        asked |= {"exists (select 1 from b c where c.s = b.y)": [1, 2, 3], f"s = {literal}": [1], f"s > {literal}": []}
        asked |= {f"decode(y, {literal}, true, false)": [2], f"s rlike {literal}": [2]}
        for condition, ids in asked.items():
            assert [row[0] for row in db.sql(f"select id from b where {condition} order by id").rows()] == ids, (
                condition
            )
        for condition in (f"y > {literal}", f"y between {literal} and 'B'", f"coalesce(y, {literal}) = y"):
            with pytest.raises(SqlError, match=r"BLOB and .*VARCHAR"):
                db.sql(f"delete from b where {condition}")
        with pytest.raises(SqlError, match="bytes are compared with a text"):
            db.sql(f"delete from b where (select max(y) from b) = {literal}")
        db.sql(f"delete from b where y = {literal}")
        assert [row[0] for row in db.sql("select id from b order by id").rows()] == [1, 3]
