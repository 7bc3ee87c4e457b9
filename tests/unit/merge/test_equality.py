"""Values of two columns, compared row by row."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoodie.merge.equality import same_rows, same_values

NAN = float("nan")
FLOATS = st.none() | st.sampled_from([NAN, 0.0, -0.0, 1.5])
TEXTS = st.none() | st.sampled_from(["", "a", "ä"])
STRUCTS = st.none() | st.fixed_dictionaries({"x": FLOATS, "y": TEXTS})
MAPS = st.none() | st.lists(st.tuples(st.just("k"), st.lists(TEXTS, max_size=1)), max_size=1)
KINDS = [
    (pa.float64(), FLOATS),
    (pa.string(), TEXTS),
    (pa.struct([("x", pa.float64()), ("y", pa.string())]), STRUCTS),
    (pa.list_(pa.float64()), st.none() | st.lists(FLOATS, max_size=2)),
    (pa.list_(pa.struct([("x", pa.float64()), ("y", pa.string())])), st.none() | st.lists(STRUCTS, max_size=2)),
    (
        pa.map_(pa.string(), pa.list_(pa.string())),
        MAPS,
    ),
    (pa.list_(pa.float64(), 2), st.none() | st.lists(FLOATS, min_size=2, max_size=2)),
    (pa.null(), st.none()),
]


def plain(value):
    """Numbers as text, so that NaN is equal to itself."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value)  # -0.0 is not 0.0
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize(("kind", "values"), KINDS, ids=lambda each: str(each) if isinstance(each, pa.DataType) else "")
@given(data=st.data())
def test_as_python_compares_them(kind, values, data):
    pairs = data.draw(st.lists(st.tuples(values, values), max_size=6))
    ones, others = (pa.array([pair[side] for pair in pairs], kind) for side in (0, 1))
    expected = [plain(one) == plain(other) for one, other in pairs]
    assert same_values(ones, others).tolist() == expected
    # Slices of longer arrays have offsets.
    longer = [pa.concat_arrays([each, each]).slice(len(pairs)) for each in (ones, others)]
    assert same_values(*longer).tolist() == expected


def test_a_row_is_the_same_if_all_its_values_are():
    rows = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    others = pa.table({"a": [1, 2, 4], "b": ["x", "y", "z"]})
    assert same_rows(rows, others).tolist() == [True, False, False]
    assert same_rows(rows.select([]), others.select([])).dtype == np.bool_
