"""Expressions and conditions of Flink CDC mean the same here, or they are refused by name."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from hudi_services.registry.pipeline.expressions import FlinkCdc, condition_text, plain_text, value_text
from hudi_services.sources.cdc.row_filter import RowFilter
from hudi_services.sources.databases.expressions import ColumnExpressions

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "Name": ["Ann", "b's", None],
        "at": pa.array([datetime(2026, 1, 2, 3, 4, 5)] * 3, pa.timestamp("us")),
    }
)


def made(text, *, in_utc=True):
    expression = value_text(sqlglot.parse_one(text, dialect=FlinkCdc), in_utc=in_utc)
    return ColumnExpressions({"x": expression}).values(ROWS)["x"].to_pylist()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("UPPER(Name) || '-x'", ["ANN-x", "B'S-x", None]),
        ("CONCAT(`Name`, 'it''s', lower(Name))", ["Annit'sann", "b'sit'sb's", None]),
        ("id * (2 + id) - -1", [4, 9, 16]),
        ("COALESCE(Name, 'none')", ["Ann", "b's", "none"]),
        ("IFNULL(Name, CAST(id AS STRING))", ["Ann", "b's", "3"]),
        ("IF(id >= 2, 'many', 'one')", ["one", "many", "many"]),
        ("CASE WHEN Name <> 'Ann' THEN 1 WHEN id = 1 THEN 2 ELSE 3 END", [2, 1, 1]),
        ("CASE id WHEN 1 THEN 'one' WHEN 2 THEN NULL ELSE 'x' END", ["one", None, "x"]),
        ("NULLIF(id, 2)", [1, None, 3]),
        ("SUBSTR(Name, 2, 1)", ["n", "'", None]),
        ("SUBSTRING(Name, 9)", ["", "", None]),
        ("REPLACE(Name, 'n', '_')", ["A__", "b's", None]),
        ("DATE_FORMAT(`at`, 'yyyy/MM/dd HH:mm:ss')", ["2026/01/02 03:04:05"] * 3),
        ("DATE_FORMAT(`at`, 'yyyyMMdd')", ["20260102"] * 3),
    ],
)
def test_expressions_have_the_values_of_flink(text, values):
    assert made(text) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NOW()", "another value"),
        ("CURRENT_TIMESTAMP", "another value"),
        ("LOCALTIMESTAMP", "another value"),
        ("UUID()", "another value"),
        ("id / 2", "whole numbers"),
        ("CAST(id AS INT)", "AS STRING"),
        ("CAST(Name AS VARCHAR(3))", "AS STRING"),
        ("TRY_CAST(id AS STRING)", "not there"),
        ("addone(id)", "addone"),
        ("TRIM(Name)", "TRIM"),
        ("CHAR_LENGTH(Name)", "not there"),
        ("SUBSTR(Name, -1)", "1 or more"),
        ("SUBSTR(Name, id)", "1 or more"),
        ("id + 1 || Name", "brackets"),
        ("DATE_FORMAT(`at`, 'yyyy-MM-dd EEE')", "letters such as"),
        ("DATE_FORMAT(`at`, Name)", "letters such as"),
        ("__schema_name__ || Name", "_source_database"),
        ("t.id", "t.id"),
        ("id > 1", "id > 1"),
        ("DATE '2026-01-01'", "not there"),
        ("(SELECT 1)", "SELECT 1"),
        ("IF(addone(id) > 1, 1, 2)", "addone"),
    ],
)
def test_an_expression_with_another_meaning_is_refused(text, words):
    with pytest.raises(ValueError, match="(?i)has .*" + words):
        made(text)
    with pytest.raises(ValueError, match="local-time-zone: UTC"):
        made("DATE_FORMAT(`at`, 'yyyy')", in_utc=False)


def kept(text):
    condition = condition_text(sqlglot.parse_one(text, into=exp.Condition, dialect=FlinkCdc), plain_text)
    return RowFilter(condition).table(ROWS)["id"].to_pylist()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Name = 'Ann'", [1]),
        ("Name <> 'Ann'", [2, 3]),  # a comparison with null is false in Flink CDC, and its negation true
        ("NOT Name = 'Ann'", [2, 3]),
        ("NOT (Name <> 'Ann')", [1]),
        ("NOT Name > 'B'", [1, 3]),
        ("Name NOT IN ('Ann', 'x')", [2, 3]),
        ("Name IN ('Ann')", [1]),
        ("Name NOT BETWEEN 'A' AND 'B'", [2, 3]),
        ("NOT (Name = 'Ann' OR id = 2)", [3]),
        ("NOT (Name = 'Ann' AND id > 0) AND id < 3", [2]),
        ("Name IS NULL OR id = -1", [3]),
        ("Name IS NOT NULL", [1, 2]),
        ("Name LIKE 'A%' ESCAPE '!'", [1]),
        ("Name NOT LIKE 'A%' ESCAPE '!'", [2]),
        ("1 < id AND `id` <= 2", [2]),
        ("id <> 1 AND id BETWEEN 1 AND 3", [2, 3]),
    ],
)
def test_conditions_keep_the_rows_of_flink(text, ids):
    assert kept(text) == ids


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Name LIKE '^A'", "regular expression of Java"),
        ("UPPER(Name) = 'A'", "UPPER"),
        ("id IN (1, NULL)", "NULL"),
        ("id IN (SELECT 1)", "not there"),
        ("id + 1 > 2", "not there"),
        ("id = NULL", "NULL"),
        ("id IS TRUE", "not there"),
        ("id", "not there"),
        ("id IS DISTINCT FROM 1", "not there"),
        ("__table_name__ = 'x'", "_source_table"),
    ],
)
def test_a_condition_with_another_meaning_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        kept(text)
