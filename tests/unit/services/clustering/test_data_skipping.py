"""The bytes that a filter will read according to --explain, compared with tables that were clustered."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from hoodie import CLUSTERING, HoodieTable
from hoodie.engine import LocalEngine
from hoodie.services.clustering.data_skipping import Chunk, expected_skipping, skipping
from hoodie.services.clustering.order import SortOrder
from hudi_services.services.clustering.task import ClusterTask

ROWS = 400_000
SORT = "hoodie.clustering.plan.strategy.sort.columns"


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """Two partitions of two files each; `x`, `y` and `name` at random, `time` as rows came."""
    path = tmp_path_factory.mktemp("skipping") / "t"
    made = {"hoodie.table.name": "t", "hoodie.table.recordkey.fields": "id", "hoodie.table.partition.fields": "part"}
    dice = np.random.default_rng(3)
    x, y = dice.integers(0, 1_000_000, ROWS), dice.integers(-500, 500_000, ROWS)
    rows = pa.table(
        {
            "id": pa.array(np.arange(ROWS).astype(str)),
            "part": pa.array(np.where(np.arange(ROWS) % 2 == 0, "p", "q")),
            "x": x,
            "y": y,
            "name": pa.array(np.char.add("n", dice.integers(100_000, 900_000, ROWS).astype(str))),
            "time": np.arange(ROWS),
        }
    )
    for share in (0, 1):
        half = rows.slice(share * ROWS // 2, ROWS // 2)
        HoodieTable.create(path, made, rows.schema) if not share else None
        HoodieTable.open(path).write(half, "bulk_insert", {"hoodie.parquet.small.file.limit": 0})
    return path


@pytest.fixture
def table(origin, tmp_path):
    shutil.copytree(origin, tmp_path / "t")
    return HoodieTable.open(tmp_path / "t")


def explained(table, columns, **more):
    chosen = {SORT: columns} if columns else {}
    return ClusterTask(table.base_path, {**chosen, **more}, "schedule-and-execute", None, None, True).explain(
        LocalEngine(1)
    )


def shares(decision):
    return {each["column"]: (each["read_before"], each["read_after"]) for each in decision.facts["skipping"]}


@pytest.mark.parametrize(
    ("columns", "more", "near"),
    [
        ("x", {}, 0.05),
        ("name", {}, 0.05),
        (
            "x,y",
            {"hoodie.layout.optimize.strategy": "z-order", "hoodie.layout.optimize.curve.build.method": "sample"},
            0.2,
        ),
    ],
)
def test_what_is_expected_comes(table, columns, more, near):
    expected = shares(explained(table, columns, **more))
    table.schedule(CLUSTERING, {SORT: columns, **more}, force=True)
    table.run(CLUSTERING, {SORT: columns, **more})
    then = shares(explained(table, columns, **more))
    for column in columns.split(","):
        before, after = expected[column]
        assert before == pytest.approx(1.0, abs=0.04)
        assert after < 0.6
        assert then[column][0] == pytest.approx(after, abs=near), (
            "read by the statistics of the files that were written"
        )


def test_what_filters_leave_out_now_and_will_not_is_told(table):
    told = explained(table, "x")
    before, after = shares(told)["time"]
    assert before < 0.6
    assert after == pytest.approx(1.0)
    assert f"a filter for one value of time reads {before:.0%} of these bytes now, about 100% then" in told.as_text(
        "cluster"
    )
    assert "y" not in shares(told)


def test_without_an_order_nothing_is_told(table):
    assert "one value" not in (text := explained(table, None).as_text("cluster"))
    assert "would" in text


def chunk(group, low, high, rows=100_000, size=100):
    return Chunk(group, rows, size, {} if low is None else {"c": (low, high)})


@pytest.mark.parametrize(
    ("chunks", "before", "after"),
    [
        ([chunk(0, 0, 10), chunk(0, 0, 10)], 1.0, 1 / 13),
        ([chunk(0, 0, 9), chunk(0, 10, 19)], 0.5, 1 / 13),
        ([chunk(0, 0, 9), chunk(1, 10, 19)], 0.5, 0.5 / 7),
        ([chunk(0, 0, 9), chunk(0, None, None)], 1.0, 0.5 / 7 + 0.5),
        ([chunk(0, "a", "b"), chunk(0, "c", "d")], 0.5, 1 / 13),
        ([chunk(0, "same 1", "same 2"), chunk(0, "same 3", "same 4")], 0.5, 1 / 13),
        ([chunk(0, date(2026, 1, 1), date(2026, 1, 2)), chunk(0, date(2026, 2, 1), date(2026, 2, 2))], 0.5, 1 / 13),
        ([chunk(0, Decimal("1.5"), Decimal(2)), chunk(0, Decimal(3), Decimal(4))], 0.5, 1 / 13),
        ([chunk(0, 0, 9), chunk(0, "a", "b")], 1.0, 1.0),
        ([chunk(0, None, None)], 1.0, 1.0),
    ],
)
def test_shares(chunks, before, after):
    found = skipping(chunks, "c", SortOrder(("c",)))
    assert (found.before, found.after) == (pytest.approx(before), pytest.approx(after))


def test_no_footer_is_read_without_an_order():
    assert expected_skipping(None, None, SortOrder(), pa.schema([]), None) == []
