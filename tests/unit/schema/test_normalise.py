"""A table made from an Arrow schema: its columns, and the types that it refuses."""

import pyarrow as pa
import pytest
from hypothesis import given

from hoodie.errors import SchemaConflictError
from hoodie.schema import data_columns, normalise, with_meta_columns
from tests.support.arrow_strategies import schemas


def one(kind, **more):
    return normalise(pa.schema([("c", kind)]), **more).field("c").type


@pytest.mark.parametrize(
    ("given", "held"),
    [
        (pa.large_string(), pa.string()),
        (pa.string_view(), pa.string()),
        (pa.large_binary(), pa.binary()),
        (pa.binary_view(), pa.binary()),
        (pa.binary(4), pa.binary()),
        (pa.dictionary(pa.int8(), pa.large_string()), pa.string()),
        (pa.int8(), pa.int32()),
        (pa.int16(), pa.int32()),
        (pa.uint8(), pa.int32()),
        (pa.uint16(), pa.int32()),
        (pa.uint32(), pa.int64()),
        (pa.float16(), pa.float32()),
        (pa.date64(), pa.date32()),
        (pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("us", "UTC")),
        (pa.timestamp("s"), pa.timestamp("us")),
        (pa.decimal64(9, 2), pa.decimal128(9, 2)),
        (pa.decimal256(38, 2), pa.decimal128(38, 2)),
        (pa.large_list(pa.int16()), pa.list_(pa.int32())),
        (pa.list_(pa.uint8(), 3), pa.list_(pa.int32())),
        (pa.struct([("x", pa.large_string())]), pa.struct([("x", pa.string())])),
        (pa.map_(pa.large_string(), pa.int8()), pa.map_(pa.string(), pa.int32())),
    ],
    ids=str,
)
def test_types_become_those_of_a_table(given, held):
    assert one(given) == held


@given(schemas())
def test_a_tables_own_schema_stays(schema):
    assert normalise(schema).equals(schema)


def test_whether_a_column_may_be_null_is_kept():
    required = pa.schema(
        [
            pa.field("l", pa.list_(pa.field("item", pa.int8(), nullable=False)), nullable=False),
            pa.field("m", pa.map_(pa.string(), pa.field("v", pa.int8(), nullable=False))),
            pa.field("s", pa.struct([pa.field("x", pa.int8(), nullable=False)])),
        ]
    )
    found = normalise(required)
    assert [field.nullable for field in found] == [False, True, True]
    assert not found.field("l").type.value_field.nullable
    assert not found.field("m").type.item_field.nullable
    assert not found.field("s").type.field("x").nullable


@pytest.mark.parametrize(
    "kind",
    [
        pa.uint64(),
        pa.duration("s"),
        pa.time32("s"),
        pa.time64("us"),
        pa.month_day_nano_interval(),
        pa.dense_union([pa.field("x", pa.int32())]),
        pa.decimal256(39, 2),
        pa.decimal128(5, -2),
        pa.decimal128(2, 3),
        pa.map_(pa.int32(), pa.int32()),
        pa.struct([]),
        pa.bool8(),
        pa.run_end_encoded(pa.int32(), pa.int32()),
    ],
    ids=str,
)
def test_types_that_a_table_cannot_hold(kind):
    with pytest.raises(SchemaConflictError, match=r"'c(\.key)?'.*cannot hold.*cast it"):
        one(kind)
    for inside, path in [
        (pa.list_(kind), "c.element"),
        (pa.struct([("x", kind)]), "c.x"),
        (pa.map_(pa.string(), kind), "c.value"),
    ]:
        with pytest.raises(SchemaConflictError, match=f"'{path}(.key)?'"):
            one(inside)


@pytest.mark.parametrize(
    "kind", [pa.null(), pa.list_(pa.null()), pa.struct([("x", pa.null())]), pa.map_(pa.string(), pa.null())]
)
def test_columns_without_a_type_are_refused_unless_a_table_knows_them(kind):
    with pytest.raises(SchemaConflictError, match=r"has no type.*cast it"):
        one(kind)
    assert one(kind, nulls=True) == pa.field("c", kind).type or pa.types.is_map(kind)


@pytest.mark.parametrize(
    "name", ["", "1a", "a-b", "a b", "a.b", "a\n", "@a", "a$", "a²", "e\u0301", "\u0663a", "Ⅰ", "a‿", "\U00020000"]
)
def test_names_that_avro_cannot_hold(name):
    with pytest.raises(SchemaConflictError, match="has a name that Avro cannot hold"):
        normalise(pa.schema([(name, pa.int32())]))
    with pytest.raises(SchemaConflictError, match=r"'s\..*has a name that Avro cannot hold"):
        normalise(pa.schema([("s", pa.struct([(name, pa.int32())]))]))


@pytest.mark.parametrize("name", ["区域", "região", "größe", "ª", "a\u0663", "_", "имя_1"])
def test_letters_of_any_script_are_names(name):
    assert normalise(pa.schema([(name, pa.struct([(name, pa.int32())]))])).names == [name]


@pytest.mark.parametrize("names", [("a", "a"), ("id", "ID"), ("größe", "GRÖßE")])
def test_names_that_stand_twice(names):
    fields = [(name, pa.int32()) for name in names]
    with pytest.raises(SchemaConflictError, match=f"'{names[0]}' occurs more than once.*{names[1]}"):
        normalise(pa.schema(fields))
    with pytest.raises(SchemaConflictError, match=f"'s.{names[0]}' occurs more than once"):
        normalise(pa.schema([("s", pa.struct(fields))]))


@pytest.mark.parametrize("name", ["_hoodie_commit_time", "_Hoodie_Record_Key", "_hoodie_other", "_HOODIE_IS_DELETED"])
def test_names_that_hudi_reserves(name):
    with pytest.raises(SchemaConflictError, match=f"'{name}'.*reserves"):
        normalise(pa.schema([(name, pa.string())]))


def test_marks_of_deletions_have_the_type_in_which_they_are_seen():
    allowed = pa.schema([("_hoodie_is_deleted", pa.bool_()), ("_hoodie_operation", pa.string())])
    assert normalise(allowed).equals(allowed)
    unknown = pa.schema([("_hoodie_is_deleted", pa.null()), ("_hoodie_operation", pa.null())])
    assert normalise(unknown, nulls=True).equals(unknown)
    for name, kind, cast in (("_hoodie_is_deleted", pa.string(), "bool"), ("_hoodie_operation", pa.int32(), "string")):
        with pytest.raises(
            SchemaConflictError, match=f"'{name}', by which Hudi knows deletions.*{kind}.*cast it to {cast}"
        ):
            normalise(pa.schema([(name, kind)]))


def test_meta_columns_are_put_on_and_taken_off():
    schema = pa.schema([("a", pa.int32()), ("_hoodie_is_deleted", pa.bool_())])
    assert with_meta_columns(schema).names[5:] == schema.names
    assert data_columns(with_meta_columns(schema).with_metadata({"k": "v"})).equals(schema, check_metadata=True)
