"""Elements of arrays and maps by x[i]: numbers count from 0, as in Spark 4.2, and are keys of a map."""

from __future__ import annotations

import pytest

from hoodie.errors import SqlError
from hoodie.sql import connect

# As Spark 4.2 gives them.
VALUES = {
    "a[0]": 5,
    "a[i]": 6,
    "a[l]": 6,
    "a[i + 1]": 7,
    "a[cast(i as smallint)]": 6,
    "a[cast(null as int)]": None,
    "array(array(1, 2), array(3, 4))[i][0]": 3,
    "split(s, ',')[i]": "y",
    "array(named_struct('v', i))[0].v": 1,
    "transform(array(0, 1), x -> a[x])": [5, 6],
    "map(1, 'one', 2, 'two')[1]": "one",
    "map(i, 'one', 2, 'two')[i]": "one",
    "map(l, 'one')[0]": None,
    "n['k']": 1,
    "n[lower('K')]": 1,
    "map(l, 'x')[1]": "x",
    "array(map('a', 1), map('b', 2))[i]['b']": 2,
    "array(map(1, 5), map(0, 6))[i - 1][1]": 5,
    "element_at(array(map('a', 1), map('b', 2)), -1)['b']": 2,
    "try_element_at(array(map('a', 1)), 3)": None,
}


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    with connect(tmp_path_factory.mktemp("subscripts")) as connection:
        connection.sql(
            "create table t (i int, l bigint, s string, a array<int>, n map<string, int>) using hudi "
            "tblproperties (primaryKey = 'i')"
        )
        connection.sql("insert into t select 1, 1, 'x,y', array(5, 6, 7), map('k', 1)")
        yield connection


def test_values(db):
    columns = ", ".join(f"{called} as r{number}" for number, called in enumerate(VALUES))
    assert dict(zip(VALUES, db.sql(f"select {columns} from t").rows()[0], strict=True)) == VALUES
    assert db.sql("select a[-1], a[9] from t").rows() == [(None, None)]  # an error in Spark


def test_columns_keep_their_names_and_aggregates_are_numbers(db):
    assert db.sql("select a[i], i + a[1] as r from t where false").table.column_names == ["a[i]", "r"]
    assert db.sql("select array(1, 2)[max(i)], element_at(array(1, 2), max(i)) from t").rows() == [(2, 1)]
    with pytest.raises(SqlError):  # DuckDB knows no type of it in time
        db.sql("select n[max(s)] from t")
    assert db.sql("select max(a)[0] as r from t").rows() == [(5,)]


def test_an_array_of_maps_is_no_map(db):
    """`x[0]` was null, `x[1]` the first map, and `element_at(x, 3)` null."""
    assert db.sql("select array(map('a', 1), map('b', 2))[max(i)]['b'] from t").rows() == [(2,)]
    for missing in ("element_at(array(n), 0)", "element_at(array(n), 3)"):
        with pytest.raises(SqlError, match="element"):
            db.sql(f"select {missing} from t")
