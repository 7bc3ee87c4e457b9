"""The examples of the guide that use Spark work as they are written, one after the other as a user would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from hoodie import HoodieTable

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = "\n".join((DOCS / page).read_text() for page in ("how-to/spark.md", "reference/spark-source.md"))
BLOCKS = [block for block in re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S) if "spark" in block]


def test_the_examples(spark, tmp_path, capsys):
    options = {
        "hoodie.table.name": "trips",
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "city",
        "hoodie.table.ordering.fields": "at",
    }
    trips = HoodieTable.create(tmp_path / "trips", options)
    rows = {"id": [1, 2, 3], "city": ["berlin", "oslo", "oslo"], "at": [10, 20, 30], "fare": [12.5, 20.0, 1.0]}
    trips.write(pa.table(rows))
    names: dict[str, object] = {}
    fares = []
    assert len(BLOCKS) == 5
    for number, block in enumerate(BLOCKS):
        exec(compile(block.replace("/data/lake", str(tmp_path)), f"example {number} of Spark", "exec"), names)
        fares.append({row["city"]: row["sum(fare)"] for row in names["fares"].collect()})
    assert fares == [{"berlin": 12.5, "oslo": 21.0}] * 5
    assert [row["id"] for row in names["berlin"].collect()] == [1]
    assert "scanned by Spark from" in capsys.readouterr().out
    assert names["trips"].count() == names["changes"].count() == 3
    assert names["spark"] is spark
    assert trips.read(filter="id = 9")["fare"].to_pylist() == [7.5]
