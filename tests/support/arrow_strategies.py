"""Random schemas of the types that a Hudi table holds, and rows for them."""

from __future__ import annotations

from datetime import UTC

import pyarrow as pa
from hypothesis import strategies as st

_SCALARS = st.sampled_from(
    [
        pa.bool_(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.binary(),
        pa.date32(),
        pa.timestamp("us", "UTC"),
        pa.timestamp("us"),
        pa.decimal128(5, 2),
        pa.decimal128(38, 10),
    ]
)
_BOTH = st.booleans()
_NAMES = st.sampled_from(["a", "b", "c", "X1", "_y", "fixed"])


def _fields(
    types: st.SearchStrategy[pa.DataType], nullable: st.SearchStrategy[bool]
) -> st.SearchStrategy[list[pa.Field]]:
    field = st.tuples(_NAMES, types, nullable).map(lambda parts: pa.field(parts[0], parts[1], nullable=parts[2]))
    return st.lists(field, min_size=1, max_size=4, unique_by=lambda field: field.name)


def types(nullable: st.SearchStrategy[bool] = _BOTH) -> st.SearchStrategy[pa.DataType]:
    def nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
        parts = st.tuples(inner, nullable)
        return st.one_of(
            parts.map(lambda part: pa.list_(pa.field("element", part[0], nullable=part[1]))),
            parts.map(lambda part: pa.map_(pa.string(), pa.field("value", part[0], nullable=part[1]))),
            _fields(inner, nullable).map(pa.struct),
        )

    return st.recursive(_SCALARS, nested, max_leaves=5)


def schemas(nullable: st.SearchStrategy[bool] = _BOTH) -> st.SearchStrategy[pa.Schema]:
    return _fields(types(nullable), nullable).map(pa.schema)


def values(field: pa.Field) -> st.SearchStrategy:
    """Python values of a column."""
    strategy = _of_type(field.type)
    return st.none() | strategy if field.nullable else strategy


def _of_type(kind: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: values(field) for field in kind.fields})
    if pa.types.is_map(kind):
        entries = st.dictionaries(st.text(max_size=3), values(kind.item_field), max_size=3)
        return entries.map(lambda found: list(found.items()))
    if pa.types.is_list(kind):
        return st.lists(values(kind.value_field), max_size=3)
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_decimal(kind):
        digits = kind.precision - kind.scale
        limit = 10**digits - 1
        return st.decimals(-limit, limit, places=kind.scale, allow_nan=False)
    if pa.types.is_floating(kind):
        return st.integers(-1000, 1000).map(lambda number: number / 8)
    if pa.types.is_string(kind):
        return st.text(max_size=5)
    if pa.types.is_binary(kind):
        return st.binary(max_size=5)
    if pa.types.is_integer(kind):
        return st.integers(-(2**31), 2**31 - 1)
    if pa.types.is_date(kind):
        return st.dates()
    return st.datetimes(timezones=st.just(UTC)) if kind.tz else st.datetimes()


@st.composite
def tables(draw, nullable: st.SearchStrategy[bool] = _BOTH) -> pa.Table:
    """Rows of a random schema, as slices, so that offsets are not zero."""
    schema = draw(schemas(nullable))
    count = draw(st.integers(0, 6))
    columns = []
    for field in schema:
        cells = draw(st.lists(values(field), min_size=count + 2, max_size=count + 2))
        columns.append(pa.array(cells, field.type).slice(1, count))
    return pa.table(columns, schema=schema)
