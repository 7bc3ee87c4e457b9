"""Expressions of added columns: any that look at one row, and always give the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError, SourceError
from hudi_services.sources.databases.expressions import ColumnExpressions

ROWS = pa.table(
    {"id": pa.array([1, 2], pa.int32()), "Name": ["Ann", None], "at": pa.array([0, 1], pa.timestamp("us", "UTC"))}
)


def test_values_and_types_are_those_of_duckdb_with_any_capitals():
    expressions = ColumnExpressions(
        {
            "n": "ID * 2",
            "Greeting": "'Hi ' || coalesce(name, '?')",
            "day": "strftime(\"at\", '%Y-%m-%d %z')",
            "one": "1",
            "m": 'md5("Name")',
        }
    )
    columns = expressions.columns(ROWS.schema)
    assert columns.names == ["n", "Greeting", "day", "one", "m"]
    values = expressions.values(ROWS)
    assert values.schema == columns
    assert values.to_pylist()[1] == {"n": 4, "Greeting": "Hi ?", "day": "1970-01-01 +00", "one": 1, "m": None}
    assert expressions.values(ROWS.slice(0, 0)).schema == columns


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("now()", "now"),
        ("current_date", "current_date"),
        ("random() * id", "random"),
        ("uuid()", "uuid"),
        ("nextval('s')", "nextval"),
        ("current_localtimestamp()", "current_localtimestamp"),
        ("current_localtime()", "current_localtime"),
        ("hash(id) % 16", "hash, which may give something else in another release"),
        ("version()", "version, which"),
        ("sum(id)", "sum"),
        ("(SELECT 1)", "a subquery"),
        ("id IN (SELECT 2)", "a subquery"),
        ("row_number() OVER ()", "a window function"),
        ("unnest([1])", "unnest"),
        ("id) AS a, (id", "more than one|two columns"),
        ("id) FROM other --", "other"),
        ("id +", "syntax error"),
        ("*", "\\*"),
        ("?", "a parameter"),
    ],
)
def test_an_expression_that_is_not_of_one_row_is_refused_by_name(expression, found):
    with pytest.raises(ConfigError, match=f"(?i)the expression of the column 'n' cannot be used.*{found}"):
        ColumnExpressions({"n": expression})


def test_an_expression_that_fits_no_columns_or_fails_for_a_row_says_so():
    with pytest.raises(ConfigError, match=r"column 'n' cannot be used: nam \+ 1.*nam"):
        ColumnExpressions({"n": "nam + 1"}).columns(ROWS.schema)
    with pytest.raises(SourceError, match=r"column 'n' fails for 1 of 2 rows.*Ann.*in row 0.*TRY_CAST"):
        ColumnExpressions({"n": "CAST(name AS INT)"}).values(ROWS)
