"""Texts in double quotes with the name of a column: refused where a text makes no sense."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("quotes")) as connection:
        connection.sql("create table crm (id int, zip string) using hudi tblproperties (primaryKey = 'id')")
        connection.sql("insert into crm values (1, '10001'), (2, 'zip')")
        yield connection


@pytest.mark.parametrize(
    "statement",
    [
        "delete from crm where \"zip\" <> '10001'",
        'update crm set id = id + 1 where "ZIP" is not null',
        'merge into crm t using (select 1 as id) s on "id" = 1 when matched then delete',
        'select "zip" from crm',
        "select count(*) from crm where not (\"zip\" = 'a') and id = 1",
        'select id from crm where "zip" in (\'a\', "b")',
        'select count(*) from crm group by "zip"',
        'select id from crm order by "zip" desc',
        "select count(*) from (select id from crm where \"zip\" like 'a%')",
    ],
)
def test_a_text_in_place_of_a_column_is_refused(db, statement):
    with pytest.raises(SqlError, match="is a text, and the statement has it in place of a column"):
        db.sql(statement)
    assert db.sql("select count(*) from crm").rows() == [(2,)]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ('select id from crm where zip = "zip"', [(2,)]),
        ('select "zip" as kind, count(*) from crm', [("zip", 2)]),
        ("select 'zip' from crm where id = 1", [("zip",)]),
        ('select "other" from crm where "a" = "a" and id = 1', [("other",)]),
        ('select upper("zip") from crm where id = 1', [("ZIP",)]),
        ("select id from crm where `zip` = '10001'", [(1,)]),
    ],
)
def test_texts_that_make_sense_are_texts(db, query, rows):
    assert db.sql(query).rows() == rows


def test_rows_to_insert_are_constants(db):
    db.sql('insert into crm select 3, "zip"')
    db.sql('insert into crm values (4, "id")')
    assert db.sql("delete from crm where id > 2").message.endswith("2 deleted")
