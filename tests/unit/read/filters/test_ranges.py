"""BETWEEN has AND between its bounds, in statements and in conditions as text."""

from __future__ import annotations

import pytest
from sqlglot.errors import SqlglotError

from hoodie.errors import SqlError
from hoodie.read.filters.text import parse_condition
from hoodie.sql.parse import parsed


@pytest.mark.parametrize("condition", ["x between 1 5", "x not between 1 5 and y = 2", "x between (1 and 2) 5"])
def test_bounds_without_and_are_refused(condition):
    with pytest.raises(SqlglotError):
        parse_condition(condition)
    with pytest.raises(SqlError, match="needs AND"):
        parsed(f"delete from t where {condition}")


@pytest.mark.parametrize(
    "condition",
    ["x BETWEEN 1 AND 5 AND TRUE", "x BETWEEN CASE WHEN b AND c THEN 1 END AND 5 OR d", "x BETWEEN (a AND b) AND c"],
)
def test_bounds_with_and_are_read(condition):
    assert parse_condition(condition).sql() == condition
    assert parsed(f"DELETE FROM t WHERE {condition}").sql() == f"DELETE FROM t WHERE {condition}"
