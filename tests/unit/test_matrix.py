"""The subset of a matrix that `make test` runs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.matrix import covering, diagonal, pairwise, sample

rows = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=20)


@given(rows)
def test_each_pair_of_values_meets_in_a_row_that_runs(drawn):
    run = [parameters.values for parameters in covering(drawn) if not parameters.marks]
    assert {pair for row in run for pair in _pairs(row)} == {pair for row in drawn for pair in _pairs(row)}


def test_rows_that_add_no_pair_are_deep():
    parameters = pairwise("ab", "cd", "ef")
    assert [values for values, marks, _ in parameters if not marks] == [
        ("a", "c", "e"),
        ("a", "d", "f"),
        ("b", "c", "f"),
        ("b", "d", "e"),
    ]
    assert len(parameters) == 8


def test_all_rows_of_one_axis_run():
    assert not any(parameters.marks for parameters in pairwise("abc"))


def _pairs(row):
    return combinations(enumerate(row), 2)


def test_each_value_of_each_axis_is_in_a_row_that_is_not_deep():
    rows = diagonal([("hudi12", "9"), ("hudi12", "8"), ("hudi15", "6")], ["cow", "mor"])
    assert len(rows) == 6
    live = [row.values for row in rows if not row.marks]
    assert live == [("hudi12", "9", "cow"), ("hudi12", "8", "mor"), ("hudi15", "6", "cow")]


def test_rows_that_are_not_kept_are_deep():
    assert [(row.values, bool(row.marks)) for row in sample(["9", "8", "6"], 0, 2)] == [
        (("9",), False),
        (("8",), True),
        (("6",), False),
    ]
