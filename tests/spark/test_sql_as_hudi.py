"""The cases whose rows Hudi 1.2.0 gave (tests/interop/sql_statements), on Spark: merge-on-read tables; DuckDB has both kinds."""

from __future__ import annotations

import pytest

from hoodie.sql import connect
from tests.support.sql_cases import cases, expected, played


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_rows_are_those_of_hudi(tmp_path, spark, case):
    with connect(tmp_path, spark=spark) as db:
        for step, rows in played(case, "mor", lambda text: db.sql(text).table.to_pylist(), "ours"):
            assert (rows is None) == ("ours" in step.refused_by), step.text
            if step.rows is not None and not step.refused_by:
                assert rows == expected(step, "ours"), step.text
