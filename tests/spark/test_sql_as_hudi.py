"""The cases whose rows Hudi 1.2.0 gave (tests/interop/sql_statements), on Spark: merge-on-read tables. SQL_CASES=all runs all."""

from __future__ import annotations

import pytest

from hoodie.sql import connect
from tests.support.sql_cases import expected, played, sampled


@pytest.mark.parametrize(("case", "kind"), sampled(["mor"], 48), ids=lambda each: getattr(each, "id", each))
def test_rows_are_those_of_hudi(tmp_path, spark, case, kind):
    with connect(tmp_path, spark=spark) as db:
        for step, rows in played(case, kind, lambda text: db.sql(text).table.to_pylist(), "ours"):
            assert (rows is None) == ("ours" in step.refused_by), step.text
            if step.rows is not None and "ours" not in step.refused_by:
                assert rows == expected(step, "ours"), step.text
