"""Rows brought to a schema: the values stay, or an error names the column."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie.errors import SchemaConflictError
from hoodie.schema import conform, normalise, reconcile
from tests.support.arrow_strategies import tables

STRING = pa.string()


def column(values, kind):
    """`values` (an Arrow array) as a column of type `kind`, through `conform`."""
    target = pa.schema([("c", kind)])
    result = conform(pa.table({"c": values}), target)
    result.validate(full=True)
    assert result.schema.equals(target)
    return result["c"].to_pylist()


@given(tables())
def test_rows_of_the_schema_stay(table):
    result = conform(table, table.schema)
    assert result.equals(table)


def _disguised(kind):
    """A type that holds the same values, but that no table has."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_disguised(field.type)) for field in reversed(kind.fields)])
    if pa.types.is_map(kind):
        return pa.map_(pa.large_string(), kind.item_field.with_type(_disguised(kind.item_type)))
    if pa.types.is_list(kind):
        return pa.large_list(kind.value_field.with_type(_disguised(kind.value_type)))
    return {STRING: pa.large_string(), pa.binary(): pa.large_binary()}.get(kind, kind)


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


@settings(deadline=None)
@given(tables(), st.integers(0, 5))
def test_other_forms_of_nested_types_become_the_tables(table, cut):
    fields = [field.with_type(_disguised(field.type)) for field in reversed(table.schema)]
    arrays = [pa.array([None, *table[field.name].to_pylist()], field.type).slice(1) for field in fields]
    disguised = pa.table(arrays, schema=pa.schema(fields))
    pieces = pa.concat_tables([disguised.slice(0, cut), disguised.slice(cut)])
    result = conform(pieces, table.schema)
    result.validate(full=True)
    assert result.schema.equals(table.schema)
    assert _plain(result.to_pylist()) == _plain(table.to_pylist())


@settings(deadline=None)
@given(tables(nullable=st.just(True)), tables(nullable=st.just(True)))
def test_rows_fit_the_schema_that_they_were_reconciled_with(table, incoming):
    try:
        target = reconcile(table.schema, incoming.schema)
    except SchemaConflictError:
        return
    for rows in (table, incoming):
        result = conform(rows, target)
        result.validate(full=True)
        assert result.schema.equals(target)
        for name in target.names:
            if name not in rows.schema.names:
                assert result[name].null_count == rows.num_rows


def test_columns_that_the_target_lacks_are_dropped_and_missing_ones_null():
    target = pa.schema([("b", pa.int64()), ("n", pa.struct([("x", STRING)])), ("a", STRING)])
    rows = conform(pa.table({"a": ["1", "2"], "z": [0, 0], "b": pa.array([1, None], pa.int8())}), target)
    assert rows.to_pylist() == [{"b": 1, "n": None, "a": "1"}, {"b": None, "n": None, "a": "2"}]


def test_new_parts_of_a_struct_are_null_where_it_is_not():
    given = pa.array([{"x": 1}, None], pa.struct([("x", pa.int8())]))
    assert column(given, pa.struct([("y", pa.list_(STRING)), ("x", pa.int64())])) == [{"y": None, "x": 1}, None]


@pytest.mark.parametrize(
    ("given", "kind", "held"),
    [
        (pa.array(["a", None]).dictionary_encode(), STRING, ["a", None]),
        (pa.array(["a", None], pa.string_view()), STRING, ["a", None]),
        (pa.array([b"a"], pa.binary(1)), pa.binary(), [b"a"]),
        (pa.array([b"a"]), pa.binary(1), [b"a"]),
        (pa.array([1.5], pa.float32()), pa.float64(), [1.5]),
        (pa.array([Decimal("1.25")], pa.decimal64(5, 2)), pa.decimal128(9, 2), [Decimal("1.25")]),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), pa.list_(pa.int64()), [[1, 2], None]),
        (pa.array([dt.date(2020, 1, 2)], pa.date64()), pa.date32(), [dt.date(2020, 1, 2)]),
        (pa.array([[None], None], pa.large_list(pa.null())), pa.list_(STRING), [[None], None]),
        (pa.array([[None], None], pa.list_(pa.null(), 1)), pa.list_(STRING), [[None], None]),
        (pa.nulls(2), pa.map_(STRING, pa.int64()), [None, None]),
        (pa.array([[], None, [None]]), pa.list_(pa.struct([("x", STRING)])), [[], None, [None]]),
    ],
    ids=str,
)
def test_types_of_rows_become_the_tables(given, kind, held):
    assert column(given, kind) == held
    assert column(pa.ListArray.from_arrays([0, len(given)], given), pa.list_(kind)) == [held]


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", None])
def test_timestamps_of_any_unit_and_zone(unit, factor, zone):
    moment = dt.datetime(2024, 2, 29, 12, 30, 1, tzinfo=dt.UTC if zone else None)
    seconds = int(moment.replace(tzinfo=dt.UTC).timestamp())
    given = pa.array([seconds * factor, None], pa.timestamp(unit, zone))
    assert column(given, normalise(pa.schema([("c", given.type)])).field("c").type) == [moment, None]


@pytest.mark.parametrize(("given", "kind"), [(2**24 + 1, pa.float32()), (2**53 + 1, pa.float64())])
def test_integers_of_a_column_that_became_a_float_stay_readable(given, kind):
    assert column(pa.array([given]), kind) == [float(given - 1)]


@pytest.mark.parametrize(("given", "kind"), [(2**24 + 1, pa.float32()), (-(2**53) - 1, pa.float64())])
@pytest.mark.parametrize("below", [False, True])
def test_integers_of_new_rows_that_a_float_would_change_are_refused(given, kind, below):
    values = pa.array([[{"x": given}]] if below else [given])
    target = pa.schema([("c", pa.list_(pa.struct([("x", kind)])) if below else kind)])
    with pytest.raises(SchemaConflictError, match=r"'c.*do not fit the table.*not in range"):
        conform(pa.table({"c": values}), target, rounds=False)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pa.array([1], pa.timestamp("ns")), pa.timestamp("us")),
        (pa.array([2**62], pa.timestamp("s", "UTC")), pa.timestamp("us", "UTC")),
        (pa.array([2**31]), pa.int32()),
        (pa.array([1.5]), pa.int64()),
        (pa.array([Decimal("123.45")]), pa.decimal128(4, 2)),
        (pa.array([Decimal("12345678901234567890123456789012345678")]), pa.decimal128(38, 10)),  # Arrow: 4650928448…
        (pa.array([b"abc"]), pa.binary(2)),
        (pa.array(["x"]), pa.int32()),
        (pa.array([[1]]), pa.int32()),
        (pa.array([{"x": 1}]), pa.list_(pa.int64())),
    ],
    ids=str,
)
def test_values_that_do_not_fit_are_refused(given, kind):
    with pytest.raises(SchemaConflictError, match=r"Column 'c' has values that do not fit.*To do:"):
        column(given, kind)
    nested = pa.StructArray.from_arrays([given], names=["x"])
    with pytest.raises(SchemaConflictError, match=r"Column 'c\.x' has values"):
        column(nested, pa.struct([("x", kind)]))


REQUIRED = pa.field("x", pa.int32(), nullable=False)


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ([{"x": 1}, {"x": None}, None], pa.struct([REQUIRED]), r"'c.x' may not be null\. Found: 1 nulls in 2 rows"),
        ([[1, None], None, [None]], pa.list_(REQUIRED), r"'c.element' may not be null\. Found: 2 nulls in 3 rows"),
        (
            [[("a", 1)], [("b", None)]],
            pa.map_(STRING, REQUIRED),
            r"'c.value' may not be null\. Found: 1 nulls in 2 rows",
        ),
        ([[{"x": None}]], pa.list_(pa.struct([REQUIRED])), "'c.element.x' may not be null"),
    ],
    ids=["struct", "list", "map", "list of struct"],
)
def test_nulls_in_required_parts_are_refused(values, kind, message):
    def optional(kind):
        if pa.types.is_struct(kind):
            return pa.struct([("x", pa.int32())])
        if pa.types.is_map(kind):
            return pa.map_(STRING, pa.int32())
        return pa.list_(optional(kind.value_type) if pa.types.is_nested(kind.value_type) else pa.int32())

    free = pa.array([None, *values], optional(kind))
    with pytest.raises(SchemaConflictError, match=message):
        column(free.slice(1), kind)
    pieces = pa.chunked_array([free.slice(0, 2), free.slice(2)])
    with pytest.raises(SchemaConflictError, match=message):
        column(pieces, kind)
    assert column(free.slice(0, 1), kind) == [None]


def test_nulls_in_required_columns_are_refused_also_when_the_schema_is_the_targets():
    target = pa.schema([pa.field("c", pa.int32(), nullable=False)])
    pieces = pa.chunked_array([pa.array([1, None], pa.int32()), pa.array([None], pa.int32())])
    for rows in (pa.table({"c": pieces}), pa.table([pieces], schema=target)):
        with pytest.raises(SchemaConflictError, match=r"'c' may not be null\. Found: 2 nulls in 3 rows"):
            conform(rows, target)
    with pytest.raises(SchemaConflictError, match=r"'c' may not be null\. Found: 3 nulls in 3 rows"):
        conform(pa.table({"z": [1, 2, 3]}), target)
