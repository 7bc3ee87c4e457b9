"""The Python examples of the README and of some pages work as they are written. tests/spark runs those of Spark."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from hoodie import CLEAN, HoodieTable

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/get-started/from-delta-and-iceberg.md",
    "docs/how-to/cloud-catalogs.md",
    "docs/how-to/python.md",
    "docs/how-to/undo-a-load.md",
)
BLOCKS = [
    (page, number, block)
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S))
    if "spark" not in block
]


@pytest.fixture
def lake(tmp_path):
    """The folder that the examples' paths lead to, with their table."""
    options = {
        "hoodie.table.name": "orders",
        "hoodie.table.recordkey.fields": "order_id",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    }
    orders = HoodieTable.create(tmp_path / "orders", options)
    for total in (50, 150, 250):
        orders.write(_orders(total))
    return tmp_path


def _orders(total):
    return pd.DataFrame({"order_id": [1, 2], "total": [total, total + 1]})


def test_there_are_examples():
    assert {page for page, _, _ in BLOCKS} == set(PAGES)
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize(("page", "number", "block"), BLOCKS, ids=[f"{page}-{number}" for page, number, _ in BLOCKS])
def test_an_example_works(lake, capsys, page, number, block):
    now = datetime.now(UTC).isoformat()  # the example's moment is before the first commit
    code = block.replace("/data/lake", str(lake)).replace("2026-11-01T00:00:00", now)
    names = {"frame": _orders(300)}
    exec(compile(code, f"{page}, example {number}", "exec"), names)
    assert isinstance(names["table"], HoodieTable)
    if "frame" in block:
        assert set(names["table"].read(filter="total > 100")["total"].to_pylist()) == {300, 301}
    if "berlin" in block:
        assert names["table"].read(filter="city in ('berlin') and fare > 10")["id"].to_pylist() == [1]
    if "as_text" in block:
        assert "nothing was changed" in capsys.readouterr().out
        assert names["decision"].reason
        assert CLEAN.name == "clean"


def test_the_manifest_for_bigquery_names_the_rows_of_the_table(tmp_path):
    """Another engine of Parquet reads the files of the manifest, and no older version of a row."""
    table = HoodieTable.create(
        tmp_path / "orders", {"hoodie.table.name": "o", "hoodie.table.recordkey.fields": "order_id"}
    )
    for total in (50, 150):
        table.write(_orders(total))
    table.write(_orders(0).head(1), "delete")
    (block,) = (block for page, _, block in BLOCKS if page.endswith("cloud-catalogs.md"))
    for _ in range(2):
        exec(compile(block.replace("/data/lake", str(tmp_path)), "the page", "exec"), {})
    files = (tmp_path / "orders" / "bigquery-manifest.csv").read_text().split()
    rows = duckdb.connect().execute("SELECT order_id, total FROM read_parquet(?)", [files]).fetchall()
    assert rows == [(2, 151)]
