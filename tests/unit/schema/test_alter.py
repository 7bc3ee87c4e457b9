"""Changes to a table's columns: ids stay, names and types that would lose something are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ArgumentError, SchemaConflictError
from hoodie.schema.alter import altered
from hoodie.schema.changes import (
    FIRST,
    AddColumn,
    AllowNull,
    CommentColumn,
    DropColumn,
    MoveColumn,
    Place,
    RenameColumn,
    WidenColumn,
)
from hoodie.schema.column_mapping import renaming
from hoodie.schema.internal import InternalSchema, first_schema, walked
from hoodie.schema.widening import arrow_columns, widens

STRUCT = pa.struct([("x", pa.int32()), pa.field("y", pa.string(), nullable=False)])
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("a", pa.int32()),
        ("s", STRUCT),
        ("l", pa.list_(pa.field("element", STRUCT))),
        ("m", pa.map_(pa.string(), pa.field("value", STRUCT))),
        pa.field("must", pa.int64(), nullable=False),
        ("k", pa.struct([("part", pa.int32()), ("other", pa.int32())])),
    ]
)
BEFORE = first_schema(SCHEMA)
FIXED = {"id": "the record key", "k.part": "a partition column"}


def changed(*changes):
    return altered(BEFORE, changes, FIXED)


def ids(schema: InternalSchema) -> dict[str, int]:
    return {path: column.id for path, column in walked(schema.columns)}


def names(schema: InternalSchema, parent: str = "") -> list[str]:
    prefix = f"{parent}." if parent else ""
    found = [path for path, _ in walked(schema.columns) if path.startswith(prefix)]
    return [path[len(prefix) :] for path in found if "." not in path[len(prefix) :] and not path.startswith("_hoodie")]


def test_arrow_columns_are_those_of_the_schema():
    assert arrow_columns(BEFORE) == SCHEMA


@pytest.mark.parametrize(
    ("change", "parent", "order"),
    [
        (AddColumn("z", pa.int64()), "", ["id", "a", "s", "l", "m", "must", "k", "z"]),
        (AddColumn("z", pa.int64(), place=FIRST), "", ["z", "id", "a", "s", "l", "m", "must", "k"]),
        (AddColumn("z", pa.int64(), place=Place("A")), "", ["id", "a", "z", "s", "l", "m", "must", "k"]),
        (AddColumn("S.z", pa.int64(), place=Place("x")), "s", ["x", "z", "y"]),
        (AddColumn("s.z", pa.int64(), place=Place("s.x")), "s", ["x", "z", "y"]),
        (AddColumn("l.element.z", pa.int64(), place=FIRST), "l.element", ["z", "x", "y"]),
        (AddColumn("m.value.z", pa.int64()), "m.value", ["x", "y", "z"]),
        (DropColumn("s.x"), "s", ["y"]),
        (DropColumn("k.other"), "k", ["part"]),
        (DropColumn("l"), "", ["id", "a", "s", "m", "must", "k"]),
        (RenameColumn("s.x", "ä"), "s", ["ä", "y"]),
        (RenameColumn("a", "A"), "", ["id", "A", "s", "l", "m", "must", "k"]),
        (MoveColumn("id", Place("a")), "", ["a", "id", "s", "l", "m", "must", "k"]),
        (MoveColumn("must", FIRST), "", ["must", "id", "a", "s", "l", "m", "k"]),
        (MoveColumn("s.y", FIRST), "s", ["y", "x"]),
    ],
)
def test_places_and_ids(change, parent, order):
    after = changed(change)
    assert names(after, parent) == order
    old, new = ids(BEFORE), ids(after)
    added = {number for number in new.values() if number not in old.values()}
    assert all(number > BEFORE.max_id for number in added)
    assert after.max_id == max((BEFORE.max_id, *added))
    assert {path: number for path, number in new.items() if path in old} == {
        path: number for path, number in old.items() if path in new
    }


def test_nested_columns_are_numbered_as_hudi_numbers_them():
    kind = pa.struct([("q", pa.int32()), ("r", pa.list_(pa.string()))])
    new = ids(changed(AddColumn("three", kind)))
    last = BEFORE.max_id
    assert [new[name] - last for name in ("three", "three.q", "three.r", "three.r.element")] == [1, 2, 3, 4]


def test_a_name_that_is_used_again_is_another_column():
    """Rows of before have null in it."""
    dropped = changed(DropColumn("a"))
    again = altered(dropped, [AddColumn("a", pa.int32())], FIXED)
    assert renaming(again.columns, BEFORE.columns).stored == {"a": None}
    swapped = changed(RenameColumn("a", "b"), AddColumn("a", pa.int32()))
    assert renaming(swapped.columns, BEFORE.columns).stored == {"a": None, "b": "a"}
    assert again.max_id == swapped.max_id == BEFORE.max_id + 1


def test_an_id_is_never_given_twice():
    """Neither that of a column that is gone by now."""
    once = altered(changed(AddColumn("z", pa.int32())), [DropColumn("z")], FIXED)
    assert ids(altered(once, [AddColumn("z", pa.int32())], FIXED))["z"] == BEFORE.max_id + 2


def test_types_nulls_and_comments():
    after = changed(
        WidenColumn("a", pa.int64()),
        WidenColumn("k.PART", pa.int64()),
        WidenColumn("s.x", pa.float64()),
        AllowNull("must"),
        CommentColumn("s.x", "é"),
        AddColumn("z", pa.int8(), comment="new"),
    )
    found = arrow_columns(after)
    assert found.field("a").type == found.field("k").type.field("part").type == pa.int64()
    assert found.field("s").type.field("x").type == pa.float64()
    assert found.field("must").nullable
    assert found.field("z").type == pa.int32()
    assert after.docs() == {"s.x": "é", "z": "new"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (DropColumn("id"), "id is the record key"),
        (DropColumn("K.part"), "k.part is a partition column"),
        (DropColumn("k"), "k.part is a partition column"),
        (RenameColumn("id", "key"), "id is the record key"),
        (RenameColumn("k", "kk"), "k.part is a partition column"),
        (WidenColumn("id", pa.binary()), "it is the record key"),
        (WidenColumn("k.part", pa.string()), "it is a partition column"),
        (DropColumn("_hoodie_file_name"), "Hudi's own"),
        (RenameColumn("_hoodie_file_name", "f"), "Hudi's own"),
        (RenameColumn("a", "_hoodie_x"), "Hudi reserves"),
        (AddColumn("_hoodie_x", pa.int32()), "Hudi reserves"),
        (AddColumn("a", pa.int32()), "Found: column 'a'"),
        (AddColumn("A", pa.int32()), "column 'a', which differs in case alone"),
        (AddColumn("s.X", pa.int32()), "differs in case"),
        (RenameColumn("a", "MUST"), "differs in case"),
        (RenameColumn("a", "must"), "Found: column 'must'"),
        (RenameColumn("a", "s.z"), "a name with a dot"),
        (RenameColumn("a", "1a"), "Avro cannot hold"),
        (AddColumn("a b", pa.int32()), "Avro cannot hold"),
        (AddColumn("z", pa.int32(), nullable=False), "NOT NULL"),
        (AddColumn("z", pa.duration("s")), "cannot hold"),
        (AddColumn("l.z", pa.int32()), "name a field of l.element"),
        (AddColumn("m.z", pa.int32()), "name a field of m.value"),
        (AddColumn("a.z", pa.int32()), "'a' is not a struct"),
        (AddColumn("z", pa.int32(), place=Place("gone")), "beside it are id, a"),
        (AddColumn("z", pa.int32(), place=Place("_hoodie_file_name")), "beside it are id, a"),
        (MoveColumn("a", Place("a")), "beside it are id, s"),
        (DropColumn("gone"), "There is no column 'gone'"),
        (DropColumn("s.gone"), "in 's'.*Found: x, y"),
        (DropColumn("l.element"), "is the element of array"),
        (RenameColumn("m.value", "v"), "is the value of map"),
        (CommentColumn("m.key", "c"), "it has no comment"),
        (CommentColumn("l.element", "c"), "it has no comment"),
        (AllowNull("m.key"), "a key is never null"),
        (WidenColumn("must", pa.int32()), "whose values do not all fit"),
        (WidenColumn("s", pa.string()), "whose values do not all fit"),
        (WidenColumn("l", pa.list_(STRUCT)), "whose values do not all fit"),
    ],
)
def test_refused(change, told):
    with pytest.raises(SchemaConflictError, match=told):
        changed(change)


def test_the_last_column_stays():
    with pytest.raises(SchemaConflictError, match="last of its struct 's'"):
        changed(DropColumn("s.x"), DropColumn("s.y"))
    with pytest.raises(SchemaConflictError, match="last of its table"):
        altered(first_schema(pa.schema([("a", pa.int32())])), [DropColumn("a")], {})


@pytest.mark.parametrize("given", [[], ["drop a"]])
def test_what_is_no_change(given):
    with pytest.raises(ArgumentError):
        altered(BEFORE, given, FIXED)


WIDER = {
    ("int", "long"),
    ("int", "double"),
    ("int", "string"),
    ("int", "decimal(12, 2)"),
    ("long", "double"),
    ("float", "double"),
    ("date", "string"),
    ("decimal(10, 2)", "decimal_fixed(12, 2)[6]"),
    ("decimal(10, 2)", "decimal(11, 3)"),
    ("decimal(10, 2)", "string"),
    ("long", "decimal(20, 0)"),
}
NARROWER = {
    ("long", "int"),
    ("double", "float"),
    ("float", "int"),
    ("string", "int"),
    ("string", "date"),
    ("double", "decimal(30, 10)"),
    ("int", "decimal(11, 2)"),
    ("decimal(10, 2)", "decimal(10, 3)"),
    ("decimal(10, 2)", "decimal(9, 1)"),
    ("boolean", "int"),
    ("timestamp", "string"),
}


@pytest.mark.parametrize(("old", "new"), sorted(WIDER | NARROWER))
def test_widening(old, new):
    assert widens(old, new) is ((old, new) in WIDER)
