"""Row groups are left out only where no row of theirs can pass."""

from __future__ import annotations

from math import inf, nan

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.formats.row_groups import matching_row_groups
from tests.support.clock import FakeClock
from tests.support.examples import examples
from tests.support.tables import SMALL_BLOOM

a, b, inner = pc.field("a"), pc.field("b"), pc.field("s", "x")


def groups(rows, condition, per_group, names):
    """The row groups that the filter, which mentions the named columns, leaves in."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, row_group_size=per_group, store_schema=False)
    source = pa.BufferReader(sink.getvalue())
    asked = pa.schema([rows.schema.field(name) for name in names])
    found = matching_row_groups(source, rows.schema, condition, asked)
    return list(range(-(-rows.num_rows // per_group))) if found is None else found


@pytest.mark.parametrize(
    "condition",
    [
        ~(a < 5),
        ~(a <= inf),
        a.is_null(nan_is_null=True),
        pc.is_nan(a),
        a.isin([nan]),
        ~(a < 5) & ~(b < 5),
        ~(inner < 5),
    ],
)
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_statistics_do_not_tell_of_nan(condition, kind):
    numbers = pa.array([1.0, nan, 2.0], kind)
    rows = pa.table({"a": numbers, "b": numbers, "s": pa.StructArray.from_arrays([numbers], ["x"])})
    condition_names = ["s"] if condition.equals(~(inner < 5)) else ["a", "b"]
    assert rows.filter(condition).num_rows == 1
    assert groups(rows, condition, 3, condition_names) == [0]


def test_numbers_still_leave_row_groups_out():
    rows = pa.table({"a": [1.0, nan, 2.0, 3.0, 4.0, 5.0], "b": [1, 2, 3, 4, 5, 6]})
    assert groups(rows, a > 2, 2, ["a"]) == [1, 2]
    assert groups(rows, (a > 2) & (b < 5), 2, ["a", "b"]) == [1]
    assert groups(rows, ~(a > 2) & (b > 4), 2, ["a", "b"]) == [2]  # it could have a NaN


def test_a_filter_that_cannot_be_computed_of_nan():
    rows = pa.table({"a": [1.0, 2.0]})
    condition = a.cast(pa.int32()) == 2
    assert rows.filter(condition).num_rows == 1
    assert groups(rows, condition, 1, ["a"]) == [0, 1]


NUMBERS = st.none() | st.sampled_from([nan, 0.0, -0.0, 1.0, 2.5, -3.0, inf, -inf])


def conditions():
    value = st.sampled_from([nan, 0.0, -0.0, 1.0, 2.5, inf])
    leaf = st.tuples(st.sampled_from([a, b, inner]), value, value).flatmap(
        lambda drawn: st.sampled_from(
            [
                drawn[0] < drawn[1],
                drawn[0] >= drawn[1],
                drawn[0] == drawn[1],
                drawn[0].isin([drawn[1], drawn[2]]),
                drawn[0].is_null(nan_is_null=True),
                drawn[0].cast(pa.string()) == str(drawn[1]),
                pc.coalesce(drawn[0], drawn[1]) > drawn[2],
                pc.if_else(drawn[0] > drawn[1], drawn[0] < drawn[2], drawn[0] != drawn[2]),
            ]
        )
    )
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            st.tuples(part, part).map(lambda two: two[0] & two[1]),
            st.tuples(part, part).map(lambda two: two[0] | two[1]),
            part.map(lambda one: ~one),
        ),
        max_leaves=4,
    )


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=6), st.integers(1, 3), conditions())
def test_no_row_is_lost(values, per_group, condition):
    first, second, third = (pa.array(each, pa.float64()) for each in zip(*values, strict=True))
    rows = pa.table({"a": first, "b": second, "s": pa.StructArray.from_arrays([third], ["x"])})
    for names in (["a", "b", "s"], ["a", "b"]):
        if names == ["a", "b"] and "x" in str(condition):
            continue
        kept = [rows.slice(number * per_group, per_group) for number in groups(rows, condition, per_group, names)]
        found = pa.concat_tables([rows.schema.empty_table(), *kept]).filter(condition)
        assert found.num_rows == rows.filter(condition).num_rows


def test_our_files_say_nothing_of_the_range_of_floating_point_numbers(tmp_path):
    """Other readers take NaN for the greatest number and the statistics for true: Spark did not find the row of NaN."""
    inside = [{"x": 1.0, "y": 1}, {"x": nan, "y": 2}]
    rows = pa.table({"id": ["1", "2"], "a": [1.0, nan], "n": [1, 2], "s": inside, "l": [[1.0], [nan]]})
    options = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id"}
    table = HoodieTable.create(str(tmp_path / "t"), options, clock=FakeClock(), engine=LocalEngine(1))
    table.write(rows, "bulk_insert", SMALL_BLOOM)
    (base,) = (each.base_file for each in table.file_slices())
    columns = pq.read_metadata(tmp_path / "t" / base.path).row_group(0).to_dict()["columns"]
    silent = {each["path_in_schema"] for each in columns if each["statistics"] is None}
    assert silent == {
        "a",
        "s.x",
        next(each["path_in_schema"] for each in columns if each["path_in_schema"][:2] == "l."),
    }
    assert table.read(filter=~(a < 5))["id"].to_pylist() == ["2"]
