"""DB-API 2.0 over the tables of a warehouse."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import dbapi
from tests.support.examples import examples

TABLE = (
    "create table t (id int, n decimal(10, 2), s string, d date, at timestamp_ntz, b binary) "
    "using hudi tblproperties (primaryKey='id')"
)


@pytest.fixture
def cursor(tmp_path):
    with dbapi.connect(tmp_path) as connection, connection.cursor() as cursor:
        yield cursor.execute(TABLE)


def test_rows_and_their_description(cursor):
    row = (1, Decimal("2.50"), "it's; ?", date(2026, 1, 31), datetime(2026, 1, 31, 12, 0, 0, 5), b"\x00'\xff")
    cursor.execute("insert into t values (?, ?, ?, ?, ?, ?)", row)
    assert cursor.description is None
    cursor.execute("select * from t where s = ? and id in (?, ?)", ["it's; ?", 1, 2])
    assert [column[0] for column in cursor.description] == ["id", "n", "s", "d", "at", "b"]
    kinds = [dbapi.NUMBER, dbapi.NUMBER, dbapi.STRING, dbapi.DATETIME, dbapi.DATETIME, dbapi.BINARY]
    assert [column[1] for column in cursor.description] == kinds
    assert cursor.description[1][4:6] == (10, 2)
    assert (cursor.rowcount, cursor.fetchone(), cursor.fetchone()) == (1, row, None)


def test_rows_come_in_pieces(cursor):
    cursor.execute("select i from range(5) r(i) order by 1")
    assert cursor.fetchone() == (0,)
    assert cursor.fetchmany() == [(1,)]
    assert cursor.fetchmany(2) == [(2,), (3,)]
    assert list(cursor) == [(4,)]
    assert cursor.fetchall() == []


def test_many(cursor):
    cursor.executemany("insert into t (id, s) values (?, ?)", [(1, "a"), (2, None)])
    assert cursor.execute("select id, s from t order by id").fetchall() == [(1, "a"), (2, None)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(1, "a", 2), ("b",)], "not as many"),  # as many as the places in all
        ([{"id": 1, "s": "a"}, {"id": 2, "s": "b"}], "not a sequence.*dict"),
        (["1a", "2b"], "not a sequence.*str"),
        ([(True, "a"), (2, "b")], "number 1 do not fit.*bool, int"),
        ([((1 << 53) + 1, "a"), (2.0, "b")], "number 1 do not fit.*float, int"),
        ([(Decimal(10**30), "a"), (Decimal("1e-20"), "b")], "number 1 do not fit.*38 digits"),
        ([(Decimal("12345678901234567.89"), "a"), (1.5, "b")], "number 1 do not fit.*Decimal, float"),
    ],
)
def test_many_rows_that_would_change_each_other_are_refused(cursor, rows, told):
    with pytest.raises(dbapi.ProgrammingError, match=told):
        cursor.executemany("insert into t (id, s) values (?, ?)", rows)
    assert cursor.execute("select id, s from t").fetchall() == []


def test_many_rows_of_ints_and_floats(cursor):
    cursor.executemany("insert into t (id, s) values (?, ?)", [(1, None), (2.0, "b"), (-(1 << 30), "c")])
    assert cursor.execute("select id, s from t order by id").fetchall() == [(-(1 << 30), "c"), (1, None), (2, "b")]


def test_a_mapping_gives_no_values_by_the_order_of_its_names(cursor):
    for parameters in ({"id": 1, "s": "x"}, "ab", {1, 2}):
        with pytest.raises(dbapi.ProgrammingError, match="not a sequence"):
            cursor.execute("select ?, ?", parameters)


@pytest.mark.parametrize(
    ("statement", "parameters", "kind"),
    [
        ("select * from nothing", (), dbapi.ProgrammingError),
        ("selec", (), dbapi.ProgrammingError),
        ("select ?", (), dbapi.ProgrammingError),
        ("select ?", (1, 2), dbapi.ProgrammingError),
        ("select ?", (object(),), dbapi.ProgrammingError),
        ("insert into t values (null, 1, 'x', null, null, null)", (), dbapi.IntegrityError),
    ],
)
def test_errors_are_those_of_the_module(cursor, statement, parameters, kind):
    with pytest.raises(kind) as caught:
        cursor.execute(statement, parameters)
    assert isinstance(caught.value, dbapi.DatabaseError)


def test_what_is_closed_is_told(tmp_path):
    connection = dbapi.connect(tmp_path)
    cursor = connection.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="no rows"):
        cursor.fetchall()
    with pytest.raises(dbapi.NotSupportedError):
        connection.rollback()
    connection.close()
    connection.close()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute("select 1")


VALUES = st.one_of(
    st.text(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.binary(),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.decimals(min_value=-(10**18), max_value=10**18, places=6),
)


@pytest.fixture(scope="module")
def one_row(tmp_path_factory):
    with dbapi.connect(tmp_path_factory.mktemp("one")) as connection, connection.cursor() as cursor:
        cursor.execute(
            "create table one (id int) using hudi tblproperties (primaryKey='id'); insert into one values (1)"
        )
        yield cursor


@pytest.mark.parametrize("query", ["select ?", "select ? from one where id = ?"])
@settings(max_examples=examples(100), deadline=None)
@given(value=VALUES)
def test_any_value_comes_back_from_the_engine_and_beside_a_table(one_row, query, value):
    ((found,),) = one_row.execute(query, [value, 1][: query.count("?")]).fetchall()
    assert (found, type(found)) == (value, type(value))


def test_numbers_fit_decimals_by_their_value(cursor):
    cursor.execute("insert into t (id, n) values (1, 12345678), (2, ?)", [-1])
    assert cursor.execute("select n from t order by id").fetchall() == [(Decimal("12345678.00"),), (Decimal("-1.00"),)]
    with pytest.raises(dbapi.DatabaseError, match="column n"):
        cursor.execute("insert into t (id, n) values (1, 123456789)")
