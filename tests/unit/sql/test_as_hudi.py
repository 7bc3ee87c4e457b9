"""Statements whose rows Hudi 1.2.0 gave: DuckDB gives the same. tests/interop/test_sql_statements.py asks Hudi again."""

from __future__ import annotations

import pytest

from hoodie.sql import connect
from tests.support.matrix import diagonal
from tests.support.sql_cases import KINDS, cases, expected, played


@pytest.mark.parametrize(("case", "kind"), diagonal(cases(), KINDS), ids=lambda value: getattr(value, "id", value))
def test_rows_are_those_of_hudi(tmp_path, case, kind):
    with connect(tmp_path) as db:
        for step, rows in played(case, kind, lambda text: db.sql(text).table.to_pylist(), "ours"):
            assert (rows is None) == ("ours" in step.refused_by), step.text
            if step.rows is not None and "ours" not in step.refused_by:
                assert rows == expected(step, "ours"), step.text


def test_each_difference_has_a_reason():
    for case in cases():
        same = all(step.refused_by in (frozenset(), {"hudi", "ours"}) and step.hudis is None for step in case.steps)
        assert same == (case.differs is None), case.id
