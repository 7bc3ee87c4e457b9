"""How a table's schema may change, and what is refused."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given

from hoodie.errors import SchemaConflictError
from hoodie.schema import reconcile
from tests.support.arrow_strategies import schemas
from tests.support.tables import batch, create

STRING = pa.string()


def widened(table, incoming):
    return reconcile(pa.schema([("c", table)]), pa.schema([("c", incoming)])).field("c").type


@given(schemas())
def test_rows_like_the_table_change_nothing(schema):
    assert reconcile(schema, schema).equals(schema)
    assert reconcile(schema, pa.schema(list(reversed(schema)))).equals(schema)


@given(schemas(), schemas())
def test_a_schema_that_was_accepted_is_accepted_again(table, incoming):
    try:
        merged = reconcile(table, incoming)
    except SchemaConflictError:
        return
    assert merged.names[: len(table)] == table.names
    assert reconcile(merged, merged).equals(merged)
    nullable = all(field.nullable for field in table if field.name not in incoming.names)
    assert nullable


def test_new_columns_come_last_and_are_nullable():
    table = pa.schema([("id", STRING), ("s", pa.struct([("x", pa.int32())]))])
    inner = pa.struct([pa.field("y", pa.int8(), nullable=False), ("x", pa.int32())])
    incoming = pa.schema([pa.field("new", pa.large_string(), nullable=False), ("s", inner), ("id", STRING)])
    assert reconcile(table, incoming).equals(
        pa.schema([("id", STRING), ("s", pa.struct([("x", pa.int32()), ("y", pa.int32())])), ("new", STRING)])
    )


NUMBERS = [pa.int32(), pa.int64(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("table", NUMBERS, ids=str)
@pytest.mark.parametrize("incoming", NUMBERS, ids=str)
def test_of_two_numbers_the_wider_counts(table, incoming):
    wider = max(table, incoming, key=NUMBERS.index)
    assert widened(table, incoming) == wider
    assert widened(pa.list_(table), pa.large_list(incoming)) == pa.list_(wider)
    assert widened(pa.map_(STRING, table), pa.map_(STRING, incoming)).item_type == wider
    assert widened(pa.struct([("x", table)]), pa.struct([("x", incoming)])) == pa.struct([("x", wider)])


@pytest.mark.parametrize(
    ("table", "incoming", "after"),
    [
        (pa.int32(), pa.int8(), pa.int32()),
        (pa.int32(), pa.uint32(), pa.int64()),
        (pa.decimal128(9, 2), pa.decimal128(12, 2), pa.decimal128(12, 2)),
        (pa.decimal128(9, 2), pa.decimal128(5, 2), pa.decimal128(9, 2)),
        (pa.decimal128(9, 2), pa.decimal128(9, 0), pa.decimal128(9, 2)),
        (pa.timestamp("ms", "UTC"), pa.timestamp("ns", "Asia/Tokyo"), pa.timestamp("ms", "UTC")),
        (pa.timestamp("us"), pa.timestamp("s"), pa.timestamp("us")),
        (pa.binary(4), pa.binary(), pa.binary(4)),
        (pa.float64(), pa.null(), pa.float64()),
        (pa.list_(pa.int64()), pa.list_(pa.null()), pa.list_(pa.int64())),
        (pa.struct([("x", pa.date32())]), pa.struct([("x", pa.null())]), pa.struct([("x", pa.date32())])),
    ],
    ids=str,
)
def test_other_types_that_fit(table, incoming, after):
    assert widened(table, incoming) == after


@pytest.mark.parametrize(
    ("table", "incoming"),
    [
        (STRING, pa.int32()),
        (pa.int32(), STRING),
        (STRING, pa.binary()),
        (pa.binary(), STRING),
        (pa.int32(), pa.bool_()),
        (pa.int32(), pa.decimal128(9, 0)),
        (pa.decimal128(9, 2), pa.decimal128(12, 3)),
        (pa.decimal128(9, 2), pa.float64()),
        (pa.date32(), pa.timestamp("us")),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.timestamp("us", "UTC"), pa.timestamp("us")),
        (pa.timestamp("us", "UTC"), pa.int64()),
        (pa.list_(pa.int32()), pa.int32()),
        (pa.struct([("x", pa.int32())]), pa.map_(STRING, pa.int32())),
    ],
    ids=str,
)
def test_types_that_do_not_fit_are_refused(table, incoming):
    with pytest.raises(SchemaConflictError, match=r"'c' does not fit.*To do: cast") as caught:
        widened(table, incoming)
    assert f"the table has {table}, the rows have {incoming}" in str(caught.value)
    for wrap, path in [
        (pa.list_, "c.element"),
        (lambda kind: pa.map_(STRING, kind), "c.value"),
        (lambda kind: pa.struct([("x", kind)]), "c.x"),
    ]:
        with pytest.raises(SchemaConflictError, match=f"'{path}' does not fit"):
            widened(wrap(table), wrap(incoming))


@pytest.mark.parametrize(
    ("table", "incoming", "wider"),
    [
        (pa.decimal128(9, 2), pa.decimal128(9, 3), "decimal(10,3)"),
        (pa.int32(), pa.decimal128(12, 2), "decimal(12,2)"),
        (pa.int32(), STRING, "string"),
        (STRING, pa.int32(), None),
        (pa.decimal128(38, 2), pa.decimal128(9, 3), None),
    ],
    ids=str,
)
def test_alter_is_named_where_it_helps(table, incoming, wider):
    with pytest.raises(SchemaConflictError, match="does not fit") as caught:
        widened(table, incoming)
    named = f"ALTER TABLE … ALTER COLUMN c TYPE {wider} (HoodieTable.alter)"
    assert named in str(caught.value) if wider else "ALTER" not in str(caught.value)


def test_no_alter_is_named_for_a_column_of_the_order(tmp_path):
    table = create(tmp_path)
    rows = batch([("a", "p", 1, 1)])
    table.write(rows)
    for name, is_named in (("value", True), ("ts", False)):
        with pytest.raises(SchemaConflictError, match=f"'{name}' does not fit") as caught:
            table.write(rows.set_column(rows.schema.get_field_index(name), name, pa.array(["1"])))
        assert ("ALTER" in str(caught.value)) == is_named


def test_no_alter_is_named_for_fixed_fields_of_structs():
    table = pa.schema([("s", pa.struct([("a", pa.int64()), ("b", pa.int64())]))])
    for name, is_named in (("a", False), ("b", True)):
        incoming = pa.schema([("s", pa.struct([(name, STRING)]))])
        with pytest.raises(SchemaConflictError, match=rf"'s\.{name}' does not fit") as caught:
            reconcile(table, incoming, fixed=["s.a"])
        assert ("ALTER" in str(caught.value)) == is_named


def test_a_decimal_of_a_smaller_scale_fits_by_its_value(tmp_path):
    table = create(tmp_path)
    rows = batch([("a", "p", 1, 1)])
    table.write(rows.append_column("d", pa.array([Decimal("1.25")], pa.decimal128(9, 2))))
    table.write(rows.append_column("d", pa.array([Decimal("1234567.5")], pa.decimal128(9, 1))), "upsert")
    assert table.read()["d"].to_pylist() == [Decimal("1234567.50")]
    assert table.schema.field("d").type == pa.decimal128(9, 2)
    with pytest.raises(SchemaConflictError, match="'d' has values that do not fit"):
        table.write(rows.append_column("d", pa.array([Decimal("12345678.5")], pa.decimal128(9, 1))), "upsert")


def test_a_missing_column_must_be_nullable():
    optional, required = pa.field("o", STRING), pa.field("r", STRING, nullable=False)
    table = pa.schema([("id", STRING), optional, required])
    assert reconcile(table, pa.schema([("id", STRING), required])).equals(table)
    with pytest.raises(SchemaConflictError, match=r"'r' is missing.*add the column"):
        reconcile(table, pa.schema([("id", STRING), optional]))
    nested = pa.schema([("s", pa.struct([optional, required]))])
    with pytest.raises(SchemaConflictError, match=r"'s\.r' is missing"):
        reconcile(nested, pa.schema([("s", pa.struct([optional]))]))


def test_a_name_in_other_letters_is_refused():
    with pytest.raises(SchemaConflictError, match="'ID' differs from the table's column 'id' only in case"):
        reconcile(pa.schema([("id", STRING)]), pa.schema([("ID", STRING)]))


@pytest.mark.parametrize("kind", [pa.null(), pa.list_(pa.null()), pa.uint64()], ids=str)
def test_a_new_column_needs_a_type_that_a_table_holds(kind):
    table = pa.schema([("id", STRING), ("s", pa.struct([("x", STRING)]))])
    with pytest.raises(SchemaConflictError, match=r"'new(\.element)?' has"):
        reconcile(table, pa.schema([*table, ("new", kind)]))
    with pytest.raises(SchemaConflictError, match=r"'s\.new(\.element)?' has"):
        reconcile(table, pa.schema([("id", STRING), ("s", pa.struct([("x", STRING), ("new", kind)]))]))


@pytest.mark.parametrize(
    ("kind", "given", "path"),
    [
        (pa.int32(), None, "v"),
        (pa.struct([("a", pa.int32()), ("b", pa.int32())]), pa.struct([("b", pa.int32())]), "v.a"),
        (
            pa.list_(pa.field("element", pa.struct([("a", pa.int32()), ("b", pa.int32())]))),
            pa.list_(pa.field("item", pa.struct([("a", pa.int32())]))),
            "v.element.b",
        ),
        (
            pa.map_(pa.string(), pa.field("value", pa.struct([("a", pa.int32()), ("b", pa.int32())]))),
            pa.map_(pa.string(), pa.struct([("a", pa.int32())])),
            "v.value.b",
        ),
    ],
)
def test_columns_that_are_absent_are_refused_where_that_is_asked_for(kind, given, path):
    table = pa.schema([("id", pa.string()), ("v", kind)])
    rows = pa.schema([("id", pa.string()), *([("v", given)] if given is not None else [])])
    assert reconcile(table, rows) == table
    with pytest.raises(SchemaConflictError, match=f"'{path}' is missing"):
        reconcile(table, rows, fills=False)
    nulls = pa.schema([("id", pa.string()), ("v", pa.null()), ("new", pa.int32())])
    assert reconcile(table, nulls, fills=False).names == ["id", "v", "new"]
