"""The reasons why an object of JSON is no row name the column, its value and its type."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hudi_services.sources.ingest.files.json_rows import Lines, json_tables, readable

SCHEMA = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.struct([("c", pa.string()), ("l", pa.list_(pa.int64()))])),
        ("d", pa.decimal128(10, 2)),
        ("t", pa.bool_()),
        ("f", pa.float64()),
        ("i", pa.int8()),
        ("day", pa.date32()),
    ]
)


def reasons(line, schema):
    found = []
    for _ in json_tables(Lines([line.encode()], [7]), schema, lambda _, reason: found.append(reason)):
        pass
    return found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": "x"}', 'column a: the string "x" is no bigint'),
        ('{"a": 1.5}', "column a: 1.5 is no bigint"),
        ('{"a": 99999999999999999999}', "column a: 99999999999999999999 is no bigint"),
        ('{"a": true}', "column a: the boolean true is no bigint"),
        ('{"a": {"x": 1}}', 'column a: the object {"x": 1} is no bigint'),
        ('{"b": 5}', "column b: the number 5 is no struct<c: string, l: array<bigint>>"),
        ('{"b": {"l": 5}}', "column b.l: the number 5 is no array<bigint>"),
        ('{"b": {"l": ["x"]}}', "column b.l.element: a string is no bigint"),
        ('{"b": {"l": [1, 1.5]}}', "column b.l.element: 1.5 is no bigint"),
        ('{"d": "x"}', 'column d: "x" is no decimal(38,2)'),
        ('{"d": 1.234}', "column d: 1.234 is no decimal(38,2)"),
        ('{"t": 1}', "column t: the number 1 is no boolean"),
        ('{"f": "x"}', 'column f: the string "x" is no double'),
        ('{"i": 300}', "column i: 300 is no tinyint"),
        ('{"a": 1, "a": 2}', "column a is there twice in the object"),
        ('{"a": 1', "no valid JSON: Missing a comma or '}' after an object member"),
        ('{"b": {"l": [{]}}', "no valid JSON: Expecting property name enclosed in double quotes at character 15"),
        ('{"a": 1} {"a": "x"}', "column a: a string is no bigint"),
        ('{"a": NaN}', "column a: NaN is no bigint"),
        ('{"f": 1e999}', "no valid JSON: Number too big to be stored in double"),
    ],
)
def test_the_reason(line, reason):
    assert reasons(line, readable(SCHEMA)) == [f"line 7: {reason}"]


def test_the_reason_without_a_schema():
    assert reasons('{"a": [1, "x"]}', None) == ["line 7: column a.element: a string is no number"]


def test_a_long_value_is_cut():
    (reason,) = reasons('{"a": "' + "x" * 1000 + '"}', readable(SCHEMA))
    assert "x…" in reason
    assert len(reason) < 120
