"""Statements on Spark see one state of a table, and ask again where files of it go before their rows are computed."""

from __future__ import annotations

import pytest

from hoodie import CLEAN, COMPACTION
from hoodie.sql import connect
from hoodie.sql.spark.rows import FrameRows
from tests.support.sql_tables import rows
from tests.support.tables import SMALL_BLOOM, batch, create


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request, tmp_path):
    table = create(tmp_path / "t", **{"hoodie.table.type": request.param})
    for value in (1, 2):
        table.write(batch([(f"k{n}", "xy"[n % 2], value, value) for n in range(4)]), "upsert", SMALL_BLOOM)
    return table


def supersede(table):
    """Two commits, and a clean of all that was current before them."""
    for value in (8, 9):
        table.write(batch([(f"k{n}", "xy"[n % 2], value, value) for n in range(4)]), "upsert", SMALL_BLOOM)
        if table.properties.is_merge_on_read:
            table.schedule(COMPACTION, force=True)
            table.run(COMPACTION)
    assert table.run(CLEAN, {"hoodie.clean.commits.retained": 1}).files_deleted


@pytest.mark.parametrize(
    ("statement", "method"),
    [
        ("select id, value from t", "fetched"),
        ("insert into u select id, value from t", "write"),
        ("update u set value = (select max(value) from t)", "is_empty"),
        (
            "merge into u using t on t.id = u.id when not matched then insert (id, value) values (t.id, t.value)",
            "is_empty",
        ),
    ],
)
def test_files_that_go_before_the_rows_are_computed(table, spark, monkeypatch, statement, method):
    late, compute = iter([1]), getattr(FrameRows, method)

    def overtaken(self, *arguments, **more):
        if next(late, None):
            supersede(table)
        return compute(self, *arguments, **more)

    with connect(table.base_path.rpartition("/")[0], spark=spark) as db:
        db.sql("create table u (id string, value bigint) using hudi tblproperties (primaryKey = 'id')")
        db.sql("insert into u values ('u', 0)")
        monkeypatch.setattr(FrameRows, method, overtaken)
        result = db.sql(statement)
        assert next(late, None) is None
        found = result.rows() if statement.startswith("select") else rows(db, "select id, value from u")
    expected = {"u": 9} if statement.startswith("update") else {**{f"k{n}": 9 for n in range(4)}, "u": 0}
    if statement.startswith("select"):
        del expected["u"]
    assert dict(found) == expected
