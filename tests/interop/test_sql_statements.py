"""The statements of `sql_statements` on Hudi 1.2.0: the rows in the files are what it gives. SQL_CASES=all runs all of them."""

from __future__ import annotations

import pytest

from tests.support.sql_cases import KINDS, expected, names, played, sampled

pytestmark = pytest.mark.interop


@pytest.mark.deep("Hudi alone computes it")
@pytest.mark.parametrize(("case", "kind"), sampled(KINDS, 11), ids=lambda each: getattr(each, "id", each))
def test_hudi_gives_the_rows_of_the_files(hudi12, case, kind):
    for table in names(case, kind).values():
        hudi12.sql(f"drop table if exists {table} purge")
    for step, rows in played(case, kind, hudi12.sql, "hudi"):
        assert (rows is None) == ("hudi" in step.refused_by), step.text
        if step.rows is not None and "hudi" not in step.refused_by:
            assert rows == expected(step, "hudi"), step.text
