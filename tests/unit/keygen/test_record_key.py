"""Record keys: what each generator makes of nulls, empty strings and separators inside values."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.config.properties.table import TableProperties
from hoodie.errors import RecordKeyError
from hoodie.keygen import RecordKeys, key_generator


def keys(columns, with_names=False):
    table = pa.table(columns)
    return RecordKeys(tuple(columns), with_names).of(table).to_pylist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", " ", "a,b:c", "ü😀", "__null__"], ["a", " ", "a,b:c", "ü😀", "__null__"]),
        (pa.array([-1, 0, 2**63 - 1]), ["-1", "0", "9223372036854775807"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2024, 2, 29)]), ["2024-02-29"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
    ],
)
def test_a_simple_key_is_the_text_of_the_value(values, expected):
    assert keys({"id": values}) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a", "b", "x:a,y:b"),
        (None, "b", "x:__null__,y:b"),
        ("", "b", "x:__empty__,y:b"),
        ("a", None, "x:a,y:__null__"),
        ("a,y:b", "c", "x:a,y:b,y:c"),
        ("a:1", "b=2", "x:a:1,y:b=2"),
    ],
)
def test_a_complex_key_names_its_parts(first, second, expected):
    assert keys({"x": pa.array([first], pa.string()), "y": pa.array([second], pa.string())}, True) == [expected]


def test_a_single_part_can_have_a_name_too():
    assert keys({"x": ["a", "b"]}, with_names=True) == ["x:a", "x:b"]


@pytest.mark.parametrize("values", [["a", None], ["a", ""]])
def test_a_simple_key_without_a_value_is_refused_with_the_number_of_rows(values):
    with pytest.raises(RecordKeyError, match=r"Record key id is null or empty.*1 of 2 rows"):
        keys({"id": pa.array(values)})


def test_a_complex_key_is_refused_when_every_part_is_blank():
    columns = {"x": [None, "", "a", None], "y": ["", None, None, "b"]}
    made = RecordKeys(("x", "y"), True)
    assert made.unusable(pa.table(columns)).to_pylist() == [True, True, False, False]
    with pytest.raises(RecordKeyError, match=r"x, y is null or empty.*2 of 4 rows"):
        made.of(pa.table(columns))


def test_a_missing_column_is_named():
    with pytest.raises(RecordKeyError, match=r"'y' is missing.*columns x, z"):
        RecordKeys(("x", "y"), True).of(pa.table({"x": ["a"], "z": ["b"]}))


@pytest.mark.parametrize("values", [[b"a"], [["a"]], [{"a": 1}]])
def test_a_type_without_a_stable_text_is_refused(values):
    with pytest.raises(RecordKeyError, match="cannot be part of a record key"):
        keys({"id": values})


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)).filter(any), min_size=1, max_size=5))
def test_chunks_and_slices_make_no_difference(rows):
    xs, ys = zip(*rows, strict=True)
    table = pa.table({"x": xs, "y": ys})
    parts = pa.concat_tables(table.slice(n, 1) for n in range(len(rows)))
    made = RecordKeys(("x", "y"), True)
    assert made.of(parts).to_pylist() == made.of(table).to_pylist()
    assert made.of(table).to_pylist() == [f"x:{x or '__empty__'},y:{y or '__empty__'}" for x, y in rows]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([("x,b:y", "z"), ("x", "y,b:z")], [True, True]),
        ([("x", "y,b:z"), ("q", "q"), ("x", "y,b:z")], [False] * 3),
        ([("k", None), ("k", "__null__"), ("k", "q")], [True, True, False]),
        ([("", "k"), ("__empty__", "k"), (None, "k")], [True, True, False]),
        ([("__null__", "k"), (None, "l")], [False, False]),
    ],
)
def test_different_values_with_one_key(rows, wanted):
    """Alone, in chunks, and not beside each other in two partitions."""
    table = pa.table({"a": [a for a, _ in rows], "b": pa.array([b for _, b in rows], pa.string())})
    made = RecordKeys(("a", "b"), True)
    for each in (table, pa.concat_tables(table.slice(n, 1) for n in range(len(rows)))):
        assert made.colliding(each).to_pylist() == wanted
        assert made.colliding(each, [pa.chunked_array([list(range(len(rows)))])]).to_pylist() == [False] * len(rows)
    assert made.colliding(table.slice(0, 0)).to_pylist() == []


@given(
    st.lists(st.tuples(*[st.sampled_from(["", None, "x", "x,b:x", ",b:", "__null__", "__empty__"])] * 2), max_size=5)
)
def test_each_collision_is_found(rows):
    """Also where no value looks ambiguous: then there is none."""
    rows = [row for row in rows if any(row)]
    table = pa.table(
        {"a": pa.array([a for a, _ in rows], pa.string()), "b": pa.array([b for _, b in rows], pa.string())}
    )
    made = RecordKeys(("a", "b"), True)
    named = list(zip(made.of(table).to_pylist(), rows, strict=True))
    wanted = [any(key == other and row != values for other, values in named) for key, row in named]
    assert made.colliding(table).to_pylist() == wanted
    unsure = made.mistakable(table, made.of(table)).to_pylist()
    assert all(unsure[row] for row, collides in enumerate(wanted) if collides)


def test_keys_that_other_values_could_have():
    table = pa.table({"a": ["x", "x", "x,b:y", "x,a:y"], "b": ["y", "y,b:z", "z", "__nil__"]})
    assert RecordKeys(("a", "b"), True).mistakable(table, RecordKeys(("a", "b"), True).of(table)).to_pylist() == [
        False,
        True,
        True,
        False,
    ]
    assert RecordKeys(("a",), True).mistakable(table, table["a"]).to_pylist() == [False] * 4


def test_no_rows_have_no_keys():
    assert keys({"id": pa.array([], pa.string())}) == []
    assert keys({"x": pa.array([], pa.string()), "y": pa.array([], pa.int64())}, True) == []


@pytest.mark.parametrize(
    ("record_keys", "partitions", "key", "path"),
    [
        ("id", "", "1", ""),
        ("id", "part", "1", "p"),
        ("id,n", "part", "id:1,n:2", "p"),
        ("id,n", "", "id:1,n:2", ""),
        ("id", "part,n", "id:1", "p/2"),
    ],
)
def test_a_table_chooses_its_generator(record_keys, partitions, key, path):
    properties = TableProperties(
        {"hoodie.table.recordkey.fields": record_keys, "hoodie.table.partition.fields": partitions}
    )
    table = pa.table({"id": ["1"], "n": [2], "part": ["p"]})
    made_keys, paths = key_generator(properties)
    assert (made_keys.of(table).to_pylist(), paths.of(table).to_pylist()) == ([key], [path])
