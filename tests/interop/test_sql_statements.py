"""The statements of `sql_statements` on Hudi 1.2.0: the rows in the files are what it gives."""

from __future__ import annotations

import pytest

from tests.support.sql_cases import KINDS, cases, expected, names, played

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_hudi_gives_the_rows_of_the_files(hudi12, case, kind):
    for table in names(case, kind).values():
        hudi12.sql(f"drop table if exists {table} purge")
    for step, rows in played(case, kind, hudi12.sql, "hudi"):
        assert (rows is None) == ("hudi" in step.refused_by), step.text
        if step.rows is not None and not step.refused_by:
            assert rows == expected(step, "hudi"), step.text
