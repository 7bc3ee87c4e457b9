"""Names in an older file of the columns of now."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from hoodie.errors import CorruptTableError
from hoodie.schema.column_mapping import renaming
from hoodie.schema.history import NAMED_ALIKE, StoredColumns, schema_at
from hoodie.schema.internal import Column, InternalSchema, first_schema, history_text, parse_history, walked

STRUCT = pa.struct([("x", pa.int32()), ("y", pa.string())])
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("a", pa.int32()),
        ("s", STRUCT),
        ("l", pa.list_(STRUCT)),
        ("m", pa.map_(pa.string(), STRUCT)),
    ]
)
NUMBERED = first_schema(SCHEMA)


def part(columns, path):
    return next(column for name, column in walked(columns) if name == path)


def changed(columns, path, **values):
    """The columns with one of them, or of their parts, changed; `gone` takes it out."""
    result = []
    for column in columns:
        head, _, rest = path.partition(".")
        if column.name != head:
            result.append(column)
        elif rest:
            result.append(replace(column, parts=changed(column.parts, rest, **values)))
        elif values:
            result.append(replace(column, **values))
    return tuple(result)


def test_ids_as_hudi_gives_them():
    """All fields of a record before the parts of any."""
    ids = {path: column.id for path, column in walked(NUMBERED.columns)}
    assert [ids[name] for name in SCHEMA.names] == [5, 6, 7, 8, 9]
    assert [ids[name] for name in ("s.x", "s.y", "l.element", "l.element.x", "m.key", "m.value", "m.value.y")] == [
        *(10, 11, 12, 13, 15, 16, 18)
    ]
    assert NUMBERED.max_id == 18


def test_text_and_back():
    assert InternalSchema.parse(NUMBERED.text()) == NUMBERED
    later = replace(NUMBERED, version=5)
    assert parse_history(history_text([NUMBERED, later])) == (NUMBERED, later)


@pytest.mark.parametrize("text", ["", "[]", '{"schemas":[{}]}', '{"schemas":[{"version_id":1,"fields":[{"id":"x"}]}]}'])
def test_what_is_no_history(text):
    with pytest.raises(CorruptTableError, match="history"):
        parse_history(text)


def test_renamed_hidden_and_new():
    now = changed(NUMBERED.columns, "a", name="b")
    now = (*now, Column(30, "a", "string"), Column(31, "fresh", "int"))
    found = renaming(now, NUMBERED.columns)
    rows = found.apply(pa.table({"id": ["k"], "a": [1]}))
    assert rows.to_pylist() == [{"id": "k", "b": 1}]
    assert found.in_file(["id", "b", "a", "fresh"]) == ["id", "a", "fresh"]
    assert found.as_now(["id", "a"]) == ["id", "b"]


def test_names_that_are_swapped():
    now = changed(changed(changed(NUMBERED.columns, "id", name="@"), "a", name="id"), "@", name="a")
    rows = renaming(now, NUMBERED.columns).apply(pa.table({"id": ["k"], "a": [1]}))
    assert rows.to_pylist() == [{"a": "k", "id": 1}]


@pytest.mark.parametrize("path", ["s", "l.element", "m.value"])
@pytest.mark.parametrize("length", [0, 3])
def test_parts(path, length):
    """Renamed, dropped and added again: with nulls, and where the array does not begin at its buffers' start."""
    value = {"x": 1, "y": "y"}
    values = {"s": value, "l": [value, None], "m": [("k", value)]}
    rows = pa.table(
        {name: [None, values[name], None, values[name]][:length] for name in values}, pa.schema(list(SCHEMA)[2:])
    )
    rows = rows.slice(1)
    now = changed(changed(NUMBERED.columns, f"{path}.x", name="z"), f"{path}.y", id=40)
    found = renaming(now, NUMBERED.columns).apply(rows)
    expected = {"s": {"z": 1}, "l": [{"z": 1}, None], "m": [("k", {"z": 1})]}
    name = path.partition(".")[0]
    wanted = [expected[name], None, expected[name]][: found.num_rows]
    assert found[name].to_pylist() == wanted
    both = changed(changed(NUMBERED.columns, f"{path}.x", id=41), f"{path}.y", id=40)
    nothing = renaming(both, NUMBERED.columns).apply(rows)[name].type
    assert "x" not in str(nothing).replace("nothing", "")


def test_versions():
    assert schema_at((), "20260101000000000") is None
    later = replace(NUMBERED, version=20260101000000000)
    assert schema_at((NUMBERED, later), "20251231000000000") is NUMBERED
    assert schema_at((NUMBERED, later), "20260101000000000") is later


def test_without_a_history_names_are_names():
    assert StoredColumns.of(SCHEMA, ()) == NAMED_ALIKE
    assert not NAMED_ALIKE.in_file("20260101000000000").changes


def test_a_column_that_no_history_knows_is_found_by_its_name():
    """A column that Hudi added without the option. A name that was another column's does not lead to it."""
    wider = SCHEMA.append(pa.field("more", pa.int32()))
    columns = StoredColumns.of(wider, (NUMBERED,))
    assert not columns.in_file("20260101000000000").changes
    without = replace(NUMBERED, version=3, columns=changed(NUMBERED.columns, "a"))
    readded = StoredColumns.of(SCHEMA, (NUMBERED, without))
    assert readded.in_file("2").in_file(["a"]) == []
    assert readded.in_file("3").in_file(["a"]) == ["a"]


def test_types_are_named_as_they_were():
    """A decimal has two names in Hudi: no new version of the schema for that."""
    named = replace(NUMBERED, columns=(*NUMBERED.columns, Column(50, "d", "decimal(10, 2)"), Column(51, "u", "uuid")))
    schema = pa.schema([*SCHEMA, ("d", pa.decimal128(10, 2)), ("u", pa.string())])
    assert named.with_columns(schema).columns == named.columns
    assert (
        part(named.with_columns(pa.schema([("d", pa.decimal128(12, 2))])).columns, "d").kind
        == "decimal_fixed(12, 2)[6]"
    )
