"""The subset of a matrix that `make test` runs."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.matrix import covering, diagonal, leave_out_crosses, leave_out_types, pairwise, sample

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


class Row:
    """A collected test with its parameters."""

    def __init__(self, name, **given):
        self.nodeid, self.callspec = f"{name}[{'-'.join(given.values())}]", SimpleNamespace(params=given)
        self.marks = []

    def get_closest_marker(self, name):
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, mark):
        self.marks.append(mark)


def test_each_type_keeps_one_version_with_all_other_parameters():
    axes = list(product(("COPY_ON_WRITE", "MERGE_ON_READ"), ("6", "9"), "ab"))
    for name in ("one", "two", "three", "four"):
        tests = [Row(name, kind=kind, version=version, other=other) for kind, version, other in axes]
        of_fixture = [Row(name, other=other) for _, _, other in axes]
        for test, (kind, version, _) in zip(of_fixture, axes, strict=True):
            test.callspec.params["table"] = (version, kind)
        leave_out_crosses(tests)
        leave_out_crosses(of_fixture)
        assert [bool(test.marks) for test in of_fixture] == [bool(test.marks) for test in tests]
        kept = [row for row, test in zip(axes, tests, strict=True) if not test.marks]
        assert [len({row[place] for row in kept}) for place in range(3)] == [2, 2, 2]
        assert len(kept) == 4
        assert len({(kind, version) for kind, version, _ in kept}) == 2


def test_what_does_not_have_all_four_rows_stays():
    for axes in (product(("cow", "mor"), ("9",)), [("cow", "9"), ("mor", "9"), ("mor", "6")]):
        tests = [Row("one", kind=kind, version=version) for kind, version in axes]
        leave_out_crosses(tests)
        assert not any(test.marks for test in tests)


@pytest.mark.parametrize("types", [("cow", "mor"), ("COPY_ON_WRITE", "MERGE_ON_READ")])
def test_each_statement_runs_on_one_type_and_each_type_has_statements(types):
    statements = [f"more {number}" for number in range(9)]
    tests = [Row("one", statement=text, db=kind) for text in statements for kind in types]
    tests.append(Row("other", db=types[1]))
    leave_out_types(tests, "why")
    kept = [test.callspec.params for test in tests if not test.marks]
    assert [given["statement"] for given in kept[:-1]] == statements
    assert {given["db"] for given in kept[:-1]} == set(types)
    assert kept[-1] == {"db": types[1]}
    deep = Row("two", db="cow"), Row("two", db="mor")
    deep[0].add_marker(pytest.mark.deep("why"))
    leave_out_types(deep, "why")
    assert not deep[1].marks


def test_what_asks_for_the_type_by_name_runs_on_both(request):
    def asks(db, kind):
        pass

    tests = [pytest.Function.from_parent(request.node.parent, name="asks", callobj=asks) for _ in range(2)]
    for test, kind in zip(tests, ("cow", "mor"), strict=True):
        test.callspec, test._nodeid = SimpleNamespace(params={"kind": kind}), f"asks[{kind}]"
    leave_out_types(tests, "why", asked="kind")
    assert not any(test.get_closest_marker("deep") for test in tests)
    leave_out_types(tests, "why")
    assert sum(bool(test.get_closest_marker("deep")) for test in tests) == 1
