"""Projections and filters of transforms, as columns, expressions and a condition."""

from __future__ import annotations

import pytest

from hudi_services.registry.pipeline.projections import EVERYTHING, Projection, read_filter, read_projection


def projection(text):
    return read_projection(text, in_utc=True)


@pytest.mark.parametrize("text", ["*", r"\*", r" \* ", "id, *", r"*, id"])
def test_an_asterisk_is_all_columns(text):
    assert projection(text) == EVERYTHING


def test_columns_and_expressions():
    assert projection(r"\*, UPPER(name) AS upper_name, id copy, '\*, x' AS `Star`") == Projection(
        (), {"upper_name": 'upper("name")', "copy": '"id"', "Star": r"'\*, x'"}
    )
    text = "id, `order id`, id, DATE_FORMAT(created_at, 'yyyy-MM') AS month, created_at -- the month\n"
    assert projection("id, UPPER(name) AS name, UPPER(province) AS p") == Projection(
        ("id",), {"name": 'upper("name")', "p": 'upper("province")'}
    )
    assert projection(text) == Projection(
        ("id", "order id", "created_at"), {"month": "strftime(\"created_at\", '%Y-%m')"}
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("UPPER(name) AS name, name, id", "the column name twice"),
        ("id, id + 1 AS ID", "the column id twice"),
        ("id, 1 AS a, 2 AS A", "the column A twice"),
        ("id, UPPER(name)", r"without a name: write UPPER\(name\) AS"),
        ("1 AS one", "no column of the table"),
        ("id, 1 AS `x y`", "names a column 'x y'"),
        ("id FROM other", "it has FROM"),
        ("id, name LIMIT 1", "it has LIMIT"),
        ("DISTINCT id", "it has DISTINCT"),
        ("id; DROP TABLE t", "not one expression"),
        ('id, "x" AS y', "cannot be read"),
        ("id, (name AS x", "cannot be read"),
        ("__table_name__", "_source_table"),
        ("t.*, id", "t\\.\\*"),
        ("* EXCEPT (id)", "not one|without a name|cannot be read"),
    ],
)
def test_what_is_not_there_is_refused_by_name(text, words):
    with pytest.raises(ValueError, match=words):
        projection(text)


def test_filters_are_of_columns_that_are_there():
    assert read_filter("id > 10 AND `order id` <> 1", EVERYTHING) == (
        '(("id" > 10) AND ("order id" <> 1 OR "order id" IS NULL))'
    )
    chosen = projection("id, name, id + 1 AS next_id")
    assert read_filter("ID > 1", chosen) == '("ID" > 1)'
    for text, words in (
        ("next_id > 1", "computed column next_id"),
        ("price > 1", "names price, which the projection leaves out"),
        ("id > 1; id > 2", "not one expression"),
        ("id >", "cannot be read"),
        ("inc(id) < 100", r"has 'INC\(id\)"),
    ):
        with pytest.raises(ValueError, match=words):
            read_filter(text, chosen)
