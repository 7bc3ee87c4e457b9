"""Types as people write them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.schema import normalise
from hudi_services.entry.feed.arrow import arrow_type, type_text
from hudi_services.entry.feed.types import parse_type

UTC = pa.timestamp("us", "UTC")
WORDS = {
    "string": pa.string(),
    "TEXT": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "INTEGER": pa.int32(),
    "smallint": pa.int16(),
    "boolean": pa.bool_(),
    "double precision": pa.float64(),
    "real": pa.float32(),
    "float": pa.float32(),
    "decimal(10,2)": pa.decimal128(10, 2),
    " numeric ( 5 ) ": pa.decimal128(5, 0),
    "date": pa.date32(),
    "timestamp": UTC,
    "timestamp_ntz": pa.timestamp("us"),
    "array<string>": pa.list_(pa.field("element", pa.string())),
    "struct<a:int, b string>": pa.struct([("a", pa.int32()), ("b", pa.string())]),
    "struct<`order no`: int not null, `a``b`: date>": pa.struct(
        [pa.field("order no", pa.int32(), nullable=False), ("a`b", pa.date32())]
    ),
    "map<string, decimal(3,1)>": pa.map_(pa.string(), pa.decimal128(3, 1)),
    "array<struct<größe: array<int>>>": pa.list_(
        pa.field("element", pa.struct([("größe", pa.list_(pa.field("element", pa.int32())))]))
    ),
}


@pytest.mark.parametrize("text", WORDS)
def test_words_of_sql(text: str) -> None:
    assert arrow_type(text) == WORDS[text]


@pytest.mark.parametrize(
    "kind",
    [
        pa.bool_(),
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.binary(16),
        pa.date32(),
        pa.date64(),
        pa.decimal128(10, 2),
        pa.timestamp("us"),
        pa.timestamp("ns"),
        pa.timestamp("ms", "UTC"),
        pa.list_(pa.int64()),
        pa.large_list(pa.field("element", pa.string(), nullable=False)),
        pa.map_(pa.string(), pa.int64()),
        pa.struct([("a", pa.int64()), pa.field("b", pa.list_(pa.timestamp("us", "UTC")), nullable=False)]),
    ],
    ids=str,
)
def test_what_arrow_prints_is_read_as_the_type_of_the_table(kind: pa.DataType) -> None:
    schema = pa.schema([("x", kind)])
    assert normalise(pa.schema([("x", arrow_type(str(kind)))])) == normalise(schema)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a type is missing"),
        ("strng", "'strng' is no type of a table; use string"),
        ("varchar(10)", "use string"),
        ("uint64", r"use decimal\(20,0\)"),
        ("time", "use string"),
        ("decimal", "needs its digits"),
        ("decimal(39,2)", "1 to 38 digits"),
        ("decimal(2,3)", "no more follow the point"),
        ("decimal(0,0)", "1 to 38 digits"),
        ("decimal(10", r"'\)' is missing.*put the type in quotes"),
        ("decimal(10,2,3)", r"'\)' is missing before ','"),
        ("decimal(-1)", "'-' has no place"),
        ("string)", r"'\)' follows a type that is complete"),
        ("int int", "'int' follows a type that is complete"),
        ("array<>", "a type is missing"),
        ("array<int", "'>' is missing"),
        ("struct<>", "a struct has fields"),
        ("struct<a:int,a:int>", "'a' is there twice"),
        ("map<int,string>", "the keys of a map are strings, not int"),
        ("timestamp[m]", "no unit"),
        ("timestamp[us, tz=Europe/Berlin]", "write tz=UTC"),
        ("timestamp[us, zone=UTC]", "tz=UTC"),
        ("string; drop table x", "';' has no place"),
        ("array<" * 5000 + "int" + ">" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_type_is_told(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_type(text)


PLAIN = ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp"]
plain = st.sampled_from([*PLAIN, "timestamp_ntz", "decimal(7,3)"]).map(arrow_type)


def _fields(kinds: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    named = st.dictionaries(st.text(min_size=1, max_size=5), st.tuples(kinds, st.booleans()), min_size=1, max_size=3)
    return named.map(lambda fields: pa.struct([pa.field(name, *each) for name, each in fields.items()]))


types = st.recursive(
    plain,
    lambda kinds: st.one_of(
        _fields(kinds),
        st.tuples(kinds, st.booleans()).map(lambda each: pa.list_(pa.field("element", *each))),
        kinds.map(lambda each: pa.map_(pa.string(), each)),
    ),
    max_leaves=8,
)


@given(types)
def test_the_text_of_a_type_is_read_as_the_type(kind: pa.DataType) -> None:
    assert arrow_type(type_text(kind)).equals(kind)


@given(st.text(alphabet="abdeilmnrtsuy<>(),:1203` []=", max_size=30))
def test_any_text_is_a_type_or_a_value_error(text: str) -> None:
    try:
        found = parse_type(text)
    except ValueError:
        return
    assert parse_type(str(found)) == found
